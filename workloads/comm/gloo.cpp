// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "common/error.hpp"
#include "common/wire_bytes.hpp"
#include "workloads/comm/collective.hpp"

namespace tersor::workloads {
namespace {

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return at::kFloat;
    case DType::kFloat16: return at::kHalf;
    case DType::kBFloat16: return at::kBFloat16;
  }
  return at::kByte;
}

at::Tensor borrow(const void* data, std::size_t count, at::ScalarType type = at::kByte) {
  return at::from_blob(const_cast<void*>(data), {static_cast<std::int64_t>(count)},
                       at::TensorOptions().dtype(type));
}

std::shared_ptr<gloo::transport::Device> make_device(const std::string& address) {
  using Gloo = c10d::ProcessGroupGloo;
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME"); interface && *interface)
    return Gloo::createDeviceForInterface(interface);
  if (address == "localhost" || address.starts_with("127."))
    return Gloo::createDeviceForHostname("127.0.0.1");
  return Gloo::createDefaultDevice();
}

class GlooCollective : public Collective {
 public:
  GlooCollective(const Rendezvous& at, SumOrder order)
      : Collective(order), at_(at), rank_(at.rank), ranks_(at.ranks) {
    c10d::TCPStoreOptions store_options;
    store_options.port = static_cast<std::uint16_t>(at.port);
    // torchrun's agent already serves a store under this address.
    const char* agent = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
    store_options.isServer = at.rank == 0 && !(agent && std::strcmp(agent, "True") == 0);
    store_options.waitWorkers = false;
    store_options.timeout = at.timeout;
    meet([&] { store_ = c10::make_intrusive<c10d::TCPStore>(at.address, store_options); });
    join("tersor");
  }

  /// Some ranks of a larger group; `at.rank` counts among them.
  GlooCollective(const Rendezvous& at, SumOrder order, c10::intrusive_ptr<c10d::Store> store,
                 const std::string& prefix)
      : Collective(order), at_(at), rank_(at.rank), ranks_(at.ranks), store_(std::move(store)) {
    join(prefix);
  }

  std::unique_ptr<Collective> subgroup(std::span<const int> ranks) const override {
    const auto own = std::find(ranks.begin(), ranks.end(), rank_);
    if (own == ranks.end()) return nullptr;
    Rendezvous at = at_;
    at.rank = static_cast<int>(own - ranks.begin());
    at.ranks = static_cast<int>(ranks.size());
    std::string prefix = "tersor";
    for (const int rank : ranks) prefix.append("-").append(std::to_string(rank));
    return std::make_unique<GlooCollective>(at, sum_order(), store_, prefix);
  }

  std::string backend() const override { return "gloo"; }
  int ranks() const override { return ranks_; }
  int first_rank() const override { return rank_; }
  int local_ranks() const override { return 1; }

  std::unique_ptr<Work> start_all_reduce(std::span<const Buffer> buffers, std::size_t count,
                                         DType dtype) override {
    if (sum_order() == SumOrder::kRanks) return Collective::start_all_reduce(buffers, count, dtype);
    const std::size_t bytes = count * item_bytes(dtype);
    count_input(bytes);
    std::vector<at::Tensor> tensors{borrow(buffers[0].data(), count, scalar_type(dtype))};
    return std::make_unique<Started>(
        group_->allreduce(tensors),
        Volume{CollectiveKind::kAllReduce, bytes, all_reduce_wire_bytes(bytes, ranks_)});
  }

 protected:
  void do_all_reduce(std::span<const Buffer> buffers, std::size_t count, DType dtype) override {
    std::vector<at::Tensor> tensors{borrow(buffers[0].data(), count, scalar_type(dtype))};
    finish("all-reduce", [&] { return group_->allreduce(tensors); });
  }

  void do_all_gather(std::span<const Bytes> payloads, std::span<const std::size_t> sizes,
                     Buffer out) override {
    const std::size_t largest = *std::max_element(sizes.begin(), sizes.end());
    const bool are_equal = *std::min_element(sizes.begin(), sizes.end()) == largest;
    if (largest == 0) return;
    if (are_equal) {
      gather_equal(payloads[0].data(), largest, out.data());
      return;
    }
    const auto p = static_cast<std::size_t>(ranks_);
    padded_.resize((p + 1) * largest);
    std::byte* const own = padded_.data() + p * largest;
    if (!payloads[0].empty()) std::memcpy(own, payloads[0].data(), payloads[0].size());
    std::memset(own + payloads[0].size(), 0, largest - payloads[0].size());
    gather_equal(own, largest, padded_.data());
    for (std::size_t r = 0, at = 0; r < p; at += sizes[r++])
      std::memcpy(out.data() + at, padded_.data() + r * largest, sizes[r]);
  }

  void do_all_to_all(std::span<const Bytes> payloads,
                     std::span<const std::vector<std::size_t>> send_sizes,
                     std::span<const std::vector<std::size_t>> receive_sizes,
                     std::span<const Buffer> outs) override {
    std::vector<std::int64_t> sent(send_sizes[0].begin(), send_sizes[0].end());
    std::vector<std::int64_t> received(receive_sizes[0].begin(), receive_sizes[0].end());
    at::Tensor in = borrow(payloads[0].data(), payloads[0].size());
    at::Tensor out = borrow(outs[0].data(), outs[0].size());
    finish("all-to-all", [&] { return group_->alltoall_base(out, in, received, sent); });
  }

  void do_broadcast(Buffer buffer) override {
    std::vector<at::Tensor> tensors{borrow(buffer.data(), buffer.size())};
    finish("broadcast", [&] { return group_->broadcast(tensors); });
  }

  void do_barrier() override {
    finish("barrier", [&] { return group_->barrier(); });
  }

 private:
  [[noreturn]] static void fail(const std::string& what, const std::exception& error) {
    throw Error(ErrorKind::kIo, what + " failed: " + error.what());
  }
  template <typename Start>
  static void finish(const char* what, Start&& start) {
    try {
      start()->wait();
    } catch (const std::exception& error) {
      fail(what, error);
    }
  }
  /// Meets the other ranks under a name in the store.
  void join(const std::string& prefix) {
    meet([&] {
      auto options = c10d::ProcessGroupGloo::Options::create(at_.timeout);
      options->devices.push_back(make_device(at_.address));
      options->threads = 1;
      group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(
          c10::make_intrusive<c10d::PrefixStore>(prefix, store_), rank_, ranks_, options);
    });
  }
  template <typename Step>
  void meet(Step&& step) const {
    try {
      step();
    } catch (const std::exception& error) {
      fail("meeting of rank " + std::to_string(rank_) + " with " + std::to_string(ranks_) +
               " ranks at " + at_.address + ":" + std::to_string(at_.port),
           error);
    }
  }
  void gather_equal(const std::byte* own, std::size_t bytes, std::byte* all) {
    at::Tensor in = borrow(own, bytes);
    at::Tensor out = borrow(all, bytes * static_cast<std::size_t>(ranks_));
    finish("all-gather", [&] { return group_->_allgather_base(out, in); });
  }

  class Started : public Work {
   public:
    Started(c10::intrusive_ptr<c10d::Work> work, Volume volume)
        : work_(std::move(work)), volume_(volume) {}
    Volume wait() override {
      finish("all-reduce", [&] { return work_; });
      return volume_;
    }

   private:
    c10::intrusive_ptr<c10d::Work> work_;
    Volume volume_;
  };

  Rendezvous at_;
  int rank_;
  int ranks_;
  c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
  std::vector<std::byte> padded_;
};

}  // namespace

std::unique_ptr<Collective> make_gloo_collective(const Rendezvous& rendezvous, SumOrder order) {
  return std::make_unique<GlooCollective>(rendezvous, order);
}

}  // namespace tersor::workloads

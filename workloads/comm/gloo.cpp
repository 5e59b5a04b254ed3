// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "common/endpoint.hpp"
#include "common/log.hpp"
#include "workloads/comm/collective.hpp"
#include "workloads/comm/gloo_error.hpp"

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
at::Tensor borrow(const ConstBuffer& buffer) { return borrow(buffer.data(), buffer.size()); }

/// GLOO_SOCKET_IFNAME, or empty.
std::string chosen_interface() {
  const char* name = std::getenv("GLOO_SOCKET_IFNAME");
  return name ? name : "";
}

/// Where this rank's own sockets listen: at the interface that the user named, else at the one that
/// leads to rank 0.
std::string own_address(const std::string& master) {
  const std::string interface = chosen_interface();
  return interface.empty() ? address_towards(master) : address_of_interface(interface);
}

/// Where rank 0 serves the store: at the address that the others were given. Where that is a name
/// which stands for something else on rank 0 itself (Debian's 127.0.1.1), the interface that the
/// user named decides.
std::string store_address(const std::string& host, const std::string& master) {
  const std::string interface = chosen_interface();
  if (host == master || host == "localhost") return master;
  if (!interface.empty()) return address_of_interface(interface);
  if (is_loopback(master))
    log_line(LogLevel::kWarning, "MASTER_ADDR=" + host + " is " + master +
                                     " on this machine, where only its own processes can meet; "
                                     "GLOO_SOCKET_IFNAME names another interface");
  return master;
}

/// "all-reduce", in a message.
std::string spoken(CollectiveKind collective) {
  std::string name(to_string(collective));
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// One of c10d's works, and what is left to do when it has ended.
class GlooWork : public Work {
 public:
  GlooWork(c10::intrusive_ptr<c10d::Work> work, const Volume& volume,
           std::function<void()> after = nullptr)
      : Work(volume),
        work_(std::move(work)),
        what_(spoken(volume.collective)),
        after_(std::move(after)) {}
  ~GlooWork() override {
    if (is_done() || has_failed_) return;
    try {
      work_->wait();  // c10d's threads read and write the buffers until then
    } catch (const std::exception& error) {
      log_line(LogLevel::kWarning, what_ + " failed after its caller had: " + error.what());
    }
  }

 private:
  void finish() override {
    try {
      work_->wait();
    } catch (...) {
      has_failed_ = true;
      rethrow_from_gloo(what_);
    }
    if (after_) after_();
  }

  c10::intrusive_ptr<c10d::Work> work_;
  std::string what_;
  std::function<void()> after_;
  bool has_failed_ = false;
};

class GlooCollective : public Collective {
 public:
  GlooCollective(const Rendezvous& at, SumOrder order)
      : Collective(order),
        at_(at),
        rank_(at.rank),
        ranks_(at.ranks),
        name_("tersor"),
        master_(resolve_host(at.address)) {
    // Store, event loops and devices of the world and its subgroups, and connections to its ranks.
    constexpr int kOwnDescriptors = 32, kDescriptorsARank = 4;
    expect_descriptors(kOwnDescriptors + kDescriptorsARank * at.ranks);
    c10d::TCPStoreOptions store_options;
    store_options.port = static_cast<std::uint16_t>(at.port);
    // torchrun's agent already serves a store under this address.
    const char* agent = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
    store_options.isServer = at.rank == 0 && !(agent && std::strcmp(agent, "True") == 0);
    store_options.waitWorkers = false;
    store_options.timeout = at.timeout;
    std::string server = master_;
    if (store_options.isServer) {
      // The store itself would listen at all interfaces.
      server = store_address(at.address, master_);
      BoundSocket listening(server, at.port);
      listening.listen();
      store_options.masterListenFd = listening.release();
    }
    meet([&] { store_ = c10::make_intrusive<c10d::TCPStore>(server, store_options); });
    join();
  }

  /// Some ranks of a larger group; `at.rank` counts among them.
  GlooCollective(const Rendezvous& at, SumOrder order, c10::intrusive_ptr<c10d::Store> store,
                 std::string name, std::string master)
      : Collective(order),
        at_(at),
        rank_(at.rank),
        ranks_(at.ranks),
        name_(std::move(name)),
        master_(std::move(master)),
        store_(std::move(store)) {
    join();
  }

  /// The name tells groups of the same ranks apart: by this group, and by the calls so far, which
  /// all of its processes count alike.
  std::unique_ptr<Collective> subgroup(std::span<const int> ranks) override {
    const std::string name = name_ + "/" + std::to_string(subgroups_++);
    const auto own = std::find(ranks.begin(), ranks.end(), rank_);
    if (own == ranks.end()) return nullptr;
    Rendezvous at = at_;
    at.rank = static_cast<int>(own - ranks.begin());
    at.ranks = static_cast<int>(ranks.size());
    return std::make_unique<GlooCollective>(at, sum_order(), store_, name, master_);
  }

  std::string backend() const override { return "gloo"; }
  int ranks() const override { return ranks_; }
  int first_rank() const override { return rank_; }
  int local_ranks() const override { return 1; }

 protected:
  std::unique_ptr<Work> do_all_reduce(std::span<const Buffer> buffers, std::size_t count,
                                      DType dtype, const Volume& volume) override {
    std::vector<at::Tensor> tensors{borrow(buffers[0].data(), count, scalar_type(dtype))};
    return start(volume, [&] { return group_->allreduce(tensors); });
  }

  std::unique_ptr<Work> do_all_gather(std::span<const ConstBuffer> payloads,
                                      std::span<const std::size_t> sizes, Buffer out,
                                      const Volume& volume) override {
    const std::size_t largest = *std::max_element(sizes.begin(), sizes.end());
    const bool are_equal = *std::min_element(sizes.begin(), sizes.end()) == largest;
    if (are_equal) return start_equal_gather(payloads[0].data(), largest, out.data(), volume);
    const auto p = static_cast<std::size_t>(ranks_);
    auto padded = std::make_shared<ScratchPool::Lease>(scratch().lend((p + 1) * largest));
    std::byte* const own = padded->data() + p * largest;
    if (!payloads[0].empty()) std::memcpy(own, payloads[0].data(), payloads[0].size());
    std::memset(own + payloads[0].size(), 0, largest - payloads[0].size());
    return start_equal_gather(own, largest, padded->data(), volume,
                              [padded, largest, out, parts = Sizes(sizes.begin(), sizes.end())] {
                                for (std::size_t r = 0, at = 0; r < parts.size(); at += parts[r++])
                                  if (parts[r])
                                    std::memcpy(out.data() + at, padded->data() + r * largest,
                                                parts[r]);
                              });
  }

  std::unique_ptr<Work> do_all_to_all(std::span<const ConstBuffer> payloads,
                                      std::span<const Sizes> send_sizes,
                                      std::span<const Sizes> receive_sizes,
                                      std::span<const Buffer> outs, const Volume& volume) override {
    std::vector<std::int64_t> sent(send_sizes[0].begin(), send_sizes[0].end());
    std::vector<std::int64_t> received(receive_sizes[0].begin(), receive_sizes[0].end());
    at::Tensor in = borrow(payloads[0]), out = borrow(outs[0]);
    return start(volume, [&] { return group_->alltoall_base(out, in, received, sent); });
  }

  std::unique_ptr<Work> do_broadcast(Buffer buffer, const Volume& volume) override {
    std::vector<at::Tensor> tensors{borrow(buffer)};
    return start(volume, [&] { return group_->broadcast(tensors); });
  }

  std::unique_ptr<Work> do_send(ConstBuffer payload, int, int to, int tag,
                                const Volume& volume) override {
    std::vector<at::Tensor> tensors{borrow(payload)};
    return start(volume, [&] { return group_->send(tensors, to, tag); });
  }

  std::unique_ptr<Work> do_receive(Buffer out, int from, int, int tag,
                                   const Volume& volume) override {
    std::vector<at::Tensor> tensors{borrow(out)};
    return start(volume, [&] { return group_->recv(tensors, from, tag); });
  }

  void do_barrier() override {
    try {
      group_->barrier()->wait();
    } catch (...) {
      rethrow_from_gloo("barrier");
    }
  }

 private:
  template <typename Begin>
  static std::unique_ptr<Work> start(const Volume& volume, Begin&& begin,
                                     std::function<void()> after = nullptr) {
    try {
      return std::make_unique<GlooWork>(begin(), volume, std::move(after));
    } catch (...) {
      rethrow_from_gloo(spoken(volume.collective));
    }
  }
  std::unique_ptr<Work> start_equal_gather(const std::byte* own, std::size_t bytes, std::byte* all,
                                           const Volume& volume,
                                           std::function<void()> after = nullptr) {
    at::Tensor in = borrow(own, bytes);
    at::Tensor out = borrow(all, bytes * static_cast<std::size_t>(ranks_));
    return start(
        volume, [&] { return group_->_allgather_base(out, in); }, std::move(after));
  }
  /// Meets the other ranks under the group's name in the store.
  void join() {
    meet([&] {
      auto options = c10d::ProcessGroupGloo::Options::create(at_.timeout);
      options->devices.push_back(
          c10d::ProcessGroupGloo::createDeviceForHostname(own_address(master_)));
      options->threads = 1;
      group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(
          c10::make_intrusive<c10d::PrefixStore>(name_, store_), rank_, ranks_, options);
    });
  }
  template <typename Step>
  void meet(Step&& step) const {
    try {
      step();
    } catch (...) {
      rethrow_from_meeting("meeting of rank " + std::to_string(rank_) + " with " +
                               std::to_string(ranks_) + " ranks at " + at_.address + ":" +
                               std::to_string(at_.port),
                           own_address(master_));
    }
  }

  Rendezvous at_;
  int rank_;
  int ranks_;
  std::string name_;
  std::string master_;  ///< numeric: where the ranks meet
  int subgroups_ = 0;
  c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
};

}  // namespace

std::unique_ptr<Collective> make_gloo_collective(const Rendezvous& rendezvous, SumOrder order) {
  return std::make_unique<GlooCollective>(rendezvous, order);
}

}  // namespace tersor::workloads

// SPDX-License-Identifier: Apache-2.0
#include "workloads/comm/collective.hpp"

#include <algorithm>
#include <cstring>

#include "common/error.hpp"
#include "common/wire_bytes.hpp"

namespace tersor::workloads {
namespace {

/// Sum of `ranks` arrays of `count` elements that follow each other, float32, rank order.
void sum_in_rank_order(const std::byte* arrays, int ranks, std::size_t count, DType dtype,
                       std::byte* out) {
  const std::size_t bytes = count * item_bytes(dtype);
  std::vector<float> sum(count), term(count);
  compressors::widen(dtype, arrays, sum);
  for (int r = 1; r < ranks; ++r) {
    compressors::widen(dtype, arrays + static_cast<std::size_t>(r) * bytes, term);
    for (std::size_t i = 0; i < count; ++i) sum[i] += term[i];
  }
  if (dtype == DType::kFloat32)
    std::memcpy(out, sum.data(), bytes);
  else
    compressors::round_to(dtype, sum, out);
}

}  // namespace

std::string_view to_string(CollectiveKind collective) {
  switch (collective) {
    case CollectiveKind::kAllReduce: return "all_reduce";
    case CollectiveKind::kAllGather: return "all_gather";
    case CollectiveKind::kAllToAll: return "all_to_all";
    case CollectiveKind::kBroadcast: return "broadcast";
    case CollectiveKind::kSend: return "send";
    case CollectiveKind::kReceive: return "receive";
  }
  return "";
}

/// An all-gather whose end adds what it brought.
class Collective::RankOrderSum : public Work {
 public:
  RankOrderSum(ScratchPool::Lease gathered, const Volume& volume, Buffer out, int ranks,
               std::size_t count, DType dtype)
      : Work(volume),
        gathered_(std::move(gathered)),
        out_(out),
        ranks_(ranks),
        count_(count),
        dtype_(dtype) {}
  Buffer gathered() { return gathered_.bytes(); }
  void set_gather(std::unique_ptr<Work> gather) { gather_ = std::move(gather); }

 private:
  void finish() override {
    gather_->wait();
    sum_in_rank_order(gathered_.data(), ranks_, count_, dtype_, out_.host().data());
  }

  ScratchPool::Lease gathered_;
  std::unique_ptr<Work> gather_;  ///< goes before the bytes that it writes
  Buffer out_;
  int ranks_;
  std::size_t count_;
  DType dtype_;
};

void Collective::check_device(const ConstBuffer& buffer) const {
  if (!takes(buffer.device()))
    throw Error(ErrorKind::kUnsupported,
                backend() + " cannot take a buffer on " + to_string(buffer.device()) +
                    "; copy it to host memory, or use a backend of that device");
}

template <typename Buffers>
void Collective::check_locals(const Buffers& buffers) const {
  TERSOR_CHECK(buffers.size() == static_cast<std::size_t>(local_ranks()),
               std::to_string(buffers.size()) + " buffers for " + std::to_string(local_ranks()) +
                   " local ranks");
  for (const auto& buffer : buffers) check_device(buffer);
}

void Collective::check_pair(int from, int to, int local) const {
  TERSOR_CHECK(
      from != to && std::min(from, to) >= 0 && std::max(from, to) < ranks() && is_local(local),
      "a message from rank " + std::to_string(from) + " to rank " + std::to_string(to) + " of " +
          std::to_string(ranks()) + " in the process of rank " + std::to_string(first_rank()));
}

std::unique_ptr<Work> Collective::start_all_reduce(std::span<const Buffer> buffers,
                                                   std::size_t count, DType dtype) {
  check_locals(buffers);
  const std::size_t bytes = count * item_bytes(dtype);
  input_bytes_ += bytes;
  if (order_ == SumOrder::kLibrary) {
    const Volume volume{CollectiveKind::kAllReduce, bytes, all_reduce_wire_bytes(bytes, ranks())};
    if (count == 0) return std::make_unique<Work>(volume);
    return do_all_reduce(buffers, count, dtype, volume);
  }
  const Volume volume{CollectiveKind::kAllGather, bytes, all_gather_wire_bytes(bytes, ranks())};
  if (count == 0) return std::make_unique<Work>(volume);
  const auto p = static_cast<std::size_t>(ranks());
  auto sum = std::make_unique<RankOrderSum>(scratch_.lend(p * bytes), volume, buffers[0], ranks(),
                                            count, dtype);
  std::vector<ConstBuffer> payloads;
  for (const Buffer& buffer : buffers) payloads.push_back(buffer.first(bytes));
  sum->set_gather(do_all_gather(payloads, Sizes(p, bytes), sum->gathered(), volume));
  return sum;
}

std::unique_ptr<Work> Collective::start_all_gather(std::span<const ConstBuffer> payloads,
                                                   std::span<const std::size_t> sizes, Buffer out) {
  check_locals(payloads);
  check_device(out);
  const std::size_t own = sizes[static_cast<std::size_t>(first_rank())];
  input_bytes_ += own;
  const Volume volume{CollectiveKind::kAllGather, own, all_gather_wire_bytes(own, ranks())};
  if (*std::max_element(sizes.begin(), sizes.end()) == 0) return std::make_unique<Work>(volume);
  return do_all_gather(payloads, sizes, out, volume);
}

Collective::Sizes Collective::exchange_sizes(std::span<const std::size_t> locals) {
  const auto p = static_cast<std::size_t>(ranks());
  std::vector<std::uint64_t> mine(locals.begin(), locals.end()), all(p);
  std::vector<ConstBuffer> payloads;
  for (const std::uint64_t& size : mine) payloads.emplace_back(std::as_bytes(std::span(&size, 1)));
  all_gather(payloads, Sizes(p, sizeof(std::uint64_t)), std::as_writable_bytes(std::span(all)));
  return {all.begin(), all.end()};
}

std::unique_ptr<Work> Collective::start_all_to_all(std::span<const ConstBuffer> payloads,
                                                   std::span<const Sizes> send_sizes,
                                                   std::span<const Sizes> receive_sizes,
                                                   std::span<const Buffer> outs) {
  check_locals(payloads);
  check_locals(outs);
  std::uint64_t bytes = 0;
  for (const std::size_t size : send_sizes[0]) bytes += size;
  input_bytes_ += bytes;
  return do_all_to_all(payloads, send_sizes, receive_sizes, outs,
                       {CollectiveKind::kAllToAll, bytes,
                        bytes - send_sizes[0][static_cast<std::size_t>(first_rank())]});
}

std::unique_ptr<Work> Collective::start_broadcast(Buffer buffer) {
  check_device(buffer);
  input_bytes_ += buffer.size();
  const std::uint64_t copies = first_rank() == 0 ? static_cast<std::uint64_t>(ranks() - 1) : 0;
  const Volume volume{CollectiveKind::kBroadcast, buffer.size(), copies * buffer.size()};
  if (buffer.empty()) return std::make_unique<Work>(volume);
  return do_broadcast(buffer, volume);
}

std::unique_ptr<Work> Collective::start_send(ConstBuffer payload, int from, int to, int tag) {
  check_pair(from, to, from);
  check_device(payload);
  if (from == first_rank()) input_bytes_ += payload.size();
  const Volume volume{CollectiveKind::kSend, payload.size(), payload.size()};
  if (payload.empty()) return std::make_unique<Work>(volume);
  return do_send(payload, from, to, tag, volume);
}

std::unique_ptr<Work> Collective::start_receive(Buffer out, int from, int to, int tag) {
  check_pair(from, to, to);
  check_device(out);
  const Volume volume{CollectiveKind::kReceive, 0, 0};
  if (out.empty()) return std::make_unique<Work>(volume);
  return do_receive(out, from, to, tag, volume);
}

}  // namespace tersor::workloads

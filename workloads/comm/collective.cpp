// SPDX-License-Identifier: Apache-2.0
#include "workloads/comm/collective.hpp"

#include <algorithm>
#include <cstring>

#include "common/error.hpp"
#include "common/wire_bytes.hpp"
#include "compressors/api/codec.hpp"

namespace tersor::workloads {
namespace {

/// Sum of `ranks` arrays of `count` elements that lie one after the other, float32, rank order.
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

class Done : public Work {
 public:
  explicit Done(Volume volume) : volume_(volume) {}
  Volume wait() override { return volume_; }

 private:
  Volume volume_;
};

class EmulatedCollective : public Collective {
 public:
  EmulatedCollective(int ranks, SumOrder order) : Collective(order), ranks_(ranks) {
    TERSOR_CHECK(ranks >= 1, "emulated ranks: " + std::to_string(ranks));
  }
  std::string backend() const override { return ranks_ == 1 ? "none" : "emulated"; }
  int ranks() const override { return ranks_; }
  int first_rank() const override { return 0; }
  int local_ranks() const override { return ranks_; }
  std::unique_ptr<Collective> subgroup(std::span<const int> ranks) const override {
    return make_emulated_collective(static_cast<int>(ranks.size()), sum_order());
  }

 protected:
  void do_all_reduce(std::span<const Buffer> buffers, std::size_t count, DType dtype) override {
    for (int r = 1; r < ranks_; ++r)
      add(buffers[0], buffers[static_cast<std::size_t>(r)], count, dtype);
  }
  void do_all_gather(std::span<const Bytes> payloads, std::span<const std::size_t> sizes,
                     Buffer out) override {
    std::size_t at = 0;
    for (std::size_t r = 0; r < sizes.size(); at += sizes[r++])
      if (sizes[r]) std::memcpy(out.data() + at, payloads[r].data(), sizes[r]);
  }
  void do_all_to_all(std::span<const Bytes> payloads,
                     std::span<const std::vector<std::size_t>> send_sizes,
                     std::span<const std::vector<std::size_t>>,
                     std::span<const Buffer> outs) override {
    std::vector<std::size_t> filled(outs.size(), 0);
    for (std::size_t from = 0; from < payloads.size(); ++from) {
      std::size_t at = 0;
      for (std::size_t to = 0; to < outs.size(); ++to) {
        const std::size_t bytes = send_sizes[from][to];
        if (bytes) std::memcpy(outs[to].data() + filled[to], payloads[from].data() + at, bytes);
        at += bytes;
        filled[to] += bytes;
      }
    }
  }
  void do_broadcast(Buffer) override {}
  void do_barrier() override {}

 private:
  static void add(Buffer into, Buffer from, std::size_t count, DType dtype) {
    if (dtype == DType::kFloat32) {
      auto* a = reinterpret_cast<float*>(into.data());
      const auto* b = reinterpret_cast<const float*>(from.data());
      for (std::size_t i = 0; i < count; ++i) a[i] += b[i];
      return;
    }
    std::vector<float> a(count), b(count);
    compressors::widen(dtype, into.data(), a);
    compressors::widen(dtype, from.data(), b);
    for (std::size_t i = 0; i < count; ++i) a[i] += b[i];
    compressors::round_to(dtype, a, into.data());
  }

  int ranks_;
};

}  // namespace

std::string_view to_string(CollectiveKind collective) {
  switch (collective) {
    case CollectiveKind::kAllReduce: return "all_reduce";
    case CollectiveKind::kAllGather: return "all_gather";
    case CollectiveKind::kAllToAll: return "all_to_all";
    case CollectiveKind::kBroadcast: return "broadcast";
  }
  return "";
}

Volume Collective::all_reduce(std::span<const Buffer> buffers, std::size_t count, DType dtype) {
  const std::size_t bytes = count * item_bytes(dtype);
  count_input(bytes);
  if (order_ == SumOrder::kLibrary) {
    if (count > 0) do_all_reduce(buffers, count, dtype);
    return {CollectiveKind::kAllReduce, bytes, all_reduce_wire_bytes(bytes, ranks())};
  }
  const auto p = static_cast<std::size_t>(ranks());
  if (count == 0) return {CollectiveKind::kAllGather, 0, 0};
  gathered_.resize(p * bytes);
  const std::vector<Bytes> payloads(buffers.begin(), buffers.end());
  do_all_gather(payloads, std::vector<std::size_t>(p, bytes), gathered_);
  sum_in_rank_order(gathered_.data(), ranks(), count, dtype, buffers[0].data());
  return {CollectiveKind::kAllGather, bytes, all_gather_wire_bytes(bytes, ranks())};
}

std::unique_ptr<Work> Collective::start_all_reduce(std::span<const Buffer> buffers,
                                                   std::size_t count, DType dtype) {
  return std::make_unique<Done>(all_reduce(buffers, count, dtype));
}

Volume Collective::all_gather(std::span<const Bytes> payloads, std::span<const std::size_t> sizes,
                              Buffer out) {
  const std::size_t own = sizes[static_cast<std::size_t>(first_rank())];
  count_input(own);
  do_all_gather(payloads, sizes, out);
  return {CollectiveKind::kAllGather, own, all_gather_wire_bytes(own, ranks())};
}

std::vector<std::size_t> Collective::exchange_sizes(std::span<const std::size_t> locals) {
  const auto p = static_cast<std::size_t>(ranks());
  std::vector<std::uint64_t> mine(locals.begin(), locals.end()), all(p);
  std::vector<Bytes> payloads;
  for (const std::uint64_t& size : mine) payloads.push_back(std::as_bytes(std::span(&size, 1)));
  all_gather(payloads, std::vector<std::size_t>(p, sizeof(std::uint64_t)),
             std::as_writable_bytes(std::span(all)));
  return {all.begin(), all.end()};
}

Volume Collective::all_to_all(std::span<const Bytes> payloads,
                              std::span<const std::vector<std::size_t>> send_sizes,
                              std::span<const std::vector<std::size_t>> receive_sizes,
                              std::span<const Buffer> outs) {
  std::uint64_t handed = 0;
  for (const std::size_t bytes : send_sizes[0]) handed += bytes;
  count_input(handed);
  do_all_to_all(payloads, send_sizes, receive_sizes, outs);
  return {CollectiveKind::kAllToAll, handed,
          handed - send_sizes[0][static_cast<std::size_t>(first_rank())]};
}

Volume Collective::broadcast(Buffer buffer) {
  count_input(buffer.size());
  do_broadcast(buffer);
  const std::uint64_t copies = first_rank() == 0 ? static_cast<std::uint64_t>(ranks() - 1) : 0;
  return {CollectiveKind::kBroadcast, buffer.size(), copies * buffer.size()};
}

void Collective::barrier() { do_barrier(); }

std::unique_ptr<Collective> make_emulated_collective(int ranks, SumOrder order) {
  return std::make_unique<EmulatedCollective>(ranks, order);
}

}  // namespace tersor::workloads

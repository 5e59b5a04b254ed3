// SPDX-License-Identifier: Apache-2.0
#include "workloads/comm/collective.hpp"

#include <catch2/catch.hpp>

using namespace tersor;
using namespace tersor::workloads;

namespace {

using Values = std::vector<std::vector<float>>;

std::vector<Buffer> buffers(Values& values) {
  std::vector<Buffer> result;
  for (auto& value : values) result.push_back(std::as_writable_bytes(std::span(value)));
  return result;
}

}  // namespace

TEST_CASE("collective: emulated shards add in rank order") {
  // 1 + 1e8 - 1e8 in float32 is 0; another order gives 1.
  for (const SumOrder order : {SumOrder::kLibrary, SumOrder::kRanks}) {
    Values values{{1.0f, 2.0f}, {1e8f, 3.0f}, {-1e8f, 4.0f}};
    const auto group = make_emulated_collective(3, order);
    const Volume volume = group->all_reduce(buffers(values), 2, DType::kFloat32);
    CHECK(values[0] == std::vector<float>{0.0f, 9.0f});
    CHECK(volume.input_bytes == 8);
    if (order == SumOrder::kRanks) {
      CHECK(volume.collective == CollectiveKind::kAllGather);
      CHECK(volume.wire_bytes == 16);
    } else {
      CHECK(volume.collective == CollectiveKind::kAllReduce);
      CHECK(volume.wire_bytes == 10);  // 2 * 2/3 * 8, rounded down
    }
    CHECK(group->input_bytes() == 8);
  }
}

TEST_CASE("collective: bfloat16 sums round once with ranks, at each step with library") {
  // 1 + 2^-8 + 2^-8: each term alone rounds away in bfloat16 (8 bits), both together do not.
  const std::uint16_t one = 0x3F80, small = 0x3B80;
  for (const SumOrder order : {SumOrder::kLibrary, SumOrder::kRanks}) {
    std::vector<std::uint16_t> a{one}, b{small}, c{small};
    std::vector<Buffer> all{std::as_writable_bytes(std::span(a)),
                            std::as_writable_bytes(std::span(b)),
                            std::as_writable_bytes(std::span(c))};
    make_emulated_collective(3, order)->all_reduce(all, 1, DType::kBFloat16);
    CHECK(a[0] == (order == SumOrder::kRanks ? 0x3F81 : 0x3F80));
  }
}

TEST_CASE("collective: gathers and exchanges of unequal parts") {
  const auto group = make_emulated_collective(2, SumOrder::kLibrary);
  const std::vector<std::byte> a{std::byte{1}}, b{std::byte{2}, std::byte{3}};
  const std::vector<ConstBuffer> payloads{a, b};
  std::vector<std::byte> out(3);
  const std::vector<std::size_t> sizes{1, 2};
  CHECK(group->exchange_sizes(sizes) == sizes);
  group->all_gather(payloads, sizes, out);
  CHECK(out == std::vector<std::byte>{std::byte{1}, std::byte{2}, std::byte{3}});

  // Rank 0 has {1} for itself and nothing for rank 1; rank 1 has {2} for rank 0 and {3} for itself.
  const std::vector<std::vector<std::size_t>> sent{{1, 0}, {1, 1}}, received{{1, 1}, {0, 1}};
  std::vector<std::byte> first(2), second(1);
  const std::vector<Buffer> outs{first, second};
  const Volume volume = group->all_to_all(payloads, sent, received, outs);
  CHECK(first == std::vector<std::byte>{std::byte{1}, std::byte{2}});
  CHECK(second == std::vector<std::byte>{std::byte{3}});
  CHECK(volume.input_bytes == 1);
  CHECK(volume.wire_bytes == 0);
}

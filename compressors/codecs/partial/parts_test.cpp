// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <catch2/catch.hpp>

#include "compressors/spec/registry.hpp"
#include "compressors/verify/message_for_test.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

TEST_CASE("partial sends the first channels; the rest is 0 in a message, local at a site") {
  const std::vector<float> x{1, 2, 3, 4, 5, 6};  // two rows of three: width floor(1.5 + 0.5) = 2
  CHECK(round_trip("partial(none)", x, {1, 2, 3}) == std::vector<float>{1, 2, 0, 4, 5, 0});
  CHECK(make_codec("partial(none)")->payload_bytes({1, 2, 3}, DType::kFloat32, {}) == 16);
  const Bytes payload = encode("partial(topk(k=9))", x, {1, 2, 3});
  const std::array<std::span<const std::byte>, 2> received{payload, payload};
  Context context;
  context.local_input = {x.data(), {1, 2, 3}, DType::kFloat32};
  std::vector<float> out(6);
  make_codec("partial(topk(k=9))")
      ->combine(received, {1, 2, 3}, DType::kFloat32, out, nullptr, context);
  CHECK(out == std::vector<float>{2, 4, 3, 8, 10, 6});
}

TEST_CASE("gate uses none below its limit and says so") {
  const auto gate = make_codec("gate(quantize,min_bytes=16)");
  CHECK(gate->effective({1, 1, 3}, DType::kFloat32).canonical() == "none");
  CHECK(gate->effective({1, 1, 4}, DType::kFloat32).canonical() == "quantize");
  CHECK(
      make_codec("gate(quantize,force=true)")->effective({1, 1, 1}, DType::kFloat32).canonical() ==
      "quantize");
  CHECK(round_trip("gate(quantize,min_bytes=16)", {0.1f, 0.2f}) == std::vector<float>{0.1f, 0.2f});
}

TEST_CASE("hierarchical: the inner payload, then the outer one of its decode") {
  const std::vector<float> x{1, -3, 2};
  const Bytes payload = encode("hierarchical(topk(k=2,index=u16),none)", x, row_of(x));
  CHECK(payload.size() == 12 + 12);
  CHECK(round_trip("hierarchical(topk(k=2,index=u16),none)", x) == std::vector<float>{0, -3, 2});
}

TEST_CASE("hadamard(none) with blocks and a tail gives the message back") {
  const std::vector<float> x = activations(2 * 13);
  const std::vector<float> y = round_trip("hadamard(none,block=8)", x, {1, 2, 13});
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(y[i] == Approx(x[i]).margin(1e-6));
  // A tail of one value: only its sign turns, there and back.
  CHECK(y[12] == x[12]);
}

// Two ranks, three rows: rank 0 owns rows 0 and 1, rank 1 row 2. With none the result is the sum.
TEST_CASE("twostep sums chunk by chunk") {
  const auto codec = make_codec("twostep(none)");
  const Shape shape{1, 3, 2};
  const std::array<std::vector<float>, 2> x{std::vector<float>{1, 2, 3, 4, 5, 6},
                                            std::vector<float>{10, 20, 30, 40, 50, 60}};
  std::array<Bytes, 2> first;
  std::array<std::unique_ptr<State>, 2> states;
  std::array<Context, 2> contexts;
  for (std::uint32_t r = 0; r < 2; ++r) {
    contexts[r].rank = r;
    contexts[r].ranks = 2;
    states[r] = codec->make_state(shape, DType::kFloat32, 2);
    first[r].resize(codec->payload_bytes(shape, DType::kFloat32, contexts[r]));
    codec->encode(0, {x[r].data(), shape, DType::kFloat32}, first[r], states[r].get(), contexts[r]);
    CHECK(codec->part_bytes(shape, DType::kFloat32, contexts[r], 0, 0) == 16);
    CHECK(codec->part_bytes(shape, DType::kFloat32, contexts[r], 0, 1) == 8);
  }
  std::array<Bytes, 2> second;
  for (std::uint32_t r = 0; r < 2; ++r) {
    const std::size_t at = r == 0 ? 0 : 16;
    const std::size_t size = r == 0 ? 16 : 8;
    const std::array received{std::span<const std::byte>(first[0]).subspan(at, size),
                              std::span<const std::byte>(first[1]).subspan(at, size)};
    codec->absorb(0, received, shape, DType::kFloat32, states[r].get(), contexts[r]);
    second[r].resize(codec->payload_bytes(shape, DType::kFloat32, contexts[r], 1));
    codec->encode(1, {x[r].data(), shape, DType::kFloat32}, second[r], states[r].get(),
                  contexts[r]);
  }
  const std::array<std::span<const std::byte>, 2> received{second[0], second[1]};
  std::vector<float> out(6);
  codec->combine(received, shape, DType::kFloat32, out, states[0].get(), contexts[0]);
  CHECK(out == std::vector<float>{11, 22, 33, 44, 55, 66});
}

TEST_CASE("quickreduce4 stands for its spec") {
  CHECK(canonical_spec("quickreduce4") == "twostep(quantize(bits=4,scope=group,group=32))");
}

}  // namespace
}  // namespace tersor::compressors

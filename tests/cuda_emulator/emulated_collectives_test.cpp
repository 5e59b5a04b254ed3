// SPDX-License-Identifier: Apache-2.0
// Whole collectives of several rounds on the emulated device against the CPU: what every rank sends
// in both rounds, what it has in the end, and the launches between.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "compressors/verify/suite/subject.hpp"
#include "tests/cuda_emulator/emulated_memory.hpp"

using namespace tersor;
using namespace tersor::compressors;

namespace {

using Bytes = std::vector<std::byte>;

struct Collective {
  std::vector<Bytes> first;   ///< payloads of round 0, by rank
  std::vector<Bytes> second;  ///< of round 1
  std::vector<std::vector<float>> sums;
};

std::uint64_t launches() {
  std::uint64_t sum = 0;
  for (const auto& [kernel, counts] : emulator::counts()) sum += counts.launches;
  return sum;
}

/// `absorbing`, where given, becomes the launches of one rank's absorb.
Collective run(const Codec& codec, const Shape& shape, DType dtype, std::uint32_t ranks,
               std::uint64_t* absorbing = nullptr) {
  Collective result;
  Context context = suite::some_context();
  context.ranks = ranks;
  std::vector<std::unique_ptr<State>> states;
  std::vector<suite::Tensor> inputs;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    context.rank = r;
    inputs.push_back(suite::make_tensor(shape, dtype, suite::Fill::kNormal, r));
    states.push_back(codec.make_state(shape, dtype, ranks));
    Bytes payload(codec.payload_bytes(shape, dtype, context, 0, states[r].get()));
    payload.resize(codec.encode(0, inputs[r].view(), payload, states[r].get(), context));
    result.first.push_back(payload);
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    context.rank = r;
    std::size_t at = 0;
    for (std::uint32_t to = 0; to < r; ++to)
      at += codec.part_bytes(shape, dtype, context, 0, to, states[r].get());
    const std::size_t size = codec.part_bytes(shape, dtype, context, 0, r, states[r].get());
    std::vector<std::span<const std::byte>> received;
    for (const Bytes& payload : result.first)
      received.push_back(std::span(payload).subspan(at, size));
    const std::uint64_t before = launches();
    codec.absorb(0, received, shape, dtype, states[r].get(), context);
    if (absorbing != nullptr) *absorbing = launches() - before;
    Bytes payload(codec.payload_bytes(shape, dtype, context, 1, states[r].get()));
    payload.resize(codec.encode(1, inputs[r].view(), payload, states[r].get(), context));
    result.second.push_back(payload);
  }
  const std::vector<std::span<const std::byte>> received(result.second.begin(),
                                                         result.second.end());
  for (std::uint32_t r = 0; r < ranks; ++r) {
    context.rank = r;
    std::vector<float> sum(inputs[r].elements());
    codec.combine(received, shape, dtype, sum, states[r].get(), context);
    result.sums.push_back(std::move(sum));
  }
  return result;
}

void check(const std::string& spec, const Shape& shape, DType dtype, std::uint32_t ranks,
           const DeviceOffsets& offsets = {}) {
  INFO(spec << " of {" << shape.samples << ", " << shape.tokens << ", " << shape.hidden << "} "
            << to_string(dtype) << " on " << ranks << " ranks");
  const auto codec = make_codec(spec);
  REQUIRE(codec->supports(Device::kCuda));
  emulator::EmulatedMemory memory;
  const Collective expected = run(*codec, shape, dtype, ranks);
  const Collective got = run(*on_device(codec, memory, offsets), shape, dtype, ranks);
  CHECK(got.first == expected.first);
  CHECK(got.second == expected.second);
  for (std::uint32_t r = 0; r < ranks; ++r)
    CHECK(suite::first_difference(got.sums[r], expected.sums[r]) == suite::kNowhere);
}

}  // namespace

TEST_CASE("two-step collectives on the device are those of the CPU") {
  for (const unsigned number : {0u, 1u, 2u}) {
    const emulator::ScopedOptions scope(emulator::schedule(number));
    const DeviceOffsets offsets = number == 1 ? DeviceOffsets{1, 1, 1} : DeviceOffsets{};
    for (const char* spec :
         {"twostep(none)", "twostep(cast)", "twostep(quantize(bits=4,scope=group,group=32))",
          "twostep(fp8(scope=token))", "twostep(mx(format=fp4_e2m1))", "twostep(sign)",
          "twostep(topk(ratio=0.1))", "twostep(quantize(bits=4,rounding=stochastic))",
          "twostep(hadamard(quantize(bits=4)))", "hadamard(twostep(quantize(bits=4,scope=token)))",
          "partial(twostep(quantize(bits=8)),ratio=0.6)", "gate(twostep(cast),min_bytes=0)"})
      check(spec, {1, 7, 72}, DType::kBFloat16, 3, offsets);
    check("twostep(quantize(bits=4))", {2, 3, 67}, DType::kFloat16, 4, offsets);
    check("twostep(minmax)", {1, 2, 96}, DType::kFloat32, 4, offsets);  // empty chunks
  }
}

TEST_CASE("a chunk's sum is one launch, and rounded once from many ranks") {
  const emulator::ScopedOptions scope(emulator::schedule(0));
  // More payloads than a launch decodes: 16-bit sums between would round twice.
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16})
    check("twostep(quantize(bits=8,scope=token))", {1, 20, 40}, dtype, 19);
  for (const std::uint32_t ranks : {2u, 4u, 8u})
    for (const char* spec : {"twostep(quantize(bits=4,scope=group,group=32))", "twostep(cast)"}) {
      emulator::EmulatedMemory memory;
      std::uint64_t absorbing = 0;
      run(*on_device(make_codec(spec), memory), {1, 16, 64}, DType::kBFloat16, ranks, &absorbing);
      CHECK(absorbing == 1);
    }
}

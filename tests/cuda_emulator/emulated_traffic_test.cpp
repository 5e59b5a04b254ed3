// SPDX-License-Identifier: Apache-2.0
// What the kernels move, counted: launches, sectors per request, bytes against the streaming bound
// (the tensor once in, the payload once out).
#include <catch2/catch.hpp>
#include <cstdio>

#include "compressors/verify/suite/subject.hpp"
#include "tests/cuda_emulator/emulated_memory.hpp"

using namespace tersor;
using namespace tersor::compressors;

namespace {

struct Moved {
  std::uint64_t launches = 0;
  double bytes = 0;    ///< of distinct sectors, per launch: what a cache would fetch and write
  double bound = 0;    ///< streaming bound
  double sectors = 0;  ///< per load of a warp, of the kernel that reads the tensor last
  double stored = 0;   ///< sectors stored over distinct ones: 1 where each is written whole, once
};

Moved sum_counts() {
  Moved moved;
  for (const auto& [kernel, c] : emulator::counts()) {
    moved.launches += c.launches;
    moved.bytes += 32.0 * static_cast<double>(c.loads.distinct_sectors + c.stores.distinct_sectors);
    moved.sectors = std::max(moved.sectors, static_cast<double>(c.loads.sectors) /
                                                static_cast<double>(c.loads.requests));
    moved.stored = std::max(moved.stored, static_cast<double>(c.stores.sectors) /
                                              static_cast<double>(c.stores.distinct_sectors));
  }
  return moved;
}

const Shape kShape{1, 64, 1024};

Moved encode(const std::string& spec, DType dtype) {
  emulator::EmulatedMemory memory;
  emulator::Options options = emulator::schedule(0);
  options.counts = true;
  const emulator::ScopedOptions scope(options);
  const auto codec = on_device(make_codec(spec), memory);
  const suite::Tensor in = suite::make_tensor(kShape, dtype, suite::Fill::kNormal);
  std::vector<std::byte> payload(codec->payload_bytes(kShape, dtype, {}));
  const auto state = codec->make_state(kShape, dtype, 1);
  if (state) {  // aqsgd: its first visit
    const suite::Tensor first = suite::make_tensor(kShape, dtype, suite::Fill::kConstant);
    codec->encode(0, first.view(), payload, state.get(), {});
  }
  emulator::reset_counts();
  codec->encode(0, in.view(), payload, state.get(), {});
  Moved moved = sum_counts();
  moved.bound = static_cast<double>(in.bits.size() + payload.size());
  return moved;
}

Moved sum_of(const std::string& spec, std::size_t ranks) {
  emulator::EmulatedMemory memory;
  emulator::Options options = emulator::schedule(0);
  options.counts = true;
  const emulator::ScopedOptions scope(options);
  const auto codec = make_codec(spec);
  const auto device = on_device(codec, memory);
  const suite::Tensor in = suite::make_tensor(kShape, DType::kBFloat16, suite::Fill::kNormal);
  std::vector<std::byte> payload(codec->payload_bytes(kShape, DType::kBFloat16, {}));
  const auto count = static_cast<std::uint32_t>(ranks);
  codec->encode(0, in.view(), payload, codec->make_state(kShape, DType::kBFloat16, count).get(),
                {});
  const auto state = device->make_state(kShape, DType::kBFloat16, count);
  const std::vector<std::span<const std::byte>> received(ranks, payload);
  std::vector<float> out(in.elements());
  emulator::reset_counts();
  device->combine(received, kShape, DType::kBFloat16, out, state.get(), {});
  Moved moved = sum_counts();
  moved.bound = static_cast<double>(ranks * payload.size() + out.size() * sizeof(float));
  return moved;
}

void print(const std::string& what, const Moved& m) {
  std::printf("%-48s %2llu launches %9.0f bytes %5.2f x bound %6.2f sectors/load %5.2f stores\n",
              what.c_str(), static_cast<unsigned long long>(m.launches), m.bytes, m.bytes / m.bound,
              m.sectors, m.stored);
}

}  // namespace

TEST_CASE("encoding moves the tensor once, or twice where a scale needs all of it") {
  struct Row {
    const char* spec;
    std::uint64_t launches;
  };
  const Row rows[] = {{"none", 1},
                      {"cast", 1},
                      {"quantize(bits=8,scope=token)", 1},
                      {"quantize(bits=4,scope=group,group=32)", 1},
                      {"quantize(bits=3,scope=token,rounding=stochastic)", 1},
                      {"quantize(bits=8)", 2},
                      {"quantize(bits=4,scope=tensor)", 2},
                      {"minmax(bits=8,scope=token)", 1},
                      {"minmax", 2},
                      {"fp8(scope=token)", 1},
                      {"fp8", 2},
                      {"mx(format=fp8_e4m3)", 1},
                      {"mx(format=fp4_e2m1)", 1},
                      {"nvfp4", 2},
                      {"sign(scope=token)", 1},
                      {"spike", 1}};
  for (const Row& row : rows)
    for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
      INFO(row.spec << " of " << to_string(dtype));
      const Moved moved = encode(row.spec, dtype);
      print(std::string(row.spec) + " " + std::string(to_string(dtype)), moved);
      CHECK(moved.launches == row.launches);
      const double tensor =
          static_cast<double>(kShape.elements()) * static_cast<double>(item_bytes(dtype));
      // Two launches read the tensor twice. Partial results of channels: eight rows of them here,
      // written once and read once; else they stay below 5 %.
      const bool is_channel = std::string(row.spec) == "quantize(bits=8)";
      const double keys = is_channel ? 2.0 * 8 * 4 * static_cast<double>(kShape.hidden) : 0.0;
      CHECK(moved.bytes <= (moved.bound + (row.launches == 2 ? tensor : 0)) * 1.05 + keys);
      CHECK(moved.sectors <= 16.0);  // 32 lanes of 16 bytes: every sector of a load is wanted
    }
}

TEST_CASE("a sum of payloads is one launch that reads each once") {
  for (const char* spec : {"quantize(bits=8,scope=token)", "quantize(bits=4)", "minmax", "fp8",
                           "mx(format=fp4_e2m1)", "nvfp4", "cast"})
    for (const std::size_t ranks : {1, 2, 4, 8}) {
      INFO(spec << ", " << ranks << " payloads");
      const Moved moved = sum_of(spec, ranks);
      print(std::string(spec) + ", sum of " + std::to_string(ranks), moved);
      CHECK(moved.launches == 1);
      CHECK(moved.bytes <= moved.bound * 1.02);
      CHECK(moved.sectors <= 16.0);
      CHECK(moved.stored == 1.0);  // each sector is written whole and once
    }
}

TEST_CASE("ef21 adds each payload to its copy, and all copies in one launch") {
  struct Row {
    const char* spec;
    bool is_one_launch;
    double bytes;  ///< of a payload, per value
  };
  const Row rows[] = {{"ef21(cast)", true, 2},
                      {"ef21(quantize(bits=8,scope=token))", true, 1.01},
                      {"ef21(mx(format=fp4_e2m1))", true, 0.54},
                      {"ef21(sign(scope=token))", true, 0.14},
                      {"ef21(spike)", false, 0.58}};
  for (const Row& row : rows)
    for (const std::size_t ranks : {2, 4, 8}) {
      const std::string what = row.spec + (", sum of " + std::to_string(ranks));
      INFO(what);
      const Moved moved = sum_of(row.spec, ranks);
      print(what, moved);
      CHECK(moved.launches == (row.is_one_launch ? 1 : ranks + 1));
      // Each copy in and out, where it is another launch that adds up once more in; the sum out.
      const double of_rank = row.bytes + (row.is_one_launch ? 8 : 12);
      const double bytes = of_rank * static_cast<double>(ranks) + 4;
      CHECK(moved.bytes <= bytes * static_cast<double>(kShape.elements()) * 1.02);
    }
}

TEST_CASE("signs are sent in the pass that sums them, and wrappers add the passes they name") {
  struct Row {
    const char* spec;
    std::uint64_t launches;
    double bytes;  ///< per float32 value
  };
  // ef, ef21 and aqsgd around element-wise codecs: x and the state in, the payload and the state
  // out; with a scale of the tensor or of channels x and the state once more. aqsgd that keeps
  // float16: 2 + 4 and 4 + 2 beside it. hadamard: 4 + 4 and the inner codec's. ef_mixed: x in,
  // flags out; flags, e and x in, e and the payload out.
  const Row rows[] = {{"ef_mixed(topk(ratio=0.1,scope=token,index=u16))", 2, 16.85},
                      {"sign", 2, 4.125},
                      {"sign(scope=channel)", 2, 8.125},
                      {"ef(cast)", 1, 14},
                      {"ef21(cast)", 1, 14},
                      {"ef(none)", 1, 16},
                      {"aqsgd(cast)", 1, 14},
                      {"aqsgd(cast,cache=float16)", 3, 26},
                      {"ef(quantize(bits=8,scope=token))", 1, 13},
                      {"ef(quantize(bits=4,scope=group,group=32))", 1, 12.57},
                      {"ef21(minmax(bits=8,scope=token))", 1, 13.01},
                      {"ef(fp8(scope=token))", 1, 13},
                      {"ef(mx(format=fp8_e4m3))", 1, 13.04},
                      {"ef(nvfp4)", 2, 20.57},
                      {"ef21(fp8)", 2, 21},
                      {"ef(quantize(bits=8))", 2, 22},
                      {"ef(sign)", 3, 20.13},
                      {"ef21(sign(scope=channel))", 3, 20.13},
                      {"ef(sign(scope=token))", 1, 12.13},
                      {"ef(spike)", 1, 12.6},
                      // Two reads of x and the state and a sector of both for each of 4,096
                      // samples (4 bytes a value here); the state is written where it changes.
                      {"ef(topk(ratio=0.1,index=u32))", 11, 25.4},
                      {"ef21(topk(ratio=0.1,index=u32))", 11, 23.4},
                      {"aqsgd(topk(ratio=0.01,index=u32))", 11, 20.8},
                      {"ef(topk(ratio=0.1,scope=token,index=u16))", 1, 12.6},
                      {"ef21(topk(ratio=0.01,scope=token,index=u16))", 1, 8.9},
                      // Positions written and read; a sector of x and of the state for most of
                      // 0.1 of the values, or all of both.
                      {"ef(randk(ratio=0.1,sampling=stratified))", 2, 13.2},
                      {"ef21(randk(ratio=0.01,sampling=stratified))", 2, 1.1},
                      {"aqsgd(randk(ratio=0.01,sampling=stratified))", 2, 8.5},
                      // x and the state for the rotation and for its inverse; rotated values
                      // out, in, out and in; the payload out and in.
                      {"ef(hadamard(quantize(bits=8,scope=token)))", 4, 38},
                      {"ef21(hadamard(cast,block=1024))", 4, 40},
                      {"hadamard(cast)", 2, 14},
                      {"hadamard(cast,block=1024)", 2, 14},
                      {"srht(dim=512)", 2, 6}};
  for (const Row& row : rows) {
    INFO(row.spec);
    const Moved moved = encode(row.spec, DType::kFloat32);
    print(row.spec, moved);
    CHECK(moved.launches == row.launches);
    CHECK(moved.bytes <= row.bytes * static_cast<double>(kShape.elements()) * 1.06);
  }
}

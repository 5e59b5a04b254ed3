// SPDX-License-Identifier: Apache-2.0
// topk and randk on emulated kernels: the bytes and sums of the CPU on tensors that the golden
// files do not have (long scopes, ties, special values), and the bytes that kernels move.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "common/philox.hpp"
#include "compressors/api/codec.hpp"
#include "tests/cuda_emulator/emulated_memory.hpp"

using namespace tersor;
using namespace tersor::compressors;
using emulator::EmulatedMemory;
using emulator::schedule;
using emulator::ScopedOptions;

namespace {

enum class Fill { kNormal, kTies, kSpecial, kEqual, kZeros };

std::vector<float> make_values(std::int64_t n, Fill fill, std::uint32_t salt) {
  const Stream stream = make_stream(7, Purpose::kInit, salt);
  std::vector<float> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint32_t draw = stream.draw32(i);
    const float uniform = static_cast<float>(static_cast<std::int32_t>(draw)) * 0x1p-31f;
    switch (fill) {
      case Fill::kNormal: x[i] = uniform / (1.02f - std::abs(uniform)); break;
      case Fill::kTies: x[i] = static_cast<float>(static_cast<int>(draw % 7u) - 3); break;
      case Fill::kEqual: x[i] = -2.5f; break;
      case Fill::kZeros: x[i] = (draw & 1u) != 0 ? -0.0f : 0.0f; break;
      case Fill::kSpecial: {
        const std::uint32_t kind = draw % 11u;
        std::uint32_t bits = kind == 0   ? 0x7F800001u | (draw & 0x803FFFF0u)
                             : kind == 1 ? 0x7F800000u | (draw & 0x80000000u)
                             : kind == 2 ? draw & 0x807FFFFFu
                                         : draw;
        std::memcpy(&x[i], &bits, 4);
        break;
      }
    }
  }
  return x;
}

std::vector<std::byte> make_tensor(const Shape& shape, DType dtype, Fill fill, std::uint32_t salt) {
  const auto values = make_values(shape.elements(), fill, salt);
  std::vector<std::byte> bits(values.size() * item_bytes(dtype));
  if (dtype == DType::kFloat32)
    std::memcpy(bits.data(), values.data(), bits.size());
  else
    round_to(dtype, values, bits.data());
  return bits;
}

Context a_context() {
  Context context;
  context.seed = 0x1234567890ABCDEFu;
  context.step = 3;
  context.site = 5;
  context.rank = 2;
  context.ranks = 4;
  context.element_offset = 6;
  return context;
}

bool equal_floats(const std::vector<float>& a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(&a[i], &b[i], 4) != 0 && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  return true;
}

/// Encode, decode, accumulate and the sum of `ranks` payloads against the CPU.
void check(const std::string& spec, const Shape& shape, DType dtype, Fill fill, int ranks = 3,
           const DeviceOffsets& offsets = {}) {
  INFO(spec << " of " << to_string(dtype) << " " << shape.samples << "x" << shape.tokens << "x"
            << shape.hidden << ", fill " << static_cast<int>(fill));
  EmulatedMemory memory;
  const auto codec = make_codec(spec);
  REQUIRE(codec->supports(Device::kCuda));
  const auto device = on_device(codec, memory, offsets);
  Context context = a_context();
  std::vector<std::vector<std::byte>> payloads;
  for (int r = 0; r < ranks; ++r) {
    context.rank = static_cast<std::uint32_t>(r);
    const auto bits = make_tensor(shape, dtype, fill, static_cast<std::uint32_t>(r));
    const TensorView in{bits.data(), shape, dtype};
    std::vector<std::byte> expected(codec->payload_bytes(shape, dtype, context));
    codec->encode(0, in, expected, nullptr, context);
    if (r < 2) {
      std::vector<std::byte> got(expected.size());
      device->encode(0, in, got, nullptr, context);
      CHECK((got == expected));
    }
    payloads.push_back(std::move(expected));
  }
  const auto n = static_cast<std::size_t>(shape.elements());
  std::vector<float> expected(n), got(n);
  context.rank = 0;
  codec->decode(payloads[0], shape, dtype, expected, nullptr, context);
  device->decode(payloads[0], shape, dtype, got, nullptr, context);
  CHECK(equal_floats(expected, got));
  expected = got = make_values(shape.elements(), Fill::kZeros, 9);
  codec->decode_accumulate(payloads[0], shape, dtype, expected, nullptr, context);
  device->decode_accumulate(payloads[0], shape, dtype, got, nullptr, context);
  CHECK(equal_floats(expected, got));
  const std::vector<std::span<const std::byte>> received(payloads.begin(), payloads.end());
  codec->combine(received, shape, dtype, expected, nullptr, context);
  device->combine(received, shape, dtype, got, nullptr, context);
  CHECK(equal_floats(expected, got));
  std::vector<std::byte> expected_bits(n * item_bytes(dtype)), bits(expected_bits.size());
  codec->decode_bits(payloads[0], shape, dtype, expected_bits.data(), nullptr, context);
  device->decode_bits(payloads[0], shape, dtype, bits.data(), nullptr, context);
  CHECK((bits == expected_bits));
}

const DType kDTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};
const Fill kFills[] = {Fill::kNormal, Fill::kTies, Fill::kSpecial, Fill::kEqual, Fill::kZeros};
const char* const kCodings[] = {"auto", "i64", "u32", "u16", "bitmap", "ef"};

}  // namespace

TEST_CASE("emulated topk: every scope, coding and dtype") {
  for (const unsigned number : {0u, 1u, 2u}) {
    const ScopedOptions scope(schedule(number));
    for (const char* coding : kCodings)
      for (const char* rest : {"scope=tensor", "scope=sample", "scope=token", "scope=channel",
                               "scope=group,group=24", "scope=group,group=128"}) {
        const DType dtype = kDTypes[number];
        const std::string spec = "topk(ratio=0.13," + std::string(rest) + ",index=" + coding + ")";
        check(spec, {2, 5, 163}, dtype, Fill::kNormal, 2, {number % 2, number % 2, number % 2});
      }
  }
}

TEST_CASE("emulated topk: ties, special values, one and all") {
  const ScopedOptions scope(schedule(0));
  for (const Fill fill : kFills)
    for (const DType dtype : kDTypes)
      for (const char* spec : {"topk(k=1,scope=token)", "topk(k=100000,scope=token)",
                               "topk(ratio=0.3,scope=channel)", "topk(ratio=0.3,variant=rudakov)"})
        check(spec, {1, 33, 40}, dtype, fill, 2);
  for (const std::int64_t n : {1, 2, 31, 255, 256, 257, 1023, 1025, 4097})
    check("topk(k=3)", {1, 1, n}, DType::kFloat32, Fill::kTies, 2);
}

TEST_CASE("emulated topk: long scopes") {
  for (const unsigned number : {0u, 1u, 2u}) {
    const ScopedOptions scope(schedule(number));
    const DType dtype = kDTypes[number];
    for (const Fill fill : kFills) check("topk", {1, 1, 20000 + number}, dtype, fill, 2);
    check("topk(ratio=0.2,index=ef)", {1, 2, 17000}, dtype, Fill::kNormal, 2);
    check("topk(ratio=0.2,scope=sample,variant=rudakov)", {3, 1, 16392}, dtype, Fill::kTies, 2);
  }
  const ScopedOptions scope(schedule(0));
  check("topk(scope=token)", {1, 4, 16384}, DType::kBFloat16, Fill::kNormal, 2);
  check("topk(scope=channel,index=bitmap)", {1, 16400, 4}, DType::kFloat32, Fill::kNormal, 2);
  check("topk(k=2,scope=group,group=17000)", {1, 2, 20001}, DType::kFloat32, Fill::kNormal, 2);
  check("topk(ratio=0.1)", {1, 64, 1024}, DType::kFloat32, Fill::kNormal, 9);
}

TEST_CASE("emulated randk") {
  for (const unsigned number : {0u, 1u, 2u}) {
    const ScopedOptions scope(schedule(number));
    for (const char* sampling : {"uniform", "stratified"})
      for (const char* rest :
           {"shared=true", "shared=true,unbiased=true", "shared=false,unbiased=true,index=ef",
            "shared=false,index=bitmap", "shared=false,index=u16"}) {
        const std::string spec =
            "randk(ratio=0.07,sampling=" + std::string(sampling) + "," + rest + ")";
        check(spec, {1, 3, 331}, kDTypes[number], Fill::kSpecial, 2);
        check(spec, {1, 3, 5501}, kDTypes[number], Fill::kNormal, 2);
      }
  }
  const ScopedOptions scope(schedule(0));
  for (const char* spec : {"randk(k=1)", "randk(ratio=1)", "randk(ratio=1,sampling=stratified)",
                           "randk(k=1,shared=false)"})
    check(spec, {1, 2, 8500}, DType::kFloat32, Fill::kNormal, 2);
  check("randk(ratio=0.01,shared=false)", {1, 64, 1024}, DType::kBFloat16, Fill::kNormal, 9);
}

TEST_CASE("emulated sparse payloads that no encode makes stay inside the output") {
  ScopedOptions scope(schedule(0));
  EmulatedMemory memory;
  const Stream stream = make_stream(3, Purpose::kInit);
  for (const char* spec :
       {"topk(ratio=0.1,index=i64)", "topk(ratio=0.1,index=u16)", "topk(ratio=0.1,index=bitmap)",
        "topk(ratio=0.1,index=ef)", "topk(ratio=0.1,scope=token,index=ef)",
        "topk(ratio=0.1,scope=channel,index=u32)", "topk(ratio=0.3,scope=channel,index=ef)",
        "randk(ratio=0.1,shared=false,index=ef)"}) {
    INFO(spec);
    const auto codec = make_codec(spec);
    const auto device = on_device(codec, memory);
    const Shape shape{1, 9, 470};
    for (const std::uint32_t kind : {0u, 1u, 2u}) {
      std::vector<std::byte> payload(codec->payload_bytes(shape, DType::kFloat32, {}));
      for (std::size_t i = 0; i < payload.size(); ++i)
        payload[i] = static_cast<std::byte>(kind == 0 ? 0xFFu : kind == 1 ? 0u : stream.draw16(i));
      std::vector<float> out(static_cast<std::size_t>(shape.elements()));
      CHECK_NOTHROW(device->decode(payload, shape, DType::kFloat32, out, nullptr, {}));
    }
  }
}

TEST_CASE("emulated topk of a million elements, and what it moves") {
  ScopedOptions scope(schedule(0));
  check("topk", {1, 1024, 1024}, DType::kFloat32, Fill::kNormal, 1);

  // With a bracket from a sample two reads (8 N), the candidates, and what is written. The sample
  // takes a sector a key; candidates are read for three digits and for the tiles' counts.
  emulator::options().counts = true;
  emulator::options().checks_races = false;
  emulator::reset_counts();
  constexpr std::int64_t kElements = 256 * 1024;
  EmulatedMemory memory;
  const Shape shape{1, 256, 1024};
  const auto codec = make_codec("topk(index=u32)");
  const auto bits = make_tensor(shape, DType::kFloat32, Fill::kNormal, 1);
  std::vector<std::byte> payload(codec->payload_bytes(shape, DType::kFloat32, {}));
  on_device(codec, memory)->encode(0, {bits.data(), shape, DType::kFloat32}, payload, nullptr, {});
  double loaded = 0;
  double stored = 0;
  for (const auto& [kernel, counts] : emulator::counts()) {
    UNSCOPED_INFO(kernel << ": " << counts.launches << " launches, " << counts.loads.sectors
                         << " sectors loaded, " << counts.stores.sectors << " stored");
    loaded += 32.0 * static_cast<double>(counts.loads.distinct_sectors);
    stored += 32.0 * static_cast<double>(counts.stores.distinct_sectors);
  }
  const double n = kElements;
  std::printf("topk of float32: %.2f bytes a value loaded, %.2f stored\n", loaded / n, stored / n);
  CHECK(loaded > 8.0 * n);
  CHECK(loaded < 8.0 * n + 32.0 * 4096 + 4 * 4.0 * n / 40 + 0.1 * n);
  CHECK(stored < 0.05 * n * 8 + 4.0 * n / 16);
}

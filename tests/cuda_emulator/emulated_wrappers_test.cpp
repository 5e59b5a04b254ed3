// SPDX-License-Identifier: Apache-2.0
// Codecs on the emulated device against the CPU: payloads, decoded bits, sums and state of a
// train of messages, under several schedules and at unaligned addresses.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "common/philox.hpp"
#include "tests/cuda_emulator/emulated_memory.hpp"

using namespace tersor;
using namespace tersor::compressors;

namespace {

using Bytes = std::vector<std::byte>;

/// Values of mixed sizes; with `is_wild` also NaN, infinities, denormals, -0 and beyond float16.
Bytes message(const Shape& shape, DType dtype, std::uint32_t number, bool is_wild) {
  const Stream stream = make_stream(11, Purpose::kInit, number);
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  const float inf = std::numeric_limits<float>::infinity();
  const float wild[] = {inf,    -inf,     std::numeric_limits<float>::quiet_NaN(),
                        -0.0f,  70000.0f, -70000.0f,
                        1e-40f, -3e38f};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t draw = stream.draw32(i);
    const float scale = static_cast<float>(1u << (draw >> 28)) / 256.0f;
    values[i] = (static_cast<float>(draw & 0xFFFFu) / 32768.0f - 1.0f) * scale;
    if (draw % 97 == 0) values[i] = 0.0f;
    if (is_wild && draw % 29 == 0) values[i] = wild[draw / 29 % 8];
  }
  Bytes bits(values.size() * item_bytes(dtype));
  round_to(dtype, values, bits.data());
  return bits;
}

/// What a train of messages gives: everything that must not depend on where it runs.
struct Outcome {
  std::vector<Bytes> payloads;
  std::vector<Bytes> decoded;
  Bytes sender;
  Bytes receiver;
  Bytes summed;
};

Bytes canonical(std::vector<float> values) {
  round_to(DType::kFloat32, values, values.data());
  Bytes bytes(values.size() * sizeof(float));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Outcome run_messages(const Codec& codec, const Shape& shape, DType dtype, bool is_wild) {
  constexpr int kMessages = 4;
  Context context;
  context.seed = 5;
  context.site = 3;
  context.ranks = kMessages;
  Outcome outcome;
  const auto sender = codec.make_state(shape, dtype, context.ranks);
  const auto receiver = codec.make_state(shape, dtype, context.ranks);
  std::vector<float> total(static_cast<std::size_t>(shape.elements()), 0.25f);
  for (std::uint32_t m = 0; m < kMessages; ++m) {
    context.step = m;
    context.phase = m == 1 ? Phase::kEval : Phase::kTrain;
    const Bytes bits = message(shape, dtype, m, is_wild);
    Bytes payload(codec.payload_bytes(shape, dtype, context, 0, sender.get()));
    payload.resize(codec.encode(0, {bits.data(), shape, dtype}, payload, sender.get(), context));
    Bytes decoded(bits.size());
    codec.decode_bits(payload, shape, dtype, decoded.data(), receiver.get(), context);
    outcome.payloads.push_back(payload);
    outcome.decoded.push_back(decoded);
  }
  if (sender) outcome.sender = sender->save();
  if (receiver) outcome.receiver = receiver->save();
  if (codec.properties().state == StateKind::kSample) return outcome;
  const auto summing = codec.make_state(shape, dtype, context.ranks);
  const std::vector<std::span<const std::byte>> received(outcome.payloads.begin(),
                                                         outcome.payloads.end());
  codec.decode_accumulate(received[0], shape, dtype, total, summing.get(), context);
  outcome.summed = canonical(total);
  codec.combine(received, shape, dtype, total, summing.get(), context);
  const Bytes combined = canonical(total);
  outcome.summed.insert(outcome.summed.end(), combined.begin(), combined.end());
  return outcome;
}

/// Empty, or where two byte strings differ first.
std::string difference(const Bytes& expected, const Bytes& got) {
  const auto pair = std::mismatch(expected.begin(), expected.end(), got.begin(), got.end());
  if (pair.first == expected.end() && pair.second == got.end()) return {};
  const auto byte = [](auto at, auto end) {
    return at == end ? -1 : static_cast<int>(std::to_integer<unsigned>(*at));
  };
  return "byte " + std::to_string(pair.first - expected.begin()) + " of " +
         std::to_string(expected.size()) + ": expected " +
         std::to_string(byte(pair.first, expected.end())) + ", got " +
         std::to_string(byte(pair.second, got.end()));
}

void check_same(const std::string& spec, const Shape& shape, DType dtype, bool is_wild,
                unsigned schedules = 3) {
  const auto codec = make_codec(spec);
  if (!codec->supports(Device::kCuda)) {
    WARN(spec << " has no kernels yet");
    return;
  }
  INFO(spec << " of {" << shape.samples << ", " << shape.tokens << ", " << shape.hidden << "} "
            << to_string(dtype) << (is_wild ? ", wild values" : ""));
  const Outcome expected = run_messages(*codec, shape, dtype, is_wild);
  for (unsigned number = 0; number < schedules; ++number) {
    INFO("schedule " << number);
    const emulator::ScopedOptions scope(emulator::schedule(number));
    emulator::EmulatedMemory memory;
    const DeviceOffsets offsets = number == 1 ? DeviceOffsets{1, 1, 1} : DeviceOffsets{};
    const Outcome got = run_messages(*on_device(codec, memory, offsets), shape, dtype, is_wild);
    for (std::size_t m = 0; m < expected.payloads.size(); ++m) {
      INFO("message " << m);
      CHECK(difference(expected.payloads[m], got.payloads[m]) == "");
      CHECK(difference(expected.decoded[m], got.decoded[m]) == "");
    }
    CHECK(difference(expected.sender, got.sender) == "");
    CHECK(difference(expected.receiver, got.receiver) == "");
    CHECK(difference(expected.summed, got.summed) == "");
  }
}

void check_shapes(const std::string& spec) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    check_same(spec, {2, 3, 96}, dtype, false);
    check_same(spec, {3, 2, 67}, dtype, true);
  }
  check_same(spec, {1, 0, 8}, DType::kFloat32, false, 1);
  check_same(spec, {1, 1, 1}, DType::kFloat16, false, 1);
  check_same(spec, {1, 5, 1024}, DType::kBFloat16, true, 1);
}

}  // namespace

TEST_CASE("wrappers on the device give the bytes of the CPU") {
  for (const char* spec :
       {"none", "cast", "ef(cast)", "ef(none)", "ef21(cast(format=fp16))", "ef21(none)",
        "aqsgd(cast)", "aqsgd(cast,cache=float16)", "aqsgd(none,cache=cast)",
        "aqsgd(partial(cast,ratio=0.5))", "partial(cast,ratio=0.3)", "partial(none,ratio=0)",
        "partial(ef21(cast))", "gate(cast,min_bytes=600)", "hierarchical(none,cast)",
        "hierarchical(ef21(cast),cast)", "hierarchical(cast,ef(cast(format=fp16)))"})
    check_shapes(spec);
}

TEST_CASE("states rewritten in the pass that encodes are those of the CPU") {
  // Every reach of scaled.cuh (by hidden 96, 67 and 1,024), every coder, both meanings.
  for (const char* spec : {"ef(quantize(bits=4,scope=group,group=32))",
                           "ef(quantize(bits=3,scope=group,group=24))",
                           "ef(quantize(bits=8,scope=token,rounding=stochastic))",
                           "ef(quantize(bits=8))",
                           "ef21(quantize(bits=2))",
                           "ef(quantize(bits=5,scope=sample,scale=rms))",
                           "ef21(quantize(bits=6,scale=rms))",
                           "ef21(quantize(variant=bian))",
                           "ef(minmax(bits=8,scope=token))",
                           "ef21(minmax(bits=3,scope=channel))",
                           "ef(minmax(bits=7,scope=tensor,rounding=stochastic))",
                           "ef(fp8)",
                           "ef21(fp8(scope=token))",
                           "ef21(fp8(format=e5m2,scope=group,group=24))",
                           "ef(mx(format=fp6_e2m3))",
                           "ef21(mx(format=int8))",
                           "ef(nvfp4)",
                           "ef21(nvfp4)",
                           "aqsgd(quantize(bits=8,scope=token))",
                           "aqsgd(minmax,cache=float16)",
                           "aqsgd(fp8,cache=quantize(bits=8))"})
    check_shapes(spec);
  // More than a tile, and a long run of many.
  for (const char* spec :
       {"ef(quantize(bits=8,scope=token))", "ef21(quantize(bits=4,scope=tensor))",
        "ef(minmax(bits=5,scope=channel))", "ef21(cast)", "ef(nvfp4)"}) {
    check_same(spec, {1, 3, 3208}, DType::kFloat32, true, 2);
    check_same(spec, {1, 9, 2001}, DType::kBFloat16, false, 2);
  }
}

TEST_CASE("states rewritten beside signs and spikes are those of the CPU") {
  // Units of whole scopes, long scopes and all others; groups at whole bytes of the planes or not.
  for (const char* spec :
       {"ef(sign)", "ef21(sign(scope=sample))", "ef(sign(scope=token))",
        "ef21(sign(scope=channel))", "ef(sign(scope=group,group=32))",
        "ef21(sign(scope=group,group=24))", "aqsgd(sign)", "aqsgd(sign(scope=token),cache=float16)",
        "ef(spike)", "ef21(spike(bits=3,group=200))", "ef(spike(bits=1,group=9,reserve=4))",
        "aqsgd(spike(bits=8,group=256,reserve=5))"})
    check_shapes(spec);
  check_same("ef(sign)", {1, 40, 1024}, DType::kFloat32, true, 2);
  check_same("ef21(sign(scope=sample))", {3, 5, 1024}, DType::kFloat16, true, 2);
  check_same("ef(sign(scope=token))", {1, 3, 4104}, DType::kBFloat16, false, 2);
  check_same("ef(sign(scope=channel))", {1, 4200, 3}, DType::kFloat32, false, 1);
}

TEST_CASE("states rewritten beside what topk sends are those of the CPU") {
  for (const char* index : {"u16", "u32", "i64", "bitmap", "ef"})
    check_same("ef(topk(ratio=0.2,index=" + std::string(index) + "))", {3, 2, 67}, DType::kBFloat16,
               true);
  for (const char* spec :
       {"ef(topk(ratio=0.1))", "ef21(topk(k=1))", "aqsgd(topk(ratio=0.3))",
        "ef(topk(ratio=0.3,scope=sample,variant=rudakov))", "ef21(topk(k=7,scope=token,index=ef))",
        "ef(topk(ratio=0.5,scope=channel))", "ef21(topk(k=3,scope=channel,index=ef))",
        "aqsgd(topk(ratio=0.4,scope=channel,variant=rudakov))",
        "aqsgd(topk(ratio=0.5,variant=rudakov),cache=float16)",
        "ef(topk(k=5,scope=group,group=12))"})
    check_shapes(spec);
  // Scopes of several warps, and of tiles.
  for (const DType dtype : {DType::kFloat32, DType::kFloat16}) {
    check_same("ef(topk(ratio=0.05,scope=token))", {1, 2, 3001}, dtype, true, 2);
    check_same("ef21(topk(ratio=0.05))", {1, 5, 3001}, dtype, true, 2);
    check_same("ef(topk(ratio=0.01))", {1, 17, 2001}, dtype, dtype == DType::kFloat16, 2);
    check_same("ef21(topk(ratio=0.3,scope=sample,index=ef))", {2, 9, 2003}, dtype, true, 1);
    check_same("aqsgd(topk(ratio=0.02,scope=channel))", {1, 17001, 3}, dtype, false, 1);
    check_same("aqsgd(topk(ratio=0.1,variant=rudakov))", {1, 9, 2003}, dtype, true, 1);
  }
}

TEST_CASE("states rewritten beside what randk sends are those of the CPU") {
  for (const char* spec :
       {"ef(randk(ratio=0.1))", "ef21(randk(ratio=0.3))", "aqsgd(randk(ratio=0.2))",
        "ef(randk(ratio=0.25,sampling=stratified))", "ef21(randk(k=3,sampling=stratified))",
        "aqsgd(randk(k=5,unbiased=true),cache=float16)",
        "aqsgd(randk(ratio=0.3,sampling=stratified,unbiased=true))",
        "ef(randk(ratio=0.1,shared=false,index=ef))", "ef21(randk(k=9,shared=false,index=bitmap))",
        "aqsgd(randk(ratio=0.05,shared=false,index=u16))", "ef(randk(ratio=1))"})
    check_shapes(spec);
  // Several tiles, with and without positions in each; selection in passes over tiles.
  check_same("ef(randk(ratio=0.01))", {1, 9, 2003}, DType::kFloat32, true, 2);
  check_same("ef(randk(k=3))", {1, 5, 3001}, DType::kBFloat16, true, 2);
  check_same("aqsgd(randk(ratio=0.2,shared=false,index=i64))", {2, 5, 3001}, DType::kFloat16, true,
             1);
}

TEST_CASE("ef21 of more ranks than a launch takes gives the sums of the CPU") {
  constexpr std::uint32_t kRanks = 11;
  const Shape shape{1, 3, 67};
  const auto codec = make_codec(GENERATE(
      "ef21(quantize(bits=8,scope=token))", "ef21(cast)", "ef21(minmax(bits=3,scope=channel))",
      "ef21(none)", "ef21(quantize(bits=3,scope=group,group=24))", "ef21(topk(ratio=0.2))"));
  const emulator::ScopedOptions scope(emulator::schedule(0));
  emulator::EmulatedMemory memory;
  const auto device = on_device(codec, memory);
  const auto expected_state = codec->make_state(shape, DType::kFloat16, kRanks);
  const auto state = device->make_state(shape, DType::kFloat16, kRanks);
  for (const Phase phase : {Phase::kTrain, Phase::kEval, Phase::kTrain}) {
    Context context;
    context.ranks = kRanks;
    context.phase = phase;
    std::vector<Bytes> payloads;
    for (std::uint32_t r = 0; r < kRanks; ++r) {
      const auto sender = codec->make_state(shape, DType::kFloat16, kRanks);
      const Bytes bits = message(shape, DType::kFloat16, r, r == 3);
      payloads.emplace_back(codec->payload_bytes(shape, DType::kFloat16, context));
      codec->encode(0, {bits.data(), shape, DType::kFloat16}, payloads[r], sender.get(), context);
    }
    const std::vector<std::span<const std::byte>> received(payloads.begin(), payloads.end());
    std::vector<float> expected(static_cast<std::size_t>(shape.elements()));
    std::vector<float> got(expected.size());
    codec->combine(received, shape, DType::kFloat16, expected, expected_state.get(), context);
    device->combine(received, shape, DType::kFloat16, got, state.get(), context);
    CHECK(difference(canonical(expected), canonical(got)) == "");
    CHECK(difference(expected_state->save(), state->save()) == "");
  }
}

TEST_CASE("transforms of every size give the bytes of the CPU") {
  for (const char* spec :
       {"hadamard(none)", "hadamard(cast,block=512)", "hadamard(cast,block=1)",
        "hadamard(none,block=4)", "hadamard(ef21(cast),block=16)", "ef(hadamard(cast))",
        "ef21(hadamard(quantize(bits=3,scope=token),block=512))",
        "aqsgd(hadamard(topk(ratio=0.3),block=4))",
        "aqsgd(hadamard(randk(ratio=0.3,unbiased=true),block=8),cache=float16)",
        "ef(hadamard(hadamard(sign,block=8),block=32))"})
    check_shapes(spec);
  for (const char* spec : {"hadamard(none,block=1048576)", "hadamard(cast,block=8192)",
                           "ef(hadamard(cast,block=16384))"}) {
    check_same(spec, {1, 2, 4096}, DType::kFloat16, true, 2);
    check_same(spec, {1, 2, 8192 + 300}, DType::kFloat32, false, 2);
    check_same(spec, {1, 1, 16384 + 4096 + 7}, DType::kBFloat16, true, 1);
  }
  check_same("hadamard(none,block=1048576)", {1, 1, 65536 * 2}, DType::kFloat32, false, 1);
  for (const Shape& shape : {Shape{1, 3, 96}, Shape{2, 2, 67}, Shape{1, 9, 1024}}) {
    check_same("srht(dim=16)", shape, DType::kFloat32, true);
    check_same("srht(dim=33)", shape, DType::kBFloat16, false);
    check_same("aqsgd(srht(dim=16))", shape, DType::kBFloat16, true);
    check_same("srht(dim=64)", shape, DType::kFloat16, true);
  }
  check_same("srht(dim=1)", {2, 5, 3}, DType::kFloat16, true);
  check_same("srht(dim=2)", {1, 5, 5}, DType::kFloat32, true);
  check_same("srht(dim=700)", {1, 2, 4097}, DType::kFloat32, true, 2);
  check_same("srht(dim=5)", {1, 2, 9000}, DType::kBFloat16, false, 2);
}

TEST_CASE("signs and spikes on the device give the bytes of the CPU") {
  for (const char* spec : {"sign", "sign(scope=sample)", "sign(scope=token)", "sign(scope=channel)",
                           "sign(scope=group,group=32)", "sign(scope=group,group=24)", "spike",
                           "spike(bits=2,group=32,reserve=3)", "spike(bits=8,group=256,reserve=5)",
                           "spike(bits=1,group=9,reserve=4)", "spike(bits=3,group=200)"})
    check_shapes(spec);
  check_same("sign", {1, 40, 1024}, DType::kFloat32, true);
  check_same("sign(scope=sample)", {3, 5, 1024}, DType::kFloat16, true);
  check_same("sign(scope=token)", {1, 3, 4104}, DType::kBFloat16, false);
  check_same("sign(scope=channel)", {1, 4200, 3}, DType::kFloat32, false, 1);
}

TEST_CASE("both halves of ef_mixed on the device are those of the CPU") {
  for (const char* index : {"u16", "u32", "i64", "bitmap", "ef"})
    check_same("ef_mixed(topk(ratio=0.2,index=" + std::string(index) + "))", {3, 2, 67},
               DType::kBFloat16, true);
  for (const char* spec :
       {"ef_mixed(topk(ratio=0.1))", "ef_mixed(topk(k=1))", "ef_mixed(topk(ratio=1))",
        "ef_mixed(topk(ratio=0.3,scope=sample,index=bitmap))",
        "ef_mixed(topk(k=7,scope=token,index=ef))", "ef_mixed(topk(ratio=0.5,scope=channel))",
        "ef_mixed(topk(k=3,scope=channel,index=ef))", "ef_mixed(topk(k=5,scope=group,group=12))"})
    check_shapes(spec);
  // Scopes of several warps, and of tiles.
  for (const DType dtype : {DType::kFloat32, DType::kFloat16}) {
    check_same("ef_mixed(topk(ratio=0.05,scope=token))", {1, 2, 3001}, dtype, true, 2);
    check_same("ef_mixed(topk(ratio=0.05))", {1, 5, 3001}, dtype, true, 2);
    check_same("ef_mixed(topk(ratio=0.01))", {1, 17, 2001}, dtype, dtype == DType::kFloat16, 2);
    check_same("ef_mixed(topk(ratio=0.3,scope=sample,index=ef))", {2, 9, 2003}, dtype, true, 1);
    check_same("ef_mixed(topk(ratio=0.02,scope=channel))", {1, 17001, 3}, dtype, false, 1);
  }
}

TEST_CASE("what a device keeps can be saved, restored and read by the CPU") {
  const Shape shape{1, 3, 40};
  for (const char* spec : {"ef(cast)", "ef21(cast)", "ef_mixed(topk(ratio=0.2))", "aqsgd(cast)",
                           "aqsgd(cast,cache=float16)"}) {
    INFO(spec);
    const auto codec = make_codec(spec);
    const emulator::ScopedOptions scope(emulator::schedule(0));
    emulator::EmulatedMemory memory;
    const auto device = on_device(codec, memory);
    const auto encode = [&](const Codec& where, State* state, std::uint32_t number) {
      const Bytes bits = message(shape, DType::kFloat32, number, false);
      Bytes payload(where.payload_bytes(shape, DType::kFloat32, {}, 0, state));
      where.encode(0, {bits.data(), shape, DType::kFloat32}, payload, state, {});
      return payload;
    };
    const auto first = device->make_state(shape, DType::kFloat32, 1);
    encode(*device, first.get(), 0);
    const Bytes saved = first->save();
    const auto on_cpu = codec->make_state(shape, DType::kFloat32, 1);
    on_cpu->restore(saved);
    const auto second = device->make_state(shape, DType::kFloat32, 1);
    second->restore(saved);
    const Bytes expected = encode(*device, first.get(), 1);
    CHECK(encode(*codec, on_cpu.get(), 1) == expected);
    CHECK(encode(*device, second.get(), 1) == expected);
    CHECK(second->save() == on_cpu->save());
  }
}

TEST_CASE("a state in a file cannot move to a device") {
  emulator::EmulatedMemory memory;
  const auto state =
      make_codec("aqsgd(cast,store=file)")->make_state({1, 1, 8}, DType::kFloat32, 1);
  CHECK_THROWS_WITH(state->move_to(memory), Catch::Contains("keeps samples on the host"));
}

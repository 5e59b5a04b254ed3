// SPDX-License-Identifier: Apache-2.0
// tersor-bench: encode and decode of every codec beside memcpy of the same tensor, interleaved.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/number.hpp"
#include "compressors/api/registry.hpp"
#include "compressors/bench/material.hpp"

namespace tersor::compressors::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_of(auto&& call) {
  const auto begin = Clock::now();
  call();
  benchmark::ClobberMemory();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

enum class Operation : std::uint8_t { kEncode, kDecode, kAccumulate };

/// One codec on one tensor. Every iteration times memcpy of the tensor and then the operation, so
/// that both see the same machine; the row's time is the operation's.
void run(benchmark::State& state, const Codec& codec, const Material& material, Operation operation,
         std::uint32_t ranks) {
  const TensorView in = material.view();
  Context context;
  context.seed = 1;
  context.ranks = ranks;
  context.sample_ids = material.ids;
  std::vector<std::byte> workspace(codec.workspace_bytes(in.shape, in.dtype, context));
  context.workspace = workspace;
  const auto sender = codec.make_state(in.shape, in.dtype, ranks);
  const auto receiver = codec.make_state(in.shape, in.dtype, ranks);
  std::vector<std::byte> payload;
  std::vector<float> out(static_cast<std::size_t>(in.shape.elements()));
  std::vector<std::byte> copy(in.bytes());
  const auto encode = [&] { return codec.encode(0, in, payload, sender.get(), context); };
  // Two messages first: the size of a stateful codec's payload then stays.
  for (int message = 0; message < 2; ++message) {
    payload.resize(codec.payload_bytes(in.shape, in.dtype, context, 0, sender.get()));
    payload.resize(encode());
    codec.decode(payload, in.shape, in.dtype, out, receiver.get(), context);
  }
  const auto work = [&] {
    if (operation == Operation::kEncode) {
      encode();
    } else if (operation == Operation::kDecode) {
      codec.decode(payload, in.shape, in.dtype, out, receiver.get(), context);
    } else {
      for (std::uint32_t rank = 0; rank < ranks; ++rank)
        codec.decode_accumulate(payload, in.shape, in.dtype, out, receiver.get(), context);
    }
  };
  work();
  std::memcpy(copy.data(), in.data, in.bytes());
  std::vector<double> copies;
  std::vector<double> works;
  for ([[maybe_unused]] auto unused : state) {
    copies.push_back(seconds_of([&] { std::memcpy(copy.data(), in.data, in.bytes()); }));
    works.push_back(seconds_of(work));
    state.SetIterationTime(works.back());
  }
  const double seconds = median(works);
  state.counters["payload_bytes"] = static_cast<double>(payload.size());
  state.counters["raw_bytes"] = static_cast<double>(in.bytes());
  state.counters["median_ns"] = seconds * 1e9;
  state.counters["memcpy_median_ns"] = median(copies) * 1e9;
  state.counters["GB_per_s"] = static_cast<double>(in.bytes()) / seconds * 1e-9;
  /// > 1: faster than memcpy of the same tensor.
  state.counters["memcpy_ratio"] = median(copies) / seconds;
}

std::vector<std::string> specs_of_registry() {
  std::vector<std::string> specs;
  for (const auto& [name, info] : registered_codecs()) {
    const bool has_defaults =
        std::all_of(info.parameters.begin(), info.parameters.end(),
                    [](const Parameter& p) { return p.default_text || p.is_optional; });
    if (has_defaults) specs.push_back(name);
    specs.insert(specs.end(), info.examples.begin(), info.examples.end());
  }
  return specs;
}

bool takes(const Codec& codec, const Material& material) {
  try {
    Context context;
    context.sample_ids = material.ids;
    codec.payload_bytes(material.shape, material.dtype, context);
    return codec.rounds() == 1 && !codec.properties().learned;
  } catch (const Error&) {
    return false;
  }
}

void add(const std::string& operation, const std::shared_ptr<const Codec>& codec,
         const std::shared_ptr<const Material>& material, Operation what, std::uint32_t ranks,
         bool is_quick) {
  const std::string name = operation + "/" + codec->canonical() + "/" + material->name();
  auto* row = benchmark::RegisterBenchmark(name.c_str(),
                                           [codec, material, what, ranks](benchmark::State& state) {
                                             run(state, *codec, *material, what, ranks);
                                           });
  row->UseManualTime()->Unit(benchmark::kMicrosecond);
  if (is_quick) row->Iterations(5);
}

void add_rows(const std::vector<std::string>& specs, bool is_quick) {
  std::vector<std::shared_ptr<const Material>> materials;
  for (const Material& material : make_materials(is_quick))
    materials.push_back(std::make_shared<const Material>(material));
  for (const std::string& spec : specs) {
    const auto codec = make_codec(spec);
    for (const auto& material : materials) {
      if (!takes(*codec, *material)) continue;
      add("encode", codec, material, Operation::kEncode, 1, is_quick);
      add("decode", codec, material, Operation::kDecode, 1, is_quick);
      for (const std::uint32_t ranks :
           is_quick ? std::vector<std::uint32_t>{2} : std::vector<std::uint32_t>{2, 4, 8})
        add("accumulate" + std::to_string(ranks), codec, material, Operation::kAccumulate, ranks,
            is_quick);
    }
  }
}

constexpr const char* kHelp =
    "tersor-bench [--quick] [--codec SPEC]... [Google Benchmark's options]\n"
    "Times encode, decode and decode-and-accumulate of 2, 4, 8 payloads of every codec and "
    "example,\n"
    "with memcpy of the same tensor timed before each call. memcpy_ratio > 1: faster than memcpy.\n"
    "  --codec SPEC   only this codec (repeat for more)\n"
    "  --quick        one small tensor, five iterations: whether it runs, not how fast\n"
    "Examples:\n"
    "  tersor-bench --benchmark_out=bench.json --benchmark_out_format=json\n"
    "  tersor-bench --codec 'quantize(bits=4)' --benchmark_filter=encode\n";

}  // namespace
}  // namespace tersor::compressors::bench

int main(int argc, char** argv) {
#ifndef NDEBUG
  std::fprintf(stderr,
               "tersor-bench: this is no release build, its times mean nothing: configure with "
               "-DCMAKE_BUILD_TYPE=Release\n");
  return 1;
#endif
  bool is_quick = false;
  std::vector<std::string> specs;
  std::vector<char*> rest{argv[0]};
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--quick") {
      is_quick = true;
    } else if (word == "--codec" && i + 1 < argc) {
      specs.emplace_back(argv[++i]);
    } else if (word == "--help") {
      std::fputs(tersor::compressors::bench::kHelp, stdout);
      return 0;
    } else {
      rest.push_back(argv[i]);
    }
  }
  int count = static_cast<int>(rest.size());
  benchmark::Initialize(&count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(count, rest.data())) return 1;
  try {
    namespace bench = tersor::compressors::bench;
    if (specs.empty()) specs = bench::specs_of_registry();
    bench::add_rows(specs, is_quick);
    const std::size_t rows = benchmark::RunSpecifiedBenchmarks();
    if (rows == 0) throw tersor::Error(tersor::ErrorKind::kUsage, "no row matches");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tersor-bench: %s\n", error.what());
    return 1;
  }
  benchmark::Shutdown();
  return 0;
}

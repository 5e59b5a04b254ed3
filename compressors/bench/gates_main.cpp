// SPDX-License-Identifier: Apache-2.0
// tersor-bench-gates: fails where a codec falls below its gate, a ratio to memcpy that leaves a
// factor of two and more for noise. Published goals and measurements: docs/performance.md.
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "common/printable.hpp"
#include "compressors/bench/bench_row.hpp"
#include "compressors/spec/registry.hpp"

namespace tersor::compressors::bench {
namespace {

struct Gate {
  std::string_view operation;
  const char* spec;
  double ratio;  ///< of memcpy's time to the operation's, float32 [4096,1024], one thread
};

constexpr std::array kGates{
    Gate{"encode", "quantize", 0.40},
    Gate{"encode", "quantize(bits=4)", 0.40},
    Gate{"encode", "quantize(bits=2)", 0.40},
    Gate{"encode", "quantize(rounding=stochastic)", 0.12},
    Gate{"decode", "quantize", 0.60},
    Gate{"decode", "quantize(bits=4)", 0.60},
    Gate{"decode", "quantize(bits=2)", 0.60},
    Gate{"encode", "minmax", 0.40},
    Gate{"encode", "minmax(scope=group,group=512)", 0.45},
    Gate{"encode", "minmax(bits=4,scope=group,group=512)", 0.45},
    Gate{"encode", "minmax(bits=2,scope=group,group=512)", 0.45},
    Gate{"decode", "minmax(scope=group,group=512)", 0.60},
    Gate{"encode", "sign", 0.80},
    Gate{"decode", "sign", 0.80},
    Gate{"encode", "fp8", 0.35},
    Gate{"decode", "fp8", 0.60},
    Gate{"encode", "mx", 0.20},
    Gate{"encode", "mx(format=fp4_e2m1)", 0.20},
    Gate{"encode", "hadamard(none)", 0.25},
    Gate{"encode", "srht(dim=102)", 0.15},
    Gate{"encode", "topk(ratio=0.1)", 0.10},
    Gate{"encode", "topk", 0.20},
    Gate{"decode", "topk(ratio=0.1)", 0.50},
    Gate{"decode", "topk", 0.70},
    Gate{"encode", "topk(ratio=0.1,scope=token)", 0.08},
    Gate{"encode", "topk(scope=token)", 0.08},
    Gate{"encode", "randk(ratio=0.1,sampling=stratified)", 0.50},
    Gate{"encode", "randk(sampling=stratified)", 2.50},
    Gate{"encode", "powersgd", 0.20},
    Gate{"encode", "powersgd(rank=8)", 0.12},
};

constexpr int kTries = 3;

/// The fastest memcpy over the fastest call: other work on the machine slows most samples, not all.
double best_ratio(const Gate& gate, const Material& material, double seconds) {
  const auto codec = make_codec(gate.spec);
  Row row(*codec, material, gate.operation == "encode" ? Operation::kEncode : Operation::kDecode, 1,
          1);
  Effort effort;
  effort.seconds = seconds;
  const Timing t = measure([&] { row.work(); }, [&] { row.copy(); }, effort);
  return std::max(t.ratio, t.copy_least_ns / t.least_ns);
}

int run() {
  const std::int64_t targets = hwy::SupportedTargets();
  hwy::GetChosenTarget().Update(targets);  // the line above chose among all that the machine has
  if ((targets & (HWY_AVX2 | HWY_AVX3 | HWY_AVX3_DL)) == 0) {
    std::puts("SKIPPED: this machine has no AVX2, and no gate is set for scalar code");
    return 0;
  }
  const Material material = make_material({1, 4096, 1024}, DType::kFloat32);
  int missed = 0;
  std::printf("    gate   ratio  operation (%s)\n",
              (targets & (HWY_AVX3 | HWY_AVX3_DL)) != 0 ? "AVX-512" : "AVX2");
  for (const Gate& gate : kGates) {
    double ratio = 0;
    for (int attempt = 1; attempt <= kTries && ratio < gate.ratio; ++attempt)
      ratio = std::max(ratio, best_ratio(gate, material, attempt == 1 ? 0.1 : 0.6));
    const bool is_missed = ratio < gate.ratio;
    missed += is_missed ? 1 : 0;
    std::printf("%8.2f%8.2f  %.*s %s%s\n", gate.ratio, ratio,
                static_cast<int>(gate.operation.size()), gate.operation.data(), gate.spec,
                is_missed ? "  BELOW ITS GATE" : "");
  }
  std::printf("%d of %zu below their gates\n", missed, kGates.size());
  return missed == 0 ? 0 : 1;
}

/// What is wrong with a command line that is not one of those that main takes.
std::string complaint(const std::vector<std::string_view>& words) {
  const std::string first(words[0]);
  const std::string second(words.size() > 1 ? words[1] : "");
  if (first != "--list" && first != "--target") return "unknown argument '" + first + "'";
  if (words.size() > 2) return "unknown argument '" + std::string(words[2]) + "'";
  if (first == "--list") return "unknown argument '" + second + "' after --list";
  return words.size() == 1 ? "--target needs a value" : "--target " + second + ": not avx2";
}

}  // namespace
}  // namespace tersor::compressors::bench

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  if (words.size() == 1 && words[0] == "--list") {
    for (const auto& gate : tersor::compressors::bench::kGates)
      std::printf("%.2f %.*s %s\n", gate.ratio, static_cast<int>(gate.operation.size()),
                  gate.operation.data(), gate.spec);
    return 0;
  }
  if (words.size() == 2 && words[0] == "--target" && words[1] == "avx2") {
    hwy::DisableTargets(HWY_AVX3 | HWY_AVX3_DL);
  } else if (!words.empty()) {
    std::fprintf(stderr,
                 "tersor-bench-gates: %s\n"
                 "usage: tersor-bench-gates [--list | --target avx2]\n"
                 "  --list         gate, operation and spec only\n"
                 "  --target avx2  without the wider instruction sets\n",
                 tersor::printable(tersor::compressors::bench::complaint(words)).c_str());
    return 2;
  }
  try {
    return tersor::compressors::bench::run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tersor-bench-gates: %s\n", tersor::printable(error.what()).c_str());
    return 1;
  }
}

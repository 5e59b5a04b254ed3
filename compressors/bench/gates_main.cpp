// SPDX-License-Identifier: Apache-2.0
// tersor-bench-gates: fails where a codec falls below a gate that it declares (SpeedGate).
// Published goals and measurements: docs/performance.md.
#include <hwy/targets.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "common/log.hpp"
#include "compressors/bench/bench_row.hpp"
#include "compressors/spec/registry.hpp"

namespace tersor::compressors::bench {
namespace {

std::vector<SpeedGate> all_gates() {
  std::vector<SpeedGate> gates;
  for (const auto& [name, info] : registered_codecs())
    gates.insert(gates.end(), info.gates.begin(), info.gates.end());
  return gates;
}

constexpr int kTries = 3;

/// The fastest memcpy over the fastest call: other work on the machine slows most samples, not all.
double best_ratio(const SpeedGate& gate, const Material& material, double seconds) {
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
  const std::vector<SpeedGate> gates = all_gates();
  for (const SpeedGate& gate : gates) {
    double ratio = 0;
    for (int attempt = 1; attempt <= kTries && ratio < gate.ratio; ++attempt)
      ratio = std::max(ratio, best_ratio(gate, material, attempt == 1 ? 0.1 : 0.6));
    const bool is_missed = ratio < gate.ratio;
    missed += is_missed ? 1 : 0;
    std::printf("%8.2f%8.2f  %s %s%s\n", gate.ratio, ratio, gate.operation.c_str(),
                gate.spec.c_str(), is_missed ? "  BELOW ITS GATE" : "");
  }
  std::printf("%d of %zu below their gates\n", missed, gates.size());
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
  tersor::set_log_name("tersor-bench-gates");
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  if (words.size() == 1 && words[0] == "--list") {
    for (const auto& gate : tersor::compressors::bench::all_gates())
      std::printf("%.2f %s %s\n", gate.ratio, gate.operation.c_str(), gate.spec.c_str());
    return 0;
  }
  if (words.size() == 2 && words[0] == "--target" && words[1] == "avx2") {
    hwy::DisableTargets(HWY_AVX3 | HWY_AVX3_DL);
  } else if (!words.empty()) {
    tersor::log_line(tersor::LogLevel::kError, tersor::compressors::bench::complaint(words));
    std::fputs(
        "usage: tersor-bench-gates [--list | --target avx2]\n"
        "  --list         gate, operation and spec only\n"
        "  --target avx2  without the wider instruction sets\n",
        stderr);
    return 2;
  }
  try {
    return tersor::compressors::bench::run();
  } catch (const std::exception& error) {
    tersor::log_line(tersor::LogLevel::kError, error.what());
    return 1;
  }
}

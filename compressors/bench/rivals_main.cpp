// SPDX-License-Identifier: Apache-2.0
// tersor-bench-rivals: FBGEMM's row-wise kernels, as libtorch ships them, beside memcpy of the same
// tensor, measured as tersor-bench measures codecs.
#include <benchmark/benchmark.h>
#include <fbgemm/QuantUtils.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "common/log.hpp"
#include "compressors/bench/counters.hpp"
#include "compressors/bench/interleaved.hpp"
#include "compressors/bench/material.hpp"
#include "compressors/bench/reporter.hpp"

namespace tersor::compressors::bench {
namespace {

/// A row of `columns` values becomes its codes with scale and offset behind them.
struct Kernel {
  int bits;
  std::size_t row_bytes(std::int64_t columns) const {
    return static_cast<std::size_t>(columns * bits / 8) + (bits == 8 ? 8 : 4);
  }
  void encode(const float* x, const Shape& shape, std::uint8_t* out) const {
    const auto rows = static_cast<std::size_t>(shape.rows());
    const auto columns = static_cast<int>(shape.hidden);
    if (bits == 8)
      fbgemm::FloatOrHalfToFused8BitRowwiseQuantizedSBFloat<float>(x, rows, columns, out);
    else
      fbgemm::FloatOrHalfToFusedNBitRowwiseQuantizedSBHalf<float>(bits, x, rows, columns, out);
  }
  void decode(const std::uint8_t* payload, const Shape& shape, float* out) const {
    const auto rows = static_cast<std::size_t>(shape.rows());
    const auto columns = static_cast<int>(row_bytes(shape.hidden));
    if (bits == 8)
      fbgemm::Fused8BitRowwiseQuantizedSBFloatToFloatOrHalf<float>(payload, rows, columns, out);
    else
      fbgemm::FusedNBitRowwiseQuantizedSBHalfToFloatOrHalf<float>(bits, payload, rows, columns,
                                                                  out);
  }
};

void run(benchmark::State& state, const Kernel& kernel, const Shape& shape, bool is_encode) {
  const Material material = make_material(shape, DType::kFloat32);
  const auto* x = reinterpret_cast<const float*>(material.bits.data());
  std::vector<float> out(static_cast<std::size_t>(shape.elements()));
  std::vector<std::uint8_t> payload(static_cast<std::size_t>(shape.rows()) *
                                    kernel.row_bytes(shape.hidden));
  std::vector<std::byte> copied(material.bits.size());
  kernel.encode(x, shape, payload.data());
  const std::function<void()> work = [&] {
    if (is_encode)
      kernel.encode(x, shape, payload.data());
    else
      kernel.decode(payload.data(), shape, out.data());
  };
  const std::function<void()> copy = [&] {
    std::memcpy(copied.data(), material.bits.data(), copied.size());
  };
  for ([[maybe_unused]] auto unused : state) {
    const Timing timing = measure(work, copy, {});
    state.SetIterationTime(timing.median_ns * 1e-9);
    set_counters(state, timing, {copied.size(), payload.size(), copied.size() + payload.size()});
  }
}

}  // namespace
}  // namespace tersor::compressors::bench

int main(int argc, char** argv) {
  namespace bench = tersor::compressors::bench;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  for (const tersor::Shape& shape : {tersor::Shape{1, 4096, 1024}, tersor::Shape{1, 1024, 384}}) {
    for (const int bits : {8, 4, 2}) {
      for (const bool is_encode : {true, false}) {
        const std::string name = std::string(is_encode ? "encode" : "decode") + "/fbgemm rowwise " +
                                 std::to_string(bits) + " bits/float32/1x" +
                                 std::to_string(shape.tokens) + "x" + std::to_string(shape.hidden);
        benchmark::RegisterBenchmark(name.c_str(),
                                     [bits, shape, is_encode](benchmark::State& state) {
                                       bench::run(state, {bits}, shape, is_encode);
                                     })
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond)
            ->Iterations(1);
      }
    }
  }
  if (bench::run_rows() == 0) {
    tersor::set_log_name("tersor-bench-rivals");
    tersor::log_line(tersor::LogLevel::kError, "no row matches");
    return 1;
  }
  benchmark::Shutdown();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "compressors/bench/counters.hpp"

#include <cmath>

namespace tersor::compressors::bench {

void set_counters(benchmark::State& state, const Timing& t, const RowBytes& bytes) {
  // What is no number (a share of no bytes) is left out: JSON has no NaN.
  const auto set = [&](const char* name, double value) {
    if (std::isfinite(value)) state.counters[name] = value;
  };
  set("median_ns", t.median_ns);
  set("low_ns", t.low_ns);
  set("high_ns", t.high_ns);
  set("least_ns", t.least_ns);
  set("memcpy_ns", t.copy_median_ns);
  set("memcpy_least_ns", t.copy_least_ns);
  set("memcpy_ratio", t.ratio);
  set("memcpy_ratio_low", t.ratio_low);
  set("memcpy_ratio_high", t.ratio_high);
  set("raw_bytes", static_cast<double>(bytes.raw));
  set("payload_bytes", static_cast<double>(bytes.payload));
  set("moved_bytes", static_cast<double>(bytes.moved));
  // Of the time that these bytes take at the speed of memcpy, which reads and writes the tensor.
  set("bound_share",
      t.ratio * static_cast<double>(bytes.moved) / (2.0 * static_cast<double>(bytes.raw)));
  set("GB_per_s", static_cast<double>(bytes.raw) / t.median_ns);
  set("samples", t.samples);
  set("noisy", t.noisy);
}

}  // namespace tersor::compressors::bench

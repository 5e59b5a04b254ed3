// SPDX-License-Identifier: Apache-2.0
#include "compressors/bench/counters.hpp"

namespace tersor::compressors::bench {

void set_counters(benchmark::State& state, const Timing& t, const RowBytes& bytes) {
  auto& c = state.counters;
  c["median_ns"] = t.median_ns;
  c["low_ns"] = t.low_ns;
  c["high_ns"] = t.high_ns;
  c["least_ns"] = t.least_ns;
  c["memcpy_ns"] = t.copy_median_ns;
  c["memcpy_least_ns"] = t.copy_least_ns;
  c["memcpy_ratio"] = t.ratio;
  c["memcpy_ratio_low"] = t.ratio_low;
  c["memcpy_ratio_high"] = t.ratio_high;
  c["raw_bytes"] = static_cast<double>(bytes.raw);
  c["payload_bytes"] = static_cast<double>(bytes.payload);
  c["moved_bytes"] = static_cast<double>(bytes.moved);
  // Of the time that these bytes take at the speed of memcpy, which reads and writes the tensor.
  c["bound_share"] =
      t.ratio * static_cast<double>(bytes.moved) / (2.0 * static_cast<double>(bytes.raw));
  c["GB_per_s"] = static_cast<double>(bytes.raw) / t.median_ns;
  c["samples"] = t.samples;
  c["restless"] = t.restless;
}

}  // namespace tersor::compressors::bench

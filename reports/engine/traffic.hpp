// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reports/engine/context.hpp"

namespace tersor::reports {

/// Degrees of tensor parallelism for which the volume is shown (METHODS section 1, "Volume").
constexpr std::array<int, 3> kShownRanks{2, 4, 8};

/// Wire bytes that one rank sends for a payload, by the collective's algorithm: ring all-reduce
/// 2 (p - 1) / p of the buffer, all-gather (p - 1) payloads, all-to-all (p - 1) / p of the parts.
/// NaN between the ranks of a node or the nodes of `hierarchical`: their number at another p is not
/// known. `second_of_two_steps`: the payload was one of `measured_ranks` chunks, and is one of p.
double sent_bytes(const std::string& collective, double payload_bytes, int ranks,
                  int measured_ranks, bool second_of_two_steps);

/// Bytes of one rank and training step of a cell, mean over its ok seeds.
struct TrafficSummary {
  std::int64_t n = 0;
  int ranks = 1;  ///< measured
  /// The compared sites: those that some codec of the group compresses (all, where none does).
  double raw = 0, payload = 0, metadata = 0, sent = 0;
  std::optional<double> payload_deviation;  ///< over seeds
  std::map<int, double> sent_at;       ///< by p: counted where p is the run's, else by the codec;
                                       ///< runs that did not record that: by formula
  std::map<int, double> reference_at;  ///< cast(format=bf16) at the same sites, by formula
  /// Largest relative distance of formula and count at the measured p.
  double formula_gap = 0;
  double sent_everywhere = 0;  ///< all sites, measured
};

/// By group hash and codec.
std::map<std::pair<std::string, std::string>, TrafficSummary> traffic_summaries(Context& context);

}  // namespace tersor::reports

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/status.hpp"

namespace tersor::results {

/// A quantity of a case with all its values, in the order in which they were taken.
struct MeasuredQuantity {
  std::string name;
  std::string unit;  ///< "ns", "B", "B/s", "1/s", "1"
  std::vector<double> values;
};

/// One case of a file: what was done to which message, and what came out.
struct MeasuredCase {
  std::string name;
  std::string operation;
  std::optional<std::string> spec;
  std::optional<std::string> dtype;
  std::optional<std::int64_t> samples;
  std::optional<std::int64_t> tokens;
  std::optional<std::int64_t> hidden;
  std::optional<std::string> device;
  std::optional<std::int64_t> ranks;
  std::optional<std::string> mode;
  protocol::Status status = protocol::Status::kOk;  ///< ok, failed or skipped
  std::string reason;
  std::optional<bool> is_equal;  ///< gpu-check: the bytes of both sides
  nlohmann::json facts;          ///< the case as in the file
  std::vector<MeasuredQuantity> quantities;
};

struct MeasuredFile {
  std::string kind;  ///< "gpu-check", "google-benchmark"
  bool is_synthetic = false;
  std::optional<std::string> measured_at;
  std::optional<std::string> program;
  nlohmann::json hardware;     ///< null: not said
  nlohmann::json environment;  ///< null: not said
  nlohmann::json context;      ///< everything beside the cases
  std::vector<MeasuredCase> cases;
  std::int64_t fits = 0;  ///< rows of Google Benchmark's complexity fits, which are no cases
};

/// Reads the JSON of scripts/gpu-check (docs/imported-files.md) or of Google Benchmark. Throws
/// Error(kData) "NAME: cases[3].spec: .." that says what was expected where.
MeasuredFile parse_measured_file(std::string_view text, const std::string& name);

}  // namespace tersor::results

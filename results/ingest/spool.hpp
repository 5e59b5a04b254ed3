// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "results/ingest/record.hpp"

namespace tersor::results {

/// The spools of one run as docs/spool.md (format 1) defines them, checked, in memory.

/// Parts of a step, in the order of StepRecord::ns, and the metrics that they become.
constexpr std::array<const char*, 7> kStepParts{"total",  "forward",  "backward", "optimizer",
                                                "encode", "transfer", "decode"};
constexpr std::array<const char*, 7> kStepMetrics{"step_time",      "forward_time", "backward_time",
                                                  "optimizer_time", "encode_time",  "transfer_time",
                                                  "decode_time"};

struct StepRecord {
  std::int64_t step = 0;
  std::int64_t epoch = 0;
  std::array<std::int64_t, 7> ns{};
  bool has_training_values = false;  ///< loss, learning_rate, gradient_norm: rank 0
  Number loss;
  Number learning_rate;
  Number gradient_norm;
};

struct EvalRecord {
  std::int64_t epoch = 0;
  std::optional<std::int64_t> step;
  std::string inference;
  std::string split;
  std::int64_t rows = 0;
  Number loss;
  bool is_loss_nonfinite = false;
  std::optional<std::int64_t> ns;
  std::map<std::string, Number> metrics;
  std::string primary;
  std::vector<double> predictions;
  std::vector<double> labels;
};

struct ErrorRecord {
  std::int64_t step = 0;
  std::int64_t site = 0;
  std::string site_name;
  std::array<Number, 4> values{};  ///< message_relative_l2, message_cosine, sum_*
};

struct TrafficRecord {
  std::string site, site_name, direction, phase, collective, dtype, spec;
  std::array<std::int64_t, 9> counts{};  ///< in the order of kTrafficCounts
};
constexpr std::array<const char*, 9> kTrafficCounts{
    "calls",        "raw_bytes", "payload_bytes", "metadata_bytes", "sent_bytes",
    "handed_bytes", "encode_ns", "transfer_ns",   "decode_ns"};

struct StartRecord {
  std::string cell_key;
  std::uint64_t seed = 0;
  std::int64_t attempt = 0;
  std::int64_t world = 0;
  std::optional<std::int64_t> pid;
  std::string host, time;
  nlohmann::json environment, hardware, model, dataset, codecs;
  std::optional<std::int64_t> steps;
};

struct EndRecord {
  std::string status;
  std::string reason;
  std::optional<std::int64_t> wall_ns;
  std::optional<std::int64_t> steps;
  std::string checksum;
};

struct MemoryRecord {
  std::optional<std::int64_t> peak_rss_bytes, codec_state_bytes, parameter_bytes;
};

struct RankSpool {
  int rank = 0;
  std::string file;
  std::string hash;             ///< of all bytes of the file
  std::int64_t bytes = 0;       ///< of the file
  std::int64_t torn_bytes = 0;  ///< at its end, dropped
  std::optional<StartRecord> start;
  std::vector<StepRecord> steps;  ///< ascending
  std::vector<EvalRecord> evals;
  std::vector<ErrorRecord> errors;
  std::vector<TrafficRecord> traffic;
  std::optional<MemoryRecord> memory;
  std::optional<EndRecord> end;
};

struct Spool {
  std::vector<RankSpool> ranks;  ///< ascending; a rank that never wrote has none
};

/// Reads rank<r>.jsonl of the folder. A last line without its end that is no whole record is
/// dropped; any other line that is not as docs/spool.md says throws Error(kData) with file, line
/// and column. A folder without such files gives an empty Spool; one that is not there throws
/// Error(kMissing).
Spool read_spool(const std::filesystem::path& folder);

}  // namespace tersor::results

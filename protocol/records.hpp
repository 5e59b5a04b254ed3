// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/line_reader.hpp"
#include "protocol/status.hpp"

/// What a rank writes into its spool (docs/spool.md), one JSON line a record. records.cpp lists the
/// fields of each once, for writing and for reading. Times are nanoseconds.
namespace tersor::protocol {

/// The number, or none where it is not finite.
Number finite_number(double value);

/// Facts of which the database keeps all, those it has no column for too. An object, or null.
using Facts = nlohmann::ordered_json;

/// What a codec adds to the model at a site.
struct CodecFacts {
  std::string spec;
  std::optional<std::int64_t> added_parameters;
  std::optional<double> added_flops;
};

struct Start {
  static constexpr const char* kType = "start";
  std::string cell_key;
  std::uint64_t seed = 0;
  std::int64_t attempt = 1;
  std::int64_t rank = 0;
  std::int64_t world = 1;
  std::optional<std::int64_t> pid{};
  std::string host{};
  std::string time{};  ///< ISO 8601, UTC
  Facts environment{};
  Facts hardware{};
  // Of rank 0; none where the job failed before it had them.
  Facts model{};
  Facts dataset{};
  std::map<std::string, CodecFacts> codecs{};  ///< by site
  std::optional<std::int64_t> steps{};         ///< planned
};

/// Encode, transfer and decode are parts of forward and backward.
struct StepTimes {
  std::int64_t total = 0;
  std::int64_t forward = 0;
  std::int64_t backward = 0;
  std::int64_t optimizer = 0;
  std::int64_t encode = 0;
  std::int64_t transfer = 0;
  std::int64_t decode = 0;
};
struct StepPart {
  const char* name;
  std::int64_t StepTimes::*time;
};
inline constexpr std::array<StepPart, 7> kStepParts{{{"total", &StepTimes::total},
                                                     {"forward", &StepTimes::forward},
                                                     {"backward", &StepTimes::backward},
                                                     {"optimizer", &StepTimes::optimizer},
                                                     {"encode", &StepTimes::encode},
                                                     {"transfer", &StepTimes::transfer},
                                                     {"decode", &StepTimes::decode}}};

struct Step {
  static constexpr const char* kType = "step";
  /// What all ranks share, from rank 0.
  struct Training {
    Number loss{};
    Number learning_rate{};
    Number gradient_norm{};  ///< before clipping, of the whole model
  };
  std::int64_t step = 0;
  std::int64_t epoch = 0;
  StepTimes ns{};
  std::optional<Training> training{};
};

/// An evaluation of a whole split.
struct Eval {
  static constexpr const char* kType = "eval";
  std::int64_t epoch = 0;  ///< 1: after the first
  std::optional<std::int64_t> step{};
  std::string inference{};  ///< "on", "off": with compression or without
  std::string split{};
  std::int64_t rows = 0;
  Number loss{};
  std::optional<std::int64_t> ns{};
  std::vector<std::pair<std::string, Number>> metrics{};
  std::string primary{};              ///< one of the metrics
  std::vector<double> predictions{};  ///< one a row; NaN where it was not finite
  std::vector<double> labels{};
};

/// One message of rank 0 and the sum at its site, against their uncompressed values.
struct MessageError {
  static constexpr const char* kType = "error";
  std::int64_t step = 0;
  std::int64_t site = 0;
  std::string site_name{};
  Number message_relative_l2{};
  Number message_cosine{};
  std::string message_reason{};  ///< why the two are none; empty: they are not
  Number sum_relative_l2{};
  Number sum_cosine{};
};

/// Sums over the calls at one site, direction, phase, collective and codec.
struct Traffic {
  static constexpr const char* kType = "traffic";
  std::string site{};        ///< "tp", "tp.backward"
  std::string site_name{};   ///< e.g. "layer3.attention"
  std::string direction{};   ///< "forward", "backward"
  std::string phase{};       ///< "train", "eval"
  std::string collective{};  ///< "all_reduce", ...; with "node." or "nodes." before it
  std::string dtype{};
  std::string spec{};
  std::int64_t calls = 0;
  std::int64_t raw_bytes = 0;
  std::int64_t payload_bytes = 0;
  std::int64_t metadata_bytes = 0;
  std::int64_t wire_bytes = 0;
  std::int64_t input_bytes = 0;  ///< what the process group was given
  std::int64_t encode_ns = 0;
  std::int64_t transfer_ns = 0;
  std::int64_t decode_ns = 0;
  // What this rank's place would send at other numbers of ranks, by the codec; none where only the
  // measured number is known (between nodes, payloads of varying size).
  std::optional<std::int64_t> wire_bytes_p2{};
  std::optional<std::int64_t> wire_bytes_p4{};
  std::optional<std::int64_t> wire_bytes_p8{};
};
struct TrafficText {
  const char* name;
  std::string Traffic::*text;
};
/// The texts, which together name a row, and the sums: as spool and database call them.
inline constexpr std::array<TrafficText, 7> kTrafficTexts{{{"site", &Traffic::site},
                                                           {"site_name", &Traffic::site_name},
                                                           {"direction", &Traffic::direction},
                                                           {"phase", &Traffic::phase},
                                                           {"collective", &Traffic::collective},
                                                           {"dtype", &Traffic::dtype},
                                                           {"spec", &Traffic::spec}}};
struct TrafficSum {
  const char* name;
  std::int64_t Traffic::*sum;
};
inline constexpr std::array<TrafficSum, 9> kTrafficSums{
    {{"calls", &Traffic::calls},
     {"raw_bytes", &Traffic::raw_bytes},
     {"payload_bytes", &Traffic::payload_bytes},
     {"metadata_bytes", &Traffic::metadata_bytes},
     {"sent_bytes", &Traffic::wire_bytes},
     {"handed_bytes", &Traffic::input_bytes},
     {"encode_ns", &Traffic::encode_ns},
     {"transfer_ns", &Traffic::transfer_ns},
     {"decode_ns", &Traffic::decode_ns}}};

struct TrafficAt {
  const char* name;
  int ranks;
  std::optional<std::int64_t> Traffic::*bytes;
};
/// The wire bytes at other numbers of ranks.
inline constexpr std::array<TrafficAt, 3> kTrafficAt{
    {{"sent_bytes_p2", 2, &Traffic::wire_bytes_p2},
     {"sent_bytes_p4", 4, &Traffic::wire_bytes_p4},
     {"sent_bytes_p8", 8, &Traffic::wire_bytes_p8}}};

struct Memory {
  static constexpr const char* kType = "memory";
  std::optional<std::int64_t> peak_rss_bytes{};
  std::optional<std::int64_t> codec_state_bytes{};
  std::optional<std::int64_t> parameter_bytes{};
};

struct End {
  static constexpr const char* kType = "end";
  Status status = Status::kOk;
  Cause cause = Cause::kNone;
  std::string reason{};
  std::optional<std::int64_t> wall_ns{};
  std::optional<std::int64_t> steps{};    ///< done
  std::string checksum{};                 ///< of rank 0 after a whole run, else empty
  std::optional<std::int64_t> records{};  ///< in the file before this one
  Verdict verdict() const { return {status, cause}; }
};

using Record = std::variant<Start, Step, Eval, MessageError, Traffic, Memory, End>;

nlohmann::ordered_json to_json(const Record& record);

/// Throws Error(kData), as LineReader does, on what is no record of this format.
Record read_record(const LineReader& line);
/// The same where a bad line is no error: nothing.
std::optional<Record> find_record(std::string_view line);

/// What rank 0 prints on standard output while it trains; no part of the spool.
struct Progress {
  std::int64_t step = 0;   ///< done
  std::int64_t steps = 0;  ///< planned; 0: not known yet
  Number loss{};
  std::int64_t epoch = 0;
};
nlohmann::ordered_json to_json(const Progress& progress);
/// Nothing where the line is something else.
std::optional<Progress> find_progress(std::string_view line);

}  // namespace tersor::protocol

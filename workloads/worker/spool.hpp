// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>

#include "common/jsonl.hpp"
#include "workloads/worker/records.hpp"

namespace tersor::workloads {

/// How a rank ended, as the `end` record says it.
struct Ending {
  std::string status = "ok";  ///< ok | failed | diverged | oom
  std::string reason{};
  std::string checksum{};  ///< rank 0, after a whole run
};

/// The spool of one rank, DIR/rank<r>.jsonl. Thread-safe; the `end` record is written once and
/// nothing after it.
class Spool : public Recorder {
 public:
  /// Makes the folder. Throws Error(kIo).
  Spool(const std::filesystem::path& folder, int rank);

  /// `bare_start` is written before an end that comes before any start.
  void set_bare_start(nlohmann::ordered_json start);
  void write(const nlohmann::ordered_json& record) override;
  void end(const Ending& ending);

 private:
  std::mutex mutex_;
  JsonLinesWriter lines_;
  nlohmann::ordered_json bare_start_;
  bool is_started_ = false;
  bool is_ended_ = false;
  std::int64_t steps_ = 0;
  std::int64_t start_ns_;
};

}  // namespace tersor::workloads

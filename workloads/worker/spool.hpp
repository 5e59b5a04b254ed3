// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>

#include "common/jsonl.hpp"
#include "workloads/worker/records.hpp"

namespace tersor::workloads {

/// The spool of one rank, DIR/rank<r>.jsonl. Thread-safe; the `end` record is written once and
/// nothing after it.
class Spool : public Recorder {
 public:
  /// Makes the folder. Throws Error(kIo).
  Spool(const std::filesystem::path& folder, int rank);

  /// `bare_start` is written before an end that comes before any start.
  void set_bare_start(protocol::Start start);
  void write(const protocol::Record& record) override;
  /// Time, steps and the number of records are filled in here.
  void end(protocol::End end);

 private:
  void write_line(const protocol::Record& record);

  std::mutex mutex_;
  JsonLinesWriter lines_;
  std::optional<protocol::Start> bare_start_;
  bool is_started_ = false;
  bool is_ended_ = false;
  std::int64_t steps_ = 0;
  std::int64_t records_ = 0;
  std::int64_t start_ns_;
};

}  // namespace tersor::workloads

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "harness/launch/launcher.hpp"
#include "protocol/records.hpp"

namespace tersor::harness {

/// The few things that the supervisor wants to know of a spool folder before it is ingested. None
/// of them throws on a bad spool: judging it is the ingestion's work.

/// How a rank's spool ends.
struct SpoolEnd {
  std::optional<protocol::End> record;  ///< nothing where it has no `end` record
  std::string trouble;                  ///< why it could not be read; empty: it could
};
SpoolEnd read_spool_end(const std::filesystem::path& folder, int rank);

/// "accuracy 0.812": the primary metric of the last evaluation of rank 0 (with compression on,
/// where there is one); empty where there is none.
std::string last_quality(const std::filesystem::path& folder);

using protocol::Progress;

/// Follows the progress of one run.
class ProgressReader {
 public:
  /// `file`: what rank 0 writes to its standard output; need not be there yet.
  explicit ProgressReader(std::filesystem::path file);
  /// Reads what is new; true where there was a progress line.
  bool update();
  const Progress& progress() const { return progress_; }

 private:
  std::filesystem::path file_;
  std::uintmax_t offset_ = 0;
  Progress progress_;
};

/// Bytes of all spools and logs of the folder: grows as long as somebody makes progress.
std::uintmax_t folder_bytes(const std::filesystem::path& folder);

/// The last lines of every rank's standard error (of its standard output where that is empty), at
/// most `most` bytes a rank, each under the rank's name.
std::string log_tail(const Launcher& launcher, const std::filesystem::path& folder, int ranks,
                     std::size_t most = 4096);

}  // namespace tersor::harness

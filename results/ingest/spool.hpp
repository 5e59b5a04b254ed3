// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "protocol/records.hpp"

namespace tersor::results {

/// The spools of one run as docs/spool.md defines them, checked, in memory.

struct RankSpool {
  int rank = 0;
  std::string file;
  std::string hash;             ///< of all bytes of the file
  std::int64_t bytes = 0;       ///< of the file
  std::int64_t torn_bytes = 0;  ///< at its end, dropped
  std::int64_t records = 0;
  std::optional<protocol::Start> start;
  std::vector<protocol::Step> steps;  ///< 0, 1, 2, ...
  std::vector<protocol::Eval> evals;
  std::vector<protocol::MessageError> errors;
  std::vector<protocol::Traffic> traffic;
  std::optional<protocol::Memory> memory;
  std::optional<protocol::End> end;
};

struct Spool {
  std::vector<RankSpool> ranks;  ///< ascending; a rank that never wrote has none
};

/// Reads rank<r>.jsonl of the folder. A last line without its end that is no whole record is
/// dropped; any other line that is not as docs/spool.md says throws Error(kData) with file, line
/// and column, and so does what cannot be read or is no file. A folder without such files gives an
/// empty Spool; one that is not there throws Error(kMissing).
Spool read_spool(const std::filesystem::path& folder);

/// What the `end` records say of the whole run: the worst of them (oom, diverged, failed, failed
/// for want of a peer); ok only where every rank says ok; else nothing.
std::optional<protocol::Verdict> claimed_verdict(const Spool& spool);

}  // namespace tersor::results

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/run/supervisor.hpp"

namespace tersor::harness {

/// `tersor run`.
struct RunOptions {
  std::filesystem::path matrix;    ///< file, or the bare name of a carried matrix
  std::filesystem::path database;  ///< results; spools and logs go to `<database>.runs`
  std::string data;                ///< data root; empty: TERSOR_DATA, else embedded data only
  std::string weights;             ///< empty: TERSOR_WEIGHTS, else the cache
  std::filesystem::path profiles;  ///< folder of own hardware profiles; may be empty
  std::vector<std::string> filters;
  std::string launcher = "local";  ///< name of a registered one (harness/launch)
  bool is_dry_run = false;
  bool fail_fast = false;
  bool retry_failed = false;
  bool allow_many = false;
  bool drop_spools = false;  ///< of ok runs, once they are in the database
  std::int64_t error_every = 16;
  std::int64_t messages_every = 0;  ///< 0: never
  RunLimits limits;
};

/// Plans, settles what a dead harness left, runs what is due, and prints it all to standard output.
/// Returns the exit status (protocol::ProgramExit). Throws Error on bad input, before anything has
/// started.
int run_matrix(const RunOptions& options);

}  // namespace tersor::harness

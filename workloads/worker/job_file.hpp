// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "protocol/cell.hpp"

namespace tersor::workloads {

/// The cell file (docs/spool.md).
struct JobFile {
  std::string cell_key;
  std::uint64_t seed = 0;
  std::int64_t attempt = 1;
  protocol::Cell config;
  std::string data_root;            ///< empty: embedded data only
  std::string weights;              ///< empty: random
  std::string vocabulary;           ///< vocab.txt; empty: the data set's own
  bool has_progress = false;        ///< rank 0 prints a JSON line every 10 steps
  std::int64_t error_every = 0;     ///< sample the compression error every N steps; 0: never
  std::int64_t messages_every = 0;  ///< write rank 0's messages every N steps; 0: never
  std::filesystem::path folder;     ///< the spool's, which gets them; not in the file
};

/// Throws Error(kMissing), Error(kData) on what is no such JSON, or as cell_from_json does.
JobFile read_job_file(const std::filesystem::path& path);

/// Throws Error(kUsage) or Error(kUnsupported) where the cell asks for what this worker or this
/// number of processes cannot do.
void check_job(const JobFile& job, int processes);

}  // namespace tersor::workloads

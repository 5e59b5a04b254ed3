// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "protocol/cell.hpp"

namespace tersor::protocol {

/// What the harness hands to each rank of a run (docs/spool.md).
struct JobFile {
  std::string cell_key;
  std::uint64_t seed = 0;
  std::int64_t attempt = 1;
  Cell config;
  std::string data_root;            ///< empty: embedded data only
  std::string weights;              ///< empty: random
  std::string vocabulary;           ///< vocab.txt; empty: the data set's own
  bool has_progress = false;        ///< rank 0 prints a JSON line every 10 steps
  std::int64_t error_every = 0;     ///< sample the compression error every N steps; 0: never
  std::int64_t messages_every = 0;  ///< write rank 0's messages every N steps; 0: never
};

nlohmann::ordered_json to_json(const JobFile& job);

/// Throws Error(kMissing), Error(kData) on what is no such JSON, or as cell_from_json does.
JobFile read_job_file(const std::filesystem::path& path);
/// Throws Error(kIo).
void write_job_file(const std::filesystem::path& path, const JobFile& job);

}  // namespace tersor::protocol

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace tersor::results {

struct ImportResult {
  std::string kind;
  bool was_there = false;  ///< a file of the same bytes: nothing changed
  std::int64_t cases = 0;
  std::int64_t ok = 0;
  std::int64_t failed = 0;
  std::int64_t skipped = 0;
  std::int64_t fits = 0;  ///< rows that are no measurements, left out
};

/// Of a file; its values take about twenty times as much memory.
inline constexpr std::uintmax_t kMostImportBytes = std::uintmax_t{64} << 20;

/// Stores a file of measurements (measured_file.hpp) in the database, which is created where there
/// is none: all of it in one transaction, its whole text with it, the same bytes once. Throws
/// Error(kMissing, kData) with file and position, Error(kDatabase) as opening does; then nothing is
/// stored.
ImportResult import_file(const std::filesystem::path& database, const std::filesystem::path& file);

}  // namespace tersor::results

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace tersor::results {

/// Limits of a rank's file. A step takes some 300 bytes, an evaluation 20 bytes a row, so that
/// these are three million steps and 800,000 rows.
inline constexpr std::int64_t kMostSpoolBytes = std::int64_t{1} << 30;
inline constexpr std::size_t kMostLineBytes = std::size_t{16} << 20;

struct SpoolBytes {
  std::int64_t bytes = 0;
  std::string hash;  ///< XXH64 of all of them
};

/// Calls `take` with each line of the file, without its end, with its number from 1 and whether it
/// had an end, in memory of one line. Throws Error(kData) "FILE: .." on what is no regular file,
/// may not be read or is too large, and "FILE:LINE:1: .." on a line that is too long.
SpoolBytes read_spool_lines(const std::filesystem::path& file,
                            const std::function<void(std::string_view, int, bool)>& take);

}  // namespace tersor::results

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

namespace tersor {

/// At most `most` bytes of a file from byte `begin` on, fewer where it ends before. Nothing throws,
/// and a FIFO does not block: what could not be opened or read, or is no file that has bytes at a
/// place, sets `error`; what was read before it is returned. For files that others may write,
/// remove or damage meanwhile (logs, spools, /proc); `read_file` is for input.
std::string read_part(const std::filesystem::path& file, std::uintmax_t begin, std::size_t most,
                      std::error_code& error);

/// The last `most` bytes; where that cuts something off, from the first whole line on.
std::string read_last_lines(const std::filesystem::path& file, std::size_t most,
                            std::error_code& error);

}  // namespace tersor

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace tersor {

/// The whole file. Throws Error(kMissing) where there is none, Error(kIo) where it cannot be read.
std::vector<std::byte> read_file(const std::filesystem::path& path);
/// Replaces the file (through a neighbour that is renamed, so that no half file is left). Throws
/// Error(kIo).
void write_file(const std::filesystem::path& path, std::span<const std::byte> data);
/// Makes a file that is not there yet, at once under its name, so that a kill leaves no neighbour:
/// for folders of one's own. Throws Error(kIo), also where the name is taken, be it by a link.
void create_file(const std::filesystem::path& path, std::span<const std::byte> data);
/// Writes nothing; throws Error(kIo) with the remedy where write_file would refuse: no such folder,
/// or no right to write in it.
void expect_writable(const std::filesystem::path& path);

}  // namespace tersor

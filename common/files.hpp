// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/descriptor.hpp"

namespace tersor {

/// A file that is open for reading: a regular file, a pipe or a device. The one place that opens
/// what a user names, so that every refusal says why: no such file, a link to nothing, a folder, no
/// permission, a loop of links.
class InputFile {
 public:
  /// Throws Error(kMissing) where there is no file, Error(kIo) with the system's reason else.
  explicit InputFile(const std::filesystem::path& path);

  /// Size in bytes of a regular file; none of a pipe or a device.
  std::optional<std::uint64_t> bytes() const { return bytes_; }
  /// Fills `to` from where the last read ended; less than its size at the end of the file alone.
  /// Throws Error(kIo).
  std::size_t read(std::span<std::byte> to);
  /// All that is left. Throws Error(kData) beyond `most_bytes`.
  std::vector<std::byte> rest(std::uint64_t most_bytes);
  int descriptor() const { return file_.get(); }

 private:
  std::string name_;
  Descriptor file_;
  std::optional<std::uint64_t> bytes_;
};

/// What a pipe or a device may give to a reader that has no limit of its own.
inline constexpr std::uint64_t kMostPipedBytes = std::uint64_t{256} << 20;

/// The whole file: a regular one of any size, kMostPipedBytes of a pipe or a device. Throws as
/// InputFile.
std::vector<std::byte> read_file(const std::filesystem::path& path);
/// The same as text; Error(kData) where it has more than `most_bytes`.
std::string read_text(const std::filesystem::path& path, std::uint64_t most_bytes);

/// Puts a whole file in place in one step: a kill leaves the old one or the new one, and nothing
/// beside them that the next writing does not take away (file systems without O_TMPFILE, such as
/// NFS, keep what a kill left: .tersor-part-*). A link is followed, mode and owner stay; a file of
/// several hard links, or of an owner that this process cannot give, is rewritten in place. Throws
/// Error(kIo) with the reason, also where the file is read-only.
void write_file(const std::filesystem::path& path, std::span<const std::byte> data);
/// Makes a file that is not there yet, at once under its name, so that a kill leaves no neighbour:
/// for folders of one's own. Throws Error(kIo), also where the name is taken, be it by a link.
void create_file(const std::filesystem::path& path, std::span<const std::byte> data);
/// Writes nothing; throws Error(kIo) with the remedy where write_file would refuse: no such folder,
/// a name that is too long, no right to write.
void expect_writable(const std::filesystem::path& path);

}  // namespace tersor

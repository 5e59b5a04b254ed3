// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>

namespace tersor {

/// A file mapped read-only into memory; pages are read when they are touched. The bytes live as
/// long as the object.
class MappedFile {
 public:
  /// Throws as InputFile, and Error(kIo) where it cannot be mapped (a pipe).
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace tersor

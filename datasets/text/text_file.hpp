// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/files.hpp"

namespace tersor::datasets {

/// A whole file. Throws Error(kMissing) where it is not there and Error(kIo) where it cannot be
/// read (a folder, no permission): `who` + path + reason + `remedy`.
std::string read_text_file(const std::filesystem::path& file, const std::string& who,
                           const std::string& remedy);

/// Offset of the first byte that is not part of valid UTF-8; npos: none.
std::size_t first_invalid_utf8(std::string_view text);

/// Lines of a text: LF or CRLF, a byte-order mark skipped, the last newline optional. Borrows the
/// text.
class LineReader {
 public:
  explicit LineReader(std::string_view text);
  /// False at the end; `line` then stays as it was.
  bool next(std::string_view& line);
  std::int64_t number() const { return number_; }     ///< of the last line given, from 1
  bool terminated() const { return is_terminated_; }  ///< the last line given ended in a newline

 private:
  std::string_view rest_;
  std::int64_t number_ = 0;
  bool is_terminated_ = true;
};

/// The lines of a file that need not fit into memory, as LineReader's. A line lasts until the next
/// call. Throws as read_text_file, and Error(kData) where a line has more than kLongestLine bytes.
class FileLines {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{1} << 20;  ///< GLUE's longest has 6 kB

  FileLines(const std::filesystem::path& file, std::string who, std::string remedy);
  /// False at the end; `line` then stays as it was.
  bool next(std::string_view& line);
  std::int64_t number() const { return number_; }
  bool terminated() const { return is_terminated_; }

 private:
  /// False at the end of the file.
  bool read_more();

  std::string who_;
  std::string remedy_;
  std::string name_;
  std::optional<InputFile> file_;
  std::string buffer_;  ///< what was read and not given yet, from `begin_`
  std::size_t begin_ = 0;
  std::int64_t number_ = 0;
  bool is_terminated_ = true;
};

}  // namespace tersor::datasets

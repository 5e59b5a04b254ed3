// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

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

}  // namespace tersor::datasets

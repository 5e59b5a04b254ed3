// SPDX-License-Identifier: Apache-2.0
#include "datasets/text/text_file.hpp"

#include <utf8proc.h>

#include <cstdint>

#include "common/error.hpp"
#include "common/files.hpp"

namespace tersor::datasets {

std::string read_text_file(const std::filesystem::path& file, const std::string& who,
                           const std::string& remedy) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;  // GLUE's largest file has 53 MB
  try {
    return read_text(file, kLargest);
  } catch (const Error& error) {
    throw Error(error.kind(), who + error.what() + remedy);
  }
}

std::size_t first_invalid_utf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  for (std::size_t at = 0; at < text.size();) {
    utf8proc_int32_t code = 0;
    const utf8proc_ssize_t used =
        utf8proc_iterate(bytes + at, static_cast<utf8proc_ssize_t>(text.size() - at), &code);
    if (used <= 0) return at;
    at += static_cast<std::size_t>(used);
  }
  return std::string_view::npos;
}

LineReader::LineReader(std::string_view text) : rest_(text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
}

bool LineReader::next(std::string_view& line) {
  if (rest_.empty()) return false;
  const std::size_t end = rest_.find('\n');
  is_terminated_ = end != std::string_view::npos;
  line = rest_.substr(0, end);
  rest_.remove_prefix(is_terminated_ ? end + 1 : rest_.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  ++number_;
  return true;
}

}  // namespace tersor::datasets

// SPDX-License-Identifier: Apache-2.0
#include "datasets/text/text_file.hpp"

#include <utf8proc.h>

#include <cstdint>
#include <span>
#include <utility>

#include "common/error.hpp"

namespace tersor::datasets {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

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

FileLines::FileLines(const std::filesystem::path& file, std::string who, std::string remedy)
    : who_(std::move(who)), remedy_(std::move(remedy)), name_(file.string()) {
  try {
    file_.emplace(file);
  } catch (const Error& error) {
    throw Error(error.kind(), who_ + error.what() + remedy_);
  }
  read_more();
  if (buffer_.starts_with(kByteOrderMark)) begin_ = kByteOrderMark.size();
}

bool FileLines::read_more() {
  constexpr std::size_t kStep = std::size_t{1} << 16;
  buffer_.erase(0, std::exchange(begin_, 0));
  const std::size_t before = buffer_.size();
  buffer_.resize(before + kStep);
  try {
    buffer_.resize(before +
                   file_->read(std::as_writable_bytes(std::span(buffer_).subspan(before))));
  } catch (const Error& error) {
    throw Error(error.kind(), who_ + error.what() + remedy_);
  }
  return buffer_.size() > before;
}

bool FileLines::next(std::string_view& line) {
  std::size_t end = buffer_.find('\n', begin_);
  while (end == std::string::npos) {
    const std::size_t looked_at = buffer_.size() - begin_;
    if (looked_at > kLongestLine)
      throw Error(ErrorKind::kData, who_ + name_ + ":" + std::to_string(number_ + 1) +
                                        ": the line has more than " + std::to_string(kLongestLine) +
                                        " bytes" + remedy_);
    if (!read_more()) break;
    end = buffer_.find('\n', looked_at);
  }
  if (begin_ == buffer_.size()) return false;
  is_terminated_ = end != std::string::npos;
  if (!is_terminated_) end = buffer_.size();
  line = std::string_view(buffer_).substr(begin_, end - begin_);
  begin_ = end + (is_terminated_ ? 1 : 0);
  if (line.ends_with('\r')) line.remove_suffix(1);
  ++number_;
  return true;
}

LineReader::LineReader(std::string_view text) : rest_(text) {
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

// SPDX-License-Identifier: Apache-2.0
#include "harness/run/spool_peek.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

namespace tersor::harness {
namespace {

namespace fs = std::filesystem;

/// The file from `begin` on.
std::string read_from(const fs::path& file, std::uintmax_t begin) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream.seekg(static_cast<std::streamoff>(begin))) return {};
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// At most the last `most` bytes; from the first whole line on where that cuts something off.
std::string read_tail(const fs::path& file, std::size_t most) {
  std::error_code error;
  const auto bytes = fs::file_size(file, error);
  if (error) return {};
  if (bytes <= most) return read_from(file, 0);
  std::string text = read_from(file, bytes - most);
  const auto line_end = text.find('\n');
  return line_end == std::string::npos ? text : text.substr(line_end + 1);
}

fs::path spool_file(const fs::path& folder, int rank) {
  return folder / ("rank" + std::to_string(rank) + ".jsonl");
}

}  // namespace

std::optional<protocol::End> read_spool_end(const fs::path& folder, int rank) {
  constexpr std::size_t kLongestEnd = 64 * 1024;
  const std::string tail = read_tail(spool_file(folder, rank), kLongestEnd);
  std::optional<protocol::Record> last;
  for (std::size_t begin = 0; begin < tail.size();) {
    const auto end = std::min(tail.find('\n', begin), tail.size());
    auto record = protocol::find_record(std::string_view(tail).substr(begin, end - begin));
    if (end < tail.size() || record) last = std::move(record);  // a torn last line does not count
    begin = end + 1;
  }
  const auto* end = last ? std::get_if<protocol::End>(&*last) : nullptr;
  return end ? std::optional(*end) : std::nullopt;
}

std::string last_quality(const fs::path& folder) {
  std::ifstream stream(spool_file(folder, 0), std::ios::binary);
  std::optional<protocol::Eval> last;
  for (std::string line; std::getline(stream, line);) {
    if (line.find("\"eval\"") == std::string::npos) continue;  // parsing all of it takes long
    const auto record = protocol::find_record(line);
    const auto* eval = record ? std::get_if<protocol::Eval>(&*record) : nullptr;
    if (eval && (!last || eval->epoch > last->epoch || eval->inference == "on")) last = *eval;
  }
  if (!last) return {};
  for (const auto& [name, value] : last->metrics) {
    if (name != last->primary) continue;
    if (!value) return name + " undefined";
    std::array<char, 32> number{};
    std::snprintf(number.data(), number.size(), " %.4f", *value);
    return name + number.data();
  }
  return {};
}

ProgressReader::ProgressReader(fs::path file) : file_(std::move(file)) {}

bool ProgressReader::update() {
  const std::string text = read_from(file_, offset_);
  const auto end = text.rfind('\n');
  if (end == std::string::npos) return false;
  offset_ += end + 1;
  bool has_news = false;
  for (std::size_t begin = 0; begin <= end;) {
    const auto line_end = text.find('\n', begin);
    const auto line = std::string_view(text).substr(begin, line_end - begin);
    begin = line_end + 1;
    const auto progress = protocol::find_progress(line);
    if (!progress) continue;
    progress_ = *progress;
    has_news = true;
  }
  return has_news;
}

std::uintmax_t folder_bytes(const fs::path& folder) {
  std::uintmax_t sum = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    const auto bytes = entry->file_size(gone);
    if (!gone) sum += bytes;
  }
  return sum;
}

std::string log_tail(const Launcher& launcher, const fs::path& folder, int ranks,
                     std::size_t most) {
  std::string text;
  for (int rank = 0; rank < ranks; ++rank) {
    const RankLogs logs = launcher.logs(folder, rank);
    std::string tail = read_tail(logs.errors, most);
    if (tail.empty()) tail = read_tail(logs.output, most / 4);
    if (tail.empty()) continue;
    text += "rank " + std::to_string(rank) + ":\n" + tail;
    if (text.back() != '\n') text += '\n';
  }
  return text;
}

}  // namespace tersor::harness

// SPDX-License-Identifier: Apache-2.0
#include "harness/run/spool_tail.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "common/file_part.hpp"

namespace tersor::harness {
namespace {

namespace fs = std::filesystem;

fs::path spool_file(const fs::path& folder, int rank) {
  return folder / ("rank" + std::to_string(rank) + ".jsonl");
}

/// The whole lines of a file, in pieces of bounded memory: a line that is longer than any record is
/// skipped.
class LineWalk {
 public:
  explicit LineWalk(fs::path file) : file_(std::move(file)) {}

  std::optional<std::string> next() {
    for (;;) {
      if (const auto end = text_.find('\n', at_); end != std::string::npos) {
        std::string line = text_.substr(at_, end - at_);
        at_ = end + 1;
        if (!std::exchange(is_skipping_, false)) return line;
        continue;
      }
      text_.erase(0, at_);
      at_ = 0;
      if (text_.size() > kLongestLine) {
        text_.clear();
        is_skipping_ = true;
      }
      std::error_code error;
      const std::string more = read_part(file_, offset_, kPiece, error);
      if (more.empty()) return std::nullopt;
      offset_ += more.size();
      text_ += more;
    }
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 20;
  static constexpr std::size_t kLongestLine = std::size_t{64} << 20;
  fs::path file_;
  std::uintmax_t offset_ = 0;
  std::string text_;
  std::size_t at_ = 0;
  bool is_skipping_ = false;
};

}  // namespace

SpoolEnd read_spool_end(const fs::path& folder, int rank) {
  constexpr std::size_t kLongestEnd = 64 * 1024;
  const fs::path file = spool_file(folder, rank);
  std::error_code error;
  const std::string tail = read_last_lines(file, kLongestEnd, error);
  if (error) return {{}, file.string() + ": " + error.message()};
  std::optional<protocol::Record> last;
  for (std::size_t begin = 0; begin < tail.size();) {
    const auto end = std::min(tail.find('\n', begin), tail.size());
    auto record = protocol::find_record(std::string_view(tail).substr(begin, end - begin));
    if (end < tail.size() || record) last = std::move(record);  // a torn last line does not count
    begin = end + 1;
  }
  const auto* end = last ? std::get_if<protocol::End>(&*last) : nullptr;
  return {end ? std::optional(*end) : std::nullopt, {}};
}

std::string last_quality(const fs::path& folder) {
  std::optional<protocol::Eval> last;
  LineWalk lines(spool_file(folder, 0));
  while (const auto line = lines.next()) {
    if (line->find("\"eval\"") == std::string::npos) continue;  // parsing all of it takes long
    const auto record = protocol::find_record(*line);
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
  constexpr std::size_t kMost = std::size_t{1} << 20;  // of progress; the rest comes next time
  std::error_code ignored;                             // no file yet, no news yet
  const std::string text = read_part(file_, offset_, kMost, ignored);
  const auto end = text.rfind('\n');
  if (end == std::string::npos) {
    if (text.size() == kMost) offset_ += kMost;  // no progress line is that long
    return false;
  }
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
    std::error_code ignored;  // what cannot be read is not there to be shown
    std::string tail = read_last_lines(logs.errors, most, ignored);
    if (tail.empty()) tail = read_last_lines(logs.output, most / 4, ignored);
    if (tail.empty()) continue;
    text += "rank " + std::to_string(rank) + ":\n" + tail;
    if (text.back() != '\n') text += '\n';
  }
  return text;
}

}  // namespace tersor::harness

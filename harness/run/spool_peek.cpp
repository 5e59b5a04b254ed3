// SPDX-License-Identifier: Apache-2.0
#include "harness/run/spool_peek.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

namespace tersor::harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

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

/// An object, or null.
json parse_object(const std::string& line) {
  json value = json::parse(line, nullptr, false);
  return value.is_object() ? value : json();
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::optional<SpoolEnd> read_spool_end(const fs::path& folder, int rank) {
  constexpr std::size_t kLongestEnd = 64 * 1024;
  const std::string tail = read_tail(spool_file(folder, rank), kLongestEnd);
  json record;
  for (std::size_t begin = 0; begin < tail.size();) {  // the last whole line counts
    const auto end = std::min(tail.find('\n', begin), tail.size());
    json line = parse_object(tail.substr(begin, end - begin));
    if (end < tail.size() || !line.is_null()) record = std::move(line);
    begin = end + 1;
  }
  if (record.is_null() || text_of(record, "type") != "end") return std::nullopt;
  return SpoolEnd{text_of(record, "status"), text_of(record, "reason")};
}

std::string last_quality(const fs::path& folder) {
  std::ifstream stream(spool_file(folder, 0), std::ios::binary);
  json last;
  for (std::string line; std::getline(stream, line);) {
    if (line.find("\"eval\"") == std::string::npos) continue;
    json record = parse_object(line);
    if (record.is_null() || text_of(record, "type") != "eval") continue;
    const bool is_later = last.is_null() || record.value("epoch", 0) > last.value("epoch", 0);
    if (is_later || text_of(record, "inference") == "on") last = std::move(record);
  }
  if (last.is_null() || !last.contains("metrics")) return {};
  const std::string primary = text_of(last, "primary");
  const auto value = last["metrics"].find(primary);
  if (value == last["metrics"].end()) return {};
  if (!value->is_number()) return primary + " undefined";
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), " %.4f", value->get<double>());
  return primary + number.data();
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
    const json record = parse_object(text.substr(begin, line_end - begin));
    begin = line_end + 1;
    if (record.is_null() || !record.contains("step") || !record["step"].is_number_integer())
      continue;
    progress_.step = record["step"].get<std::int64_t>();
    if (record.contains("steps") && record["steps"].is_number_integer())
      progress_.steps = record["steps"].get<std::int64_t>();
    if (record.contains("loss") && record["loss"].is_number())
      progress_.loss = record["loss"].get<double>();
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

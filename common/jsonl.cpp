// SPDX-License-Identifier: Apache-2.0
#include "common/jsonl.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "common/files.hpp"
#include "common/system_reason.hpp"

namespace tersor {
namespace {

std::string remedy_of(int error) {
  return error == ENOSPC ? "; free space on the disk of that folder" : "";
}

}  // namespace

JsonLinesWriter::JsonLinesWriter(const std::filesystem::path& path) : path_(path) {
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0) throw Error(ErrorKind::kIo, path.string() + ": " + system_reason(errno));
}

JsonLinesWriter::~JsonLinesWriter() { ::close(file_); }

void JsonLinesWriter::write(const nlohmann::ordered_json& record) {
  std::string line = record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int error = written < 0 ? errno : EIO;
      drop_torn(line.size() - rest.size());
      throw Error(ErrorKind::kIo, path_.string() + ": " + system_reason(error) + remedy_of(error));
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// A torn line that others follow would be broken; what is last may be torn.
void JsonLinesWriter::drop_torn(std::size_t bytes) const {
  struct stat status {};
  if (bytes == 0 || fstat(file_, &status) != 0) return;
  (void)!ftruncate(file_, status.st_size - static_cast<off_t>(bytes));
}

JsonLines read_json_lines(const std::filesystem::path& path, std::size_t begin) {
  const std::vector<std::byte> file = read_file(path);
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  JsonLines lines;
  lines.end = std::min(begin, text.size());
  for (int number = 1; lines.end < text.size(); ++number) {
    const std::size_t stop = text.find('\n', lines.end);
    if (stop == std::string_view::npos) {
      lines.is_torn = true;
      break;
    }
    const std::string_view line = text.substr(lines.end, stop - lines.end);
    auto record = nlohmann::json::parse(line, nullptr, false);
    if (record.is_discarded())
      throw Error(ErrorKind::kData,
                  path.string() + ": line " + std::to_string(number) + " is no JSON");
    lines.records.push_back(std::move(record));
    lines.end = stop + 1;
  }
  return lines;
}

}  // namespace tersor

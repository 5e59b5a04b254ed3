// SPDX-License-Identifier: Apache-2.0
#include "common/jsonl.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "common/error.hpp"
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

}  // namespace tersor

// SPDX-License-Identifier: Apache-2.0
#include "results/ingest/spool_lines.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "common/error.hpp"
#include "common/hex.hpp"
#include "common/system_reason.hpp"
#include "common/xxh64_stream.hpp"

namespace tersor::results {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& place, const std::string& what) {
  throw Error(ErrorKind::kData, place + ": " + what);
}

std::string in_mib(std::int64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

/// An open file; a pipe that nobody writes does not make the opening wait.
class Input {
 public:
  explicit Input(const fs::path& path)
      : name_(path.string()), file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (file_ < 0) refuse(name_, "cannot be read: " + reason());
    struct stat found {};
    const std::string trouble = ::fstat(file_, &found) != 0 ? "cannot be read: " + reason()
                                : !S_ISREG(found.st_mode)   ? "is no regular file, which a spool is"
                                                            : "";
    if (trouble.empty()) return;
    ::close(file_);
    refuse(name_, trouble);
  }
  ~Input() { ::close(file_); }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  /// Nothing at the end.
  std::string_view read(std::vector<char>& buffer) const {
    for (;;) {
      const ssize_t length = ::read(file_, buffer.data(), buffer.size());
      if (length >= 0) return {buffer.data(), static_cast<std::size_t>(length)};
      if (errno != EINTR) refuse(name_, "cannot be read to its end: " + reason());
    }
  }

 private:
  static std::string reason() { return system_reason(errno); }

  std::string name_;
  int file_;
};

}  // namespace

SpoolBytes read_spool_lines(const fs::path& file,
                            const std::function<void(std::string_view, int, bool)>& take) {
  const Input input(file);
  constexpr std::size_t kStep = std::size_t{256} << 10;
  std::vector<char> buffer(kStep);
  Xxh64Stream hash;
  SpoolBytes read;
  std::string line;
  int number = 1;
  const auto add = [&](std::string_view part) {
    if (line.size() + part.size() > kMostLineBytes)
      refuse(file.string() + ":" + std::to_string(number) + ":1",
             "the line is longer than " + in_mib(kMostLineBytes));
    line += part;
  };
  for (std::string_view bytes = input.read(buffer); !bytes.empty(); bytes = input.read(buffer)) {
    read.bytes += static_cast<std::int64_t>(bytes.size());
    if (read.bytes > kMostSpoolBytes)
      refuse(file.string(), "has more than " + in_mib(kMostSpoolBytes) + ", the most of a spool");
    hash.update(bytes);
    while (!bytes.empty()) {
      const auto stop = bytes.find('\n');
      add(bytes.substr(0, stop));
      if (stop == std::string_view::npos) break;
      bytes.remove_prefix(stop + 1);
      take(line, number++, true);
      line.clear();
    }
  }
  if (!line.empty()) take(line, number, false);
  read.hash = hex(hash.digest());
  return read;
}

}  // namespace tersor::results

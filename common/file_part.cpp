// SPDX-License-Identifier: Apache-2.0
#include "common/file_part.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/descriptor.hpp"

namespace tersor {
namespace {

std::error_code last_error() { return {errno, std::generic_category()}; }

Descriptor open_part(const std::filesystem::path& file, struct stat& status,
                     std::error_code& error) {
  Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened || ::fstat(opened.get(), &status) != 0)
    error = last_error();
  else if (!S_ISREG(status.st_mode))
    error = std::make_error_code(S_ISDIR(status.st_mode) ? std::errc::is_a_directory
                                                         : std::errc::invalid_seek);
  return opened;
}

std::string read_open(int file, std::uintmax_t begin, std::size_t most, std::error_code& error) {
  std::string text;
  constexpr std::size_t kStep = std::size_t{1} << 16;
  while (text.size() < most) {
    const std::size_t before = text.size();
    text.resize(before + std::min(kStep, most - before));
    const ssize_t got = ::pread(file, text.data() + before, text.size() - before,
                                static_cast<off_t>(begin + before));
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = last_error();
    if (got <= 0) break;
  }
  return text;
}

}  // namespace

std::string read_part(const std::filesystem::path& file, std::uintmax_t begin, std::size_t most,
                      std::error_code& error) {
  error.clear();
  struct stat status {};
  const Descriptor opened = open_part(file, status, error);
  return error ? std::string() : read_open(opened.get(), begin, most, error);
}

std::string read_last_lines(const std::filesystem::path& file, std::size_t most,
                            std::error_code& error) {
  error.clear();
  struct stat status {};
  const Descriptor opened = open_part(file, status, error);
  if (error) return {};
  const auto bytes = static_cast<std::uintmax_t>(status.st_size);
  if (bytes <= most) return read_open(opened.get(), 0, most, error);
  std::string text = read_open(opened.get(), bytes - most, most, error);
  const auto line_end = text.find('\n');
  return line_end == std::string::npos ? text : text.substr(line_end + 1);
}

}  // namespace tersor

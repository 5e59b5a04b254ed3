// SPDX-License-Identifier: Apache-2.0
#include "common/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "common/descriptor.hpp"
#include "common/error.hpp"

namespace tersor {

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::error_code code;
  if (!std::filesystem::exists(path, code))
    throw code ? Error(ErrorKind::kIo, path.string() + ": " + code.message())
               : Error(ErrorKind::kMissing, path.string() + ": no such file");
  if (std::filesystem::is_directory(path, code))
    throw Error(ErrorKind::kIo, path.string() + ": is a folder, a file is expected");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorKind::kIo, path.string() + ": " + std::strerror(errno));
  std::vector<std::byte> data;
  constexpr std::size_t kStep = std::size_t{1} << 20;
  while (in) {
    const std::size_t before = data.size();
    data.resize(before + kStep);
    in.read(reinterpret_cast<char*>(data.data() + before), kStep);
    data.resize(before + static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad())
    throw Error(ErrorKind::kIo,
                path.string() + ": cannot be read to its end: " + std::strerror(errno));
  return data;
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> data) {
  std::error_code code;
  const bool is_plain =
      !std::filesystem::exists(path, code) || std::filesystem::is_regular_file(path, code);
  auto written = path;
  if (is_plain) written += ".part" + std::to_string(::getpid());
  std::ofstream out(written, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
  out.close();
  if (out && is_plain) std::filesystem::rename(written, path, code);
  if (out && !code) return;
  const std::string reason = code ? code.message() : std::strerror(errno);
  if (is_plain) std::filesystem::remove(written, code);
  throw Error(ErrorKind::kIo, path.string() + ": cannot be written: " + reason);
}

void create_file(const std::filesystem::path& path, std::span<const std::byte> data) {
  constexpr int kReadableByAll = 0644;
  const Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kReadableByAll));
  bool is_whole = static_cast<bool>(file);
  while (is_whole && !data.empty()) {
    const ssize_t written = ::write(file.get(), data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    is_whole = written > 0;
    if (is_whole) data = data.subspan(static_cast<std::size_t>(written));
  }
  if (!is_whole)
    throw Error(ErrorKind::kIo, path.string() + ": cannot be made: " + std::strerror(errno));
}

void expect_writable(const std::filesystem::path& path) {
  std::error_code code;
  const auto refuse = [&](const std::string& reason) {
    throw Error(ErrorKind::kIo, path.string() + ": cannot be written: " + reason);
  };
  if (std::filesystem::is_directory(path, code)) refuse("it is a folder; name a file in it");
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  if (!std::filesystem::is_directory(folder, code))
    refuse("there is no folder " + folder.string() + "; make it first");
  const bool is_plain =
      !std::filesystem::exists(path, code) || std::filesystem::is_regular_file(path, code);
  const auto& opened = is_plain ? folder : path;
  if (::access(opened.c_str(), W_OK) != 0) refuse(opened.string() + ": " + std::strerror(errno));
}

}  // namespace tersor

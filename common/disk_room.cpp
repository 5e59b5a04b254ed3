// SPDX-License-Identifier: Apache-2.0
#include "common/disk_room.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "common/descriptor.hpp"

namespace tersor {
namespace {

constexpr std::size_t kProbeBytes = std::size_t{64} << 10;

bool is_about_room(int error) {
  return error == ENOSPC || error == EDQUOT || error == EROFS || error == EIO;
}

/// 0, or the error of a write that takes room.
int probe(int file) {
  constexpr std::array<char, 4096> kBlock{};
  for (std::size_t done = 0; done < kProbeBytes;) {
    const ssize_t written = ::write(file, kBlock.data(), kBlock.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return errno;
    done += static_cast<std::size_t>(written);
  }
  return ::fsync(file) == 0 ? 0 : errno;
}

}  // namespace

std::string why_no_room(const std::filesystem::path& folder) {
  const Descriptor file(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  const int error = file ? probe(file.get()) : errno;
  if (is_about_room(error)) return folder.string() + ": " + std::strerror(error);
  std::error_code unknown;
  const auto space = std::filesystem::space(folder, unknown);
  if (!file && !unknown && space.available < kProbeBytes)
    return folder.string() + ": " + std::strerror(ENOSPC);
  return {};
}

}  // namespace tersor

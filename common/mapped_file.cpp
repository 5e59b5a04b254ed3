// SPDX-License-Identifier: Apache-2.0
#include "common/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "common/error.hpp"

namespace tersor {

MappedFile::MappedFile(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const auto fail = [&](int code) {
    if (descriptor >= 0) ::close(descriptor);
    throw Error(code == ENOENT || code == ENOTDIR ? ErrorKind::kMissing : ErrorKind::kIo,
                file.string() + " cannot be opened: " + std::strerror(code));
  };
  if (descriptor < 0) fail(errno);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) fail(errno);
  if (!S_ISREG(status.st_mode)) fail(S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > 0) {
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED) fail(errno);
    bytes_ = {static_cast<const std::byte*>(address), size};
  }
  ::close(descriptor);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace tersor

// SPDX-License-Identifier: Apache-2.0
#include "common/mapped_file.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <string>

#include "common/error.hpp"
#include "common/files.hpp"
#include "common/system_reason.hpp"

namespace tersor {

MappedFile::MappedFile(const std::filesystem::path& file) {
  const InputFile input(file);
  const auto refuse = [&](const std::string& reason) {
    throw Error(ErrorKind::kIo, file.string() + ": cannot be mapped into memory: " + reason);
  };
  if (!input.bytes()) refuse("it is a pipe or a device; save it as a file first");
  const auto size = static_cast<std::size_t>(*input.bytes());
  if (size == 0) return;
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, input.descriptor(), 0);
  if (address == MAP_FAILED) refuse(system_reason(errno));
  bytes_ = {static_cast<const std::byte*>(address), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace tersor

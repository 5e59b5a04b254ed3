// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <system_error>

#include "common/error.hpp"

namespace tersor {

/// `path` from the root. Throws Error(kIo) where it is relative and the working folder is gone or
/// may not be read.
inline std::filesystem::path absolute_path(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  if (error)
    throw Error(ErrorKind::kIo, path.string() + ": the working folder cannot be told (" +
                                    error.message() +
                                    "); change to one that is there, or give the whole path");
  return whole;
}

}  // namespace tersor

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tersor {

/// What went wrong, for callers that act on it; the words are in Error::what().
enum class ErrorKind {
  kUsage,         ///< command line, matrix or profile: a value that the user can mend
  kSpec,          ///< codec spec that cannot be parsed or composed
  kData,          ///< malformed input file (TSV, safetensors, .npy, spool)
  kMissing,       ///< file, folder or program that is not there
  kPayload,       ///< payload or frame that does not decode
  kDatabase,      ///< SQLite
  kDevice,        ///< CUDA
  kDeviceMemory,  ///< no memory left on a GPU
  kIo,            ///< read, write, socket, process
  kPeer,          ///< another rank of the job went away or did not answer
  kUnsupported,   ///< valid, but not possible in this build or on this machine
  kInternal       ///< a broken invariant: a defect of tersor
};

std::string_view to_string(ErrorKind kind);

/// The one exception type of the project. The message names the value, the limit and the remedy,
/// e.g. "topk: ratio 1.5 not in (0, 1]"; `column` (1-based, 0 = none) points into the text that was
/// parsed.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message, int column = 0,
        std::source_location where = std::source_location::current());
  ErrorKind kind() const noexcept { return kind_; }
  int column() const noexcept { return column_; }
  /// Source position that threw, for logs ("file:line").
  std::string where() const;

 private:
  ErrorKind kind_;
  int column_;
  std::source_location where_;
};

/// Checks an invariant in every build; throws Error(kInternal) with the expression and the message.
#define TERSOR_CHECK(condition, message)                                                \
  do {                                                                                  \
    if (!(condition)) [[unlikely]]                                                      \
      throw ::tersor::Error(::tersor::ErrorKind::kInternal,                             \
                            std::string("check failed: " #condition ": ") + (message)); \
  } while (false)

}  // namespace tersor

// SPDX-License-Identifier: Apache-2.0
#include "common/error.hpp"

namespace tersor {
namespace {

/// Of a text that may hold bytes of a file: what() ends at the first zero byte.
std::string without_zeros(const std::string& text) {
  std::string shown;
  for (const char c : text) c == '\0' ? shown += "\\x00" : shown += c;
  return shown;
}

}  // namespace

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage: return "usage";
    case ErrorKind::kSpec: return "spec";
    case ErrorKind::kData: return "data";
    case ErrorKind::kMissing: return "missing";
    case ErrorKind::kPayload: return "payload";
    case ErrorKind::kDatabase: return "database";
    case ErrorKind::kDevice: return "device";
    case ErrorKind::kDeviceMemory: return "device memory";
    case ErrorKind::kIo: return "io";
    case ErrorKind::kPeer: return "peer";
    case ErrorKind::kUnsupported: return "unsupported";
    case ErrorKind::kInternal: return "internal";
  }
  return "internal";
}

Error::Error(ErrorKind kind, const std::string& message, int column, std::source_location where)
    : std::runtime_error(without_zeros(message)), kind_(kind), column_(column), where_(where) {}

std::string Error::where() const {
  return std::string(where_.file_name()) + ":" + std::to_string(where_.line());
}

}  // namespace tersor

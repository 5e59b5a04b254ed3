// SPDX-License-Identifier: Apache-2.0
#include "workloads/worker/failure.hpp"

#include <c10/util/Exception.h>

#include <new>
#include <string_view>
#include <system_error>

#include "common/error.hpp"

namespace tersor::workloads {
namespace {

using protocol::Cause;
using protocol::Status;
using protocol::Verdict;

Verdict verdict_of_kind(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
    case ErrorKind::kSpec:
    case ErrorKind::kData:
    case ErrorKind::kMissing:
    case ErrorKind::kUnsupported: return {Status::kFailed, Cause::kRefused};
    case ErrorKind::kPeer: return {Status::kFailed, Cause::kLostPeer};
    case ErrorKind::kDeviceMemory: return {Status::kOom, Cause::kOutOfMemoryDevice};
    case ErrorKind::kIo:
    case ErrorKind::kDatabase:
    case ErrorKind::kDevice: return {Status::kFailed, Cause::kSystem};
    case ErrorKind::kPayload:
    case ErrorKind::kInternal: return {Status::kFailed, Cause::kDefect};
  }
  return {Status::kFailed, Cause::kDefect};
}

/// torch's allocator of the CPU has no exception type of its own (c10/core/impl/alloc_cpu.cpp): its
/// name in the message is all that tells. failure_test.cpp asks it for too much memory.
bool is_host_allocator(const c10::Error& error) {
  return std::string_view(error.what()).find("DefaultCPUAllocator") != std::string_view::npos;
}

}  // namespace

Verdict verdict_of(const std::exception& error) {
  if (const auto* own = dynamic_cast<const Error*>(&error)) return verdict_of_kind(own->kind());
  if (dynamic_cast<const std::bad_alloc*>(&error)) return {Status::kOom, Cause::kOutOfMemoryHost};
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error))
    return {Status::kOom, Cause::kOutOfMemoryDevice};
  if (dynamic_cast<const c10::DistError*>(&error)) return {Status::kFailed, Cause::kLostPeer};
  if (dynamic_cast<const std::system_error*>(&error)) return {Status::kFailed, Cause::kSystem};
  const auto* torch = dynamic_cast<const c10::Error*>(&error);
  if (torch && is_host_allocator(*torch)) return {Status::kOom, Cause::kOutOfMemoryHost};
  return {Status::kFailed, Cause::kDefect};
}

std::string reason_of(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find("\nException raised from"));
}

}  // namespace tersor::workloads

// SPDX-License-Identifier: Apache-2.0
#include "workloads/worker/failure.hpp"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include <catch2/catch.hpp>
#include <functional>
#include <new>
#include <stdexcept>
#include <system_error>

#include "common/error.hpp"

using namespace tersor;
using namespace tersor::workloads;
using protocol::Cause;
using protocol::Status;
using protocol::Verdict;

namespace {

Verdict verdict_when(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    return verdict_of(error);
  }
  return {};
}

}  // namespace

TEST_CASE("failure: exceptions of torch and of tersor have their causes") {
  const auto of = [](ErrorKind kind) {
    return verdict_when([&] { throw Error(kind, "words that say nothing: DefaultCPUAllocator"); });
  };
  CHECK(of(ErrorKind::kData) == Verdict{Status::kFailed, Cause::kRefused});
  CHECK(of(ErrorKind::kUnsupported) == Verdict{Status::kFailed, Cause::kRefused});
  CHECK(of(ErrorKind::kPeer) == Verdict{Status::kFailed, Cause::kLostPeer});
  CHECK(of(ErrorKind::kIo) == Verdict{Status::kFailed, Cause::kSystem});
  CHECK(of(ErrorKind::kInternal) == Verdict{Status::kFailed, Cause::kDefect});
  CHECK(of(ErrorKind::kDeviceMemory) == Verdict{Status::kOom, Cause::kOutOfMemoryDevice});
  CHECK(verdict_when([] { throw std::runtime_error("?"); }) ==
        Verdict{Status::kFailed, Cause::kDefect});
  CHECK(verdict_when([] { throw std::system_error(EMFILE, std::generic_category()); }) ==
        Verdict{Status::kFailed, Cause::kSystem});
  CHECK(verdict_when([] { throw std::bad_alloc(); }) ==
        Verdict{Status::kOom, Cause::kOutOfMemoryHost});
  CHECK(verdict_when([] { TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory"); }) ==
        Verdict{Status::kOom, Cause::kOutOfMemoryDevice});
  CHECK(verdict_when([] { TORCH_CHECK(false, "expected a matrix"); }) ==
        Verdict{Status::kFailed, Cause::kDefect});
}

TEST_CASE("failure: torch's allocator of the CPU is known where memory runs out") {
  const std::int64_t too_much = std::int64_t{1} << 46;
  CHECK(verdict_when([&] { at::empty({too_much}, at::kFloat); }) ==
        Verdict{Status::kOom, Cause::kOutOfMemoryHost});
}

TEST_CASE("failure: a reason ends before torch's stack") {
  try {
    TORCH_CHECK(false, "expected a matrix");
  } catch (const c10::Error& error) {
    CHECK(reason_of(error) == "expected a matrix");
  }
}

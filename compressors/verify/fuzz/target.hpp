// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <string>

/// One property that must hold for any bytes; each target's source defines run_target. The programs
/// are target + replay_main.cpp (every build) and target + libfuzzer_main.cpp (clang).
namespace tersor::fuzz {

/// Aborts, by require(), where the property does not hold; lets no exception out that it does not
/// know.
void run_target(std::span<const std::byte> input);

/// Prints the message and aborts where the condition is false: what a fuzzer counts as a finding.
void require(bool condition, const std::string& message);

/// Bytes that operator new gave out and nobody returned, at most, while this object lives.
class AllocationMeter {
 public:
  AllocationMeter();
  std::size_t peak_bytes() const;

 private:
  std::size_t at_start_;
};

}  // namespace tersor::fuzz

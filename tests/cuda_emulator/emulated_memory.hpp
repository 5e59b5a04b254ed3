// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/verify/on_device.hpp"
#include "tests/cuda_emulator/emulator.hpp"

namespace tersor::emulator {

/// The emulator's device memory for on_device().
class EmulatedMemory final : public compressors::DeviceMemory {
 public:
  std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* memory) override;
  void copy_in(std::byte* to, const void* from, std::size_t bytes) override;
  void copy_out(void* to, const std::byte* from, std::size_t bytes) override;
};

/// Options of a schedule, by number: 0 forward, 1 reverse with three resident blocks, from 2 on
/// random with pre-emption.
Options schedule(unsigned number);

/// Sets options for as long as it lives.
class ScopedOptions {
 public:
  explicit ScopedOptions(const Options& wanted) : before_(options()) { options() = wanted; }
  ~ScopedOptions() { options() = before_; }
  ScopedOptions(const ScopedOptions&) = delete;
  ScopedOptions& operator=(const ScopedOptions&) = delete;

 private:
  Options before_;
};

}  // namespace tersor::emulator

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <utility>

namespace tersor::compressors {

/// Memory of a device, for states (State::move_to) and checks. Errors throw. Never used between a
/// call of a codec and its kernels, so that a capture into a graph sees none of it.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  /// Of exactly `bytes` (0 too), aligned to 256.
  virtual std::byte* allocate(std::size_t bytes) = 0;
  virtual void release(std::byte* memory) = 0;
  virtual void copy_in(std::byte* to, const void* from, std::size_t bytes) = 0;
  /// After everything that was launched before.
  virtual void copy_out(void* to, const std::byte* from, std::size_t bytes) = 0;
};

/// A piece of it, released with the object.
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(DeviceMemory& memory, std::size_t bytes)
      : memory_(&memory), data_(memory.allocate(bytes)), bytes_(bytes) {}
  ~DeviceArray() {
    if (memory_ != nullptr) memory_->release(data_);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  DeviceArray(DeviceArray&& other) noexcept { *this = std::move(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  explicit operator bool() const { return memory_ != nullptr; }
  void copy_in(const void* from) const { memory_->copy_in(data_, from, bytes_); }
  void copy_out(void* to) const { memory_->copy_out(to, data_, bytes_); }

 private:
  DeviceMemory* memory_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "common/error.hpp"
#include "compressors/api/codec.hpp"

namespace tersor::workloads {

/// Where bytes are.
struct Device {
  compressors::Device kind = compressors::Device::kCpu;
  int index = 0;  ///< which of the process's GPUs; 0 for host memory

  bool is_host() const { return kind == compressors::Device::kCpu; }
  friend bool operator==(const Device&, const Device&) = default;
};

/// "cpu", "cuda:1".
inline std::string to_string(const Device& device) {
  return device.is_host() ? "cpu" : "cuda:" + std::to_string(device.index);
}

/// Borrowed bytes that know their device, and for a GPU the stream in whose order they are read and
/// written. Host memory converts by itself: a span or a vector of bytes is a buffer.
template <typename Byte>
class BasicBuffer {
 public:
  BasicBuffer() = default;
  template <typename Host>
  requires std::convertible_to<Host&&, std::span<Byte>> BasicBuffer(Host&& host)
      : bytes_(std::forward<Host>(host)) {}
  /// `stream` is a cudaStream_t.
  BasicBuffer(Byte* data, std::size_t size, Device device, void* stream)
      : bytes_(data, size), device_(device), stream_(stream) {}
  /// A writable buffer is a readable one.
  template <typename Other>
  requires(!std::same_as<Other, Byte> && std::convertible_to<Other (*)[], Byte (*)[]>)
      BasicBuffer(const BasicBuffer<Other>& other)
      : BasicBuffer(other.data(), other.size(), other.device(), other.stream()) {}

  Byte* data() const { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  Device device() const { return device_; }
  void* stream() const { return stream_; }
  BasicBuffer subspan(std::size_t offset, std::size_t count) const {
    return {bytes_.subspan(offset, count).data(), count, device_, stream_};
  }
  BasicBuffer first(std::size_t count) const { return subspan(0, count); }

  /// The bytes, for code that reads or writes them itself. Throws Error(kInternal) on a GPU's.
  std::span<Byte> host() const {
    TERSOR_CHECK(device_.is_host(), "the bytes are on " + to_string(device_));
    return bytes_;
  }

 private:
  std::span<Byte> bytes_;
  Device device_;
  void* stream_ = nullptr;
};

using Buffer = BasicBuffer<std::byte>;
using ConstBuffer = BasicBuffer<const std::byte>;

}  // namespace tersor::workloads

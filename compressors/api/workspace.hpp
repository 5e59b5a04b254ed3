// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "compressors/api/codec.hpp"

namespace tersor::compressors {

/// Scratch arrays of one call: taken from Context::workspace while it lasts, else allocated (on a
/// device: Error(kUsage)). Arrays live as long as this object and are not initialised.
class Scratch {
 public:
  explicit Scratch(const Context& context)
      : free_(context.workspace), is_on_device_(context.device == Device::kCuda) {}

  /// Bytes of workspace that take<T>(count) may need, alignment included.
  template <class T>
  static constexpr std::size_t bytes_for(std::int64_t count) {
    return static_cast<std::size_t>(count) * sizeof(T) + kAlignment;
  }

  template <class T>
  std::span<T> take(std::int64_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    return {reinterpret_cast<T*>(raw(static_cast<std::size_t>(count) * sizeof(T))),
            static_cast<std::size_t>(count)};
  }

  /// What is left, for a wrapped codec's Context.
  std::span<std::byte> rest() const { return free_; }

 private:
  static constexpr std::size_t kAlignment = 64;
  std::byte* raw(std::size_t bytes);

  std::span<std::byte> free_;
  bool is_on_device_;
  std::vector<std::unique_ptr<std::byte[]>> owned_;
};

/// The tensor as float32: the input itself where it is float32, else widened into scratch.
std::span<const float> as_float32(const TensorView& in, Scratch& scratch);

}  // namespace tersor::compressors

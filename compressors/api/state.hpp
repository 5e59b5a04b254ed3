// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace tersor::compressors {

class DeviceMemory;

/// State of a codec at one site and direction: the sender's half (error feedback) and the
/// receiver's half (copies of each sender's g or m). Created by Codec::make_state; phase kEval
/// never changes it.
class State {
 public:
  virtual ~State() = default;
  /// Moves the stored values to a device, for calls with Device::kCuda; `memory` must outlive the
  /// state. Later calls on the CPU, and on another device, are errors of the caller. Throws
  /// Error(kUnsupported) where the codec stores what a device cannot hold.
  virtual void move_to(DeviceMemory& memory);
  virtual std::size_t bytes() const = 0;
  virtual std::vector<std::byte> save() const = 0;
  /// Throws Error(kPayload) where the bytes are not of this codec and shape.
  virtual void restore(std::span<const std::byte> saved) = 0;
};

}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>

#include "compressors/api/codec.hpp"
#include "compressors/device/device_memory.hpp"

namespace tersor::compressors {

/// How far from an aligned address the buffers start.
struct DeviceOffsets {
  std::size_t in_elements = 0;
  std::size_t payload_bytes = 0;
  std::size_t out_elements = 0;
};

/// The codec as it runs on a device, for callers with host memory: copies what goes in to buffers
/// of exactly its size, calls with Device::kCuda and exactly the workspace that the codec asks for,
/// and copies out what comes back. The golden check and the generic suite take it for the codec.
/// Calls that the codec does not support on a device throw Error(kUnsupported). `memory` must
/// outlive the result.
std::shared_ptr<const Codec> on_device(std::shared_ptr<const Codec> codec, DeviceMemory& memory,
                                       const DeviceOffsets& offsets = {});

}  // namespace tersor::compressors

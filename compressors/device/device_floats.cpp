// SPDX-License-Identifier: Apache-2.0
#include "compressors/device/device_floats.hpp"

#include "compressors/device/device_table.hpp"

namespace tersor::compressors {

bool has_float_launchers() { return DeviceTable<FloatLaunchers>::is_installed(); }

const FloatLaunchers& float_launchers() {
  return DeviceTable<FloatLaunchers>::get("what stands around a codec");
}

void add_on_device(std::span<const float> values, const DecodeTarget& target,
                   const Context& context) {
  const std::span<const std::byte> bytes = std::as_bytes(values);
  float_launchers().add({&bytes, 1}, DType::kFloat32, std::ssize(values), target, context.stream);
}

}  // namespace tersor::compressors

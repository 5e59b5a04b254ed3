// SPDX-License-Identifier: Apache-2.0
// Any bytes are a .npy array as long as its shape says, or are refused as malformed data.
#include "common/npy.hpp"

#include "common/error.hpp"
#include "compressors/verify/fuzz/target.hpp"

namespace tersor::fuzz {

void run_target(std::span<const std::byte> input) {
  const AllocationMeter meter;
  try {
    const NpyArray array = parse_npy(input, "x.npy");
    require(
        array.data.size() == static_cast<std::size_t>(array.elements()) * item_bytes(array.dtype),
        "the array is as long as its shape says");
    require(array.data.size() <= input.size(), "the array is no longer than the file");
    message_shape(array.dims);
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::kData,
            std::string("another kind of error: ") + error.what());
  }
  require(
      meter.peak_bytes() <= 65536 + 16 * input.size(),
      std::to_string(meter.peak_bytes()) + " bytes for a file of " + std::to_string(input.size()));
}

}  // namespace tersor::fuzz

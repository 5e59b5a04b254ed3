// SPDX-License-Identifier: Apache-2.0
#include "compressors/api/state.hpp"

#include "common/error.hpp"

namespace tersor::compressors {

void State::move_to(DeviceMemory&) {
  throw Error(ErrorKind::kUnsupported, "this state cannot be moved to a device");
}

}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "common/error.hpp"

namespace tersor::compressors {

/// The seam between a codec's .cpp and its .cu: a struct of launcher functions, one type per codec.
/// The .cu installs its table when the program loads (no CUDA call happens then); a build without
/// CUDA has none, so no codec needs an #ifdef.
template <class Launchers>
class DeviceTable {
 public:
  static bool is_installed() { return installed_ != nullptr; }
  /// Throws Error(kUnsupported) in a build without CUDA kernels for this codec.
  static const Launchers& get(const std::string& codec) {
    if (installed_ == nullptr)
      throw Error(ErrorKind::kUnsupported,
                  codec + " has no CUDA kernels in this build: configure with TERSOR_CUDA=ON");
    return *installed_;
  }
  /// One object of this type at the end of the .cu; `launchers` must live for ever.
  explicit DeviceTable(const Launchers& launchers) { installed_ = &launchers; }

 private:
  inline static const Launchers* installed_ = nullptr;
};

}  // namespace tersor::compressors

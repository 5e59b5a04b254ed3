// SPDX-License-Identifier: Apache-2.0
#include "compressors/wire/minifloat.hpp"

namespace tersor::compressors {

int width_of(SmallFloat format) {
  switch (format) {
    case SmallFloat::kE4M3:
    case SmallFloat::kE5M2:
    case SmallFloat::kInt8: return 8;
    case SmallFloat::kE2M3:
    case SmallFloat::kE3M2: return 6;
    case SmallFloat::kE2M1: return 4;
  }
  return 0;
}

float largest_of(SmallFloat format) {
  switch (format) {
    case SmallFloat::kE4M3: return float_of(E4M3::kLargestBits);
    case SmallFloat::kE5M2: return float_of(E5M2::kLargestBits);
    case SmallFloat::kE2M3: return float_of(E2M3::kLargestBits);
    case SmallFloat::kE3M2: return float_of(E3M2::kLargestBits);
    case SmallFloat::kE2M1: return float_of(E2M1::kLargestBits);
    case SmallFloat::kInt8: return 127.0f / 64.0f;
  }
  return 0;
}

SmallFormat small_format(SmallFloat format) {
  switch (format) {
    case SmallFloat::kE4M3: return E4M3::format();
    case SmallFloat::kE5M2: return E5M2::format();
    case SmallFloat::kE2M3: return E2M3::format();
    case SmallFloat::kE3M2: return E3M2::format();
    case SmallFloat::kE2M1: return E2M1::format();
    case SmallFloat::kInt8: break;
  }
  return MxInt8::format();
}

}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/device/scaled.cuh"
#include "compressors/wire/minifloat.hpp"

namespace tersor::compressors::device {

/// What coders of small floats share: nearest rounding of x / scale, 0 where the scale is 0.
struct SmallFloatCoder {
  using Key = MagnitudeKey;
  struct Scale {
    float value = 1.0f;
    std::uint32_t stored = 0;
  };
  struct Step {
    float scale = 0.0f;
  };
  static constexpr bool kHasChannels = false;
  static constexpr bool kHasMeans = false;
  static constexpr bool kHasTensorScale = false;

  int width = 8;
  std::int64_t metadata_bytes = 0;
  Rounding rounding;
  SmallFormat format;

  __device__ __forceinline__ std::uint32_t code(float x, const Scale& scale) const {
    const std::uint32_t code = format.encode(__fdiv_rn(x, scale.value));
    return scale.value == 0.0f ? 0u : code;
  }
  __device__ __forceinline__ std::uint32_t code_drawn(float x, const Scale& scale,
                                                      std::int32_t) const {
    return code(x, scale);
  }
  __device__ __forceinline__ static Step step_of(const Scale& scale) { return {scale.value}; }
  __device__ __forceinline__ float value(std::uint32_t code, const Step& step) const {
    return __fmul_rn(format.decode(code), step.scale);
  }
};

}  // namespace tersor::compressors::device

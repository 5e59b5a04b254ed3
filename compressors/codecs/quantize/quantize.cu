// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/quantize/quantize.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/device/scaled.cuh"

namespace tersor::compressors {
namespace {

using namespace device;

struct QuantizeCoder {
  using Key = MagnitudeKey;  ///< scale=rms: the mean square
  static constexpr bool kHasChannels = true;
  static constexpr bool kHasMeans = true;
  static constexpr bool kHasTensorScale = false;
  struct Scale {
    float divisor = 1.0f;
    std::uint16_t half = 0;  ///< what is stored
  };
  struct Step {
    float step = 0.0f;  ///< scale / 2^(bits-1), exact
  };

  int width = 8;
  std::int64_t metadata_bytes = 0;
  Rounding rounding;
  float half = 128.0f;  ///< 2^(bits-1)
  bool is_rms = false;
  bool is_bian = false;
  bool is_quotient_float16 = false;

  __device__ __forceinline__ Scale scale_of(Key key, float) const {
    float s = float_of(key.bits);
    if (is_rms) s = __fmul_rn(2.0f, __fsqrt_rn(s));
    Scale scale;
    scale.half = scale_to_float16(s);
    scale.divisor = __fadd_rn(float16_to_float32(scale.half), 1e-6f);
    if (is_bian) scale.divisor = float16_to_float32(float32_to_float16(scale.divisor));
    return scale;
  }
  __device__ __forceinline__ void write(std::byte* payload, std::int64_t scope, std::int64_t, Key,
                                        const Scale& scale) const {
    store_bytes(payload + 2 * scope, scale.half);
  }
  /// x / divisor * 2^(bits-1), limited to the codes.
  __device__ __forceinline__ float limited(float x, const Scale& scale) const {
    float v = __fdiv_rn(nan_to_zero(x), scale.divisor);
    if (is_quotient_float16) v = float16_to_float32(float32_to_float16(v));
    v = __fmul_rn(v, half);
    v = v > -half ? v : -half;
    return v < half - 1.0f ? v : half - 1.0f;
  }
  __device__ __forceinline__ std::uint32_t code(float x, const Scale& scale) const {
    const float q = round_nearest_even(limited(x, scale));
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(__fadd_rn(q, half)));
  }
  __device__ __forceinline__ std::uint32_t code_drawn(float x, const Scale& scale,
                                                      std::int32_t draw) const {
    const float v = limited(x, scale);
    const float nearest = round_nearest_even(v);
    const float down = nearest > v ? __fsub_rn(nearest, 1.0f) : nearest;
    const auto threshold = static_cast<std::int32_t>(__fmul_rn(__fsub_rn(v, down), 65536.0f));
    float q = draw < threshold ? __fadd_rn(down, 1.0f) : down;
    q = q < half - 1.0f ? q : half - 1.0f;
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(__fadd_rn(q, half)));
  }
  __device__ __forceinline__ Step step_of(const std::byte* payload, std::int64_t scope,
                                          std::int64_t) const {
    const auto stored = load_bytes<std::uint16_t>(payload + 2 * scope);
    return step_of({1.0f, stored});
  }
  __device__ __forceinline__ Step step_of(const Scale& scale) const {
    return {__fdiv_rn(float16_to_float32(scale.half), half)};
  }
  __device__ __forceinline__ float value(std::uint32_t code, const Step& step) const {
    const float q = __fsub_rn(static_cast<float>(static_cast<std::int32_t>(code)), half);
    const float product = __fmul_rn(q, step.step);
    return is_bian ? float16_to_float32(float32_to_float16(product)) : product;
  }
};

QuantizeCoder coder_of(const ScopeGrid& grid, const QuantizeOptions& options) {
  QuantizeCoder coder;
  coder.width = options.bits;
  coder.metadata_bytes = 2 * grid.count();
  coder.half = static_cast<float>(1 << (options.bits - 1));
  coder.is_rms = options.is_rms;
  coder.is_bian = options.is_bian;
  return coder;
}

void encode(const TensorView& in, const FeedbackArray& feedback, const ScopeGrid& grid,
            const QuantizeOptions& options, std::byte* payload, const Context& context) {
  QuantizeCoder coder = coder_of(grid, options);
  coder.is_quotient_float16 = options.is_bian && in.dtype == DType::kFloat16;
  coder.rounding = rounding_of(context, options.is_stochastic);
  launch_encode(in, feedback, grid, coder, options.is_rms, payload, context, "quantize");
}

void decode(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
            const ScopeGrid& grid, const QuantizeOptions& options, const DecodeTarget& target,
            const Context& context) {
  launch_decode(payloads, shape, grid, coder_of(grid, options), target, context, "quantize");
}

constexpr QuantizeLaunchers kLaunchers{encode, decode};
const DeviceTable<QuantizeLaunchers> kInstalled(kLaunchers);

}  // namespace
}  // namespace tersor::compressors

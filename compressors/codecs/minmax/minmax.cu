// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/minmax/minmax.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/device/scaled.cuh"

namespace tersor::compressors {
namespace {

using namespace device;

struct MinMaxCoder {
  using Key = RangeKey;
  static constexpr bool kHasChannels = true;
  static constexpr bool kHasMeans = false;
  static constexpr bool kHasTensorScale = false;
  /// What both sides derive from the limits; factor is 0.5 where high - low overflows, else 1.
  struct Scale {
    float low = 0.0f;
    float high = 0.0f;
    float factor = 1.0f;
    float base = 0.0f;
    float width = 0.0f;
  };
  using Step = Scale;

  int width = 8;
  std::int64_t metadata_bytes = 0;
  Rounding rounding;
  float top = 255.0f;  ///< 2^bits - 1

  __device__ __forceinline__ static Scale derive(float low, float high) {
    Scale s;
    s.low = low;
    s.high = high;
    s.factor = magnitude_bits(__fsub_rn(high, low)) == 0x7F800000u ? 0.5f : 1.0f;
    s.base = __fmul_rn(low, s.factor);
    s.width = __fsub_rn(__fmul_rn(high, s.factor), s.base);
    return s;
  }
  __device__ __forceinline__ Scale scale_of(Key key, float) const {
    if (key.is_empty()) return derive(0.0f, 0.0f);
    return derive(Key::value(key.low), Key::value(key.high));
  }
  __device__ __forceinline__ void write(std::byte* payload, std::int64_t scope, std::int64_t scopes,
                                        Key, const Scale& scale) const {
    store_bytes(payload + 4 * scope, bits_of(scale.low));
    store_bytes(payload + 4 * (scopes + scope), bits_of(scale.high));
  }
  /// (x - min) / (max - min) * (2^bits - 1), limited to the codes.
  __device__ __forceinline__ float limited(float x, const Scale& s) const {
    float v = __fmul_rn(__fadd_rn(nan_to_zero(x), 0.0f), s.factor);
    v = __fmul_rn(__fdiv_rn(__fsub_rn(v, s.base), s.width == 0.0f ? 1.0f : s.width), top);
    v = s.width == 0.0f ? 0.0f : v;
    v = v > 0.0f ? v : 0.0f;
    return v < top ? v : top;
  }
  __device__ __forceinline__ std::uint32_t code(float x, const Scale& s) const {
    const float q = round_nearest_even(limited(x, s));
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(q));
  }
  __device__ __forceinline__ std::uint32_t code_drawn(float x, const Scale& s,
                                                      std::int32_t draw) const {
    const float v = limited(x, s);
    const auto down = static_cast<std::int32_t>(v);  // v >= 0: truncation is the floor
    const float rest = __fsub_rn(v, static_cast<float>(down));
    const auto threshold = static_cast<std::int32_t>(__fmul_rn(rest, 65536.0f));
    return static_cast<std::uint32_t>(down + (draw < threshold ? 1 : 0));
  }
  __device__ __forceinline__ Step step_of(const std::byte* payload, std::int64_t scope,
                                          std::int64_t scopes) const {
    return derive(float_of(load_bytes<std::uint32_t>(payload + 4 * scope)),
                  float_of(load_bytes<std::uint32_t>(payload + 4 * (scopes + scope))));
  }
  __device__ __forceinline__ static Step step_of(const Scale& scale) { return scale; }
  __device__ __forceinline__ float value(std::uint32_t code, const Step& s) const {
    const float share = __fdiv_rn(static_cast<float>(static_cast<std::int32_t>(code)), top);
    float value = __fadd_rn(s.base, __fmul_rn(share, s.width));
    if (s.factor == 1.0f) return value;
    value = __fmul_rn(value, 2.0f);
    value = value < s.low ? s.low : value;
    return value > s.high ? s.high : value;
  }
};

MinMaxCoder coder_of(const ScopeGrid& grid, const MinMaxOptions& options) {
  MinMaxCoder coder;
  coder.width = options.bits;
  coder.metadata_bytes = 8 * grid.count();
  coder.top = static_cast<float>((1 << options.bits) - 1);
  return coder;
}

void encode(const TensorView& in, const FeedbackArray& feedback, const ScopeGrid& grid,
            const MinMaxOptions& options, std::byte* payload, const Context& context) {
  MinMaxCoder coder = coder_of(grid, options);
  coder.rounding = rounding_of(context, options.is_stochastic);
  launch_encode(in, feedback, grid, coder, false, payload, context, "minmax");
}

void decode(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
            const ScopeGrid& grid, const MinMaxOptions& options, const DecodeTarget& target,
            const Context& context) {
  launch_decode(payloads, shape, grid, coder_of(grid, options), target, context, "minmax");
}

constexpr MinMaxLaunchers kLaunchers{encode, decode};
const DeviceTable<MinMaxLaunchers> kInstalled(kLaunchers);

}  // namespace
}  // namespace tersor::compressors

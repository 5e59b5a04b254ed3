// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/mx/mx.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/device/minifloat.cuh"
#include "compressors/wire/minifloat.hpp"

namespace tersor::compressors {
namespace {

using namespace device;

struct MxCoder : SmallFloatCoder {
  int emax = 0;

  __device__ __forceinline__ static float power_of(std::uint32_t stored) {
    return float_of(stored == 0 ? 0x00400000u : stored << 23);
  }
  __device__ __forceinline__ Scale scale_of(Key key, float) const {
    if (key.bits == 0) return {power_of(0), 0};
    // A subnormal has exponent field 0: its leading bit tells.
    const int log2 = key.bits >= 0x00800000u ? static_cast<int>(key.bits >> 23) - 127
                                             : -118 - __clz(static_cast<int>(key.bits));
    int e = log2 - emax;
    e = e < -127 ? -127 : e;
    e = e > 127 ? 127 : e;
    const auto stored = static_cast<std::uint32_t>(e + 127);
    return {power_of(stored), stored};
  }
  /// The scale is a power of two, so this product and the quotient are the same number.
  __device__ __forceinline__ std::uint32_t code(float x, const Scale& scale) const {
    const float inverse = float_of(scale.stored == 254 ? 0x00400000u : (254u - scale.stored) << 23);
    return format.encode(__fmul_rn(x, inverse));
  }
  __device__ __forceinline__ void write(std::byte* payload, std::int64_t scope, std::int64_t, Key,
                                        const Scale& scale) const {
    payload[scope] = static_cast<std::byte>(scale.stored);
  }
  using SmallFloatCoder::step_of;
  __device__ __forceinline__ Step step_of(const std::byte* payload, std::int64_t scope,
                                          std::int64_t) const {
    return {power_of(static_cast<std::uint32_t>(payload[scope]))};
  }
};

MxCoder coder_of(SmallFloat format, int emax, const ScopeGrid& grid) {
  MxCoder coder;
  coder.format = small_format_of(format);
  coder.width = coder.format.width;
  coder.metadata_bytes = grid.count();
  coder.emax = emax;
  return coder;
}

void encode(const TensorView& in, const KeptArray& kept, const ScopeGrid& grid, SmallFloat format,
            int emax, std::byte* payload, const Context& context) {
  launch_encode(in, kept, grid, coder_of(format, emax, grid), false, payload, context, "mx");
}

void decode(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
            const ScopeGrid& grid, SmallFloat format, int emax, const DecodeTarget& target,
            const Context& context) {
  launch_decode(payloads, shape, grid, coder_of(format, emax, grid), target, context, "mx");
}

constexpr MxLaunchers kLaunchers{encode, decode};
const DeviceTable<MxLaunchers> kInstalled(kLaunchers);

}  // namespace
}  // namespace tersor::compressors

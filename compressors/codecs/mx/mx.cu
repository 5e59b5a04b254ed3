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

  __device__ __forceinline__ Scale scale_of(Key key, float) const {
    const std::uint32_t stored = mx_exponent(key.bits, emax);
    return {mx_scale(stored), stored};
  }
  /// This product and the quotient are the same number.
  __device__ __forceinline__ std::uint32_t code(float x, const Scale& scale) const {
    return format.encode(__fmul_rn(x, mx_inverse_scale(scale.stored)));
  }
  __device__ __forceinline__ void write(std::byte* payload, std::int64_t scope, std::int64_t, Key,
                                        const Scale& scale) const {
    payload[scope] = static_cast<std::byte>(scale.stored);
  }
  using SmallFloatCoder::step_of;
  __device__ __forceinline__ Step step_of(const std::byte* payload, std::int64_t scope,
                                          std::int64_t) const {
    return {mx_scale(static_cast<std::uint32_t>(payload[scope]))};
  }
};

MxCoder coder_of(SmallFloat format, int emax, const ScopeGrid& grid) {
  MxCoder coder;
  coder.format = small_format(format);
  coder.width = coder.format.width;
  coder.metadata_bytes = grid.count();
  coder.emax = emax;
  return coder;
}

void encode(const TensorView& in, const FeedbackArray& feedback, const ScopeGrid& grid,
            SmallFloat format, int emax, std::byte* payload, const Context& context) {
  launch_encode(in, feedback, grid, coder_of(format, emax, grid), false, payload, context, "mx");
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

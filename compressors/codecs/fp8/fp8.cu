// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/fp8/fp8.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/device/minifloat.cuh"
#include "compressors/wire/minifloat.hpp"

namespace tersor::compressors {
namespace {

using namespace device;

struct Fp8Coder : SmallFloatCoder {
  float largest = 448.0f;

  __device__ __forceinline__ Scale scale_of(Key key, float) const {
    const float s = __fdiv_rn(float_of(key.bits), largest);
    return {s == 0.0f ? 1.0f : s, 0};
  }
  __device__ __forceinline__ void write(std::byte* payload, std::int64_t scope, std::int64_t, Key,
                                        const Scale& scale) const {
    store_bytes(payload + 4 * scope, bits_of(scale.value));
  }
  using SmallFloatCoder::step_of;
  __device__ __forceinline__ Step step_of(const std::byte* payload, std::int64_t scope,
                                          std::int64_t) const {
    return {float_of(load_bytes<std::uint32_t>(payload + 4 * scope))};
  }
};

Fp8Coder coder_of(SmallFloat format, const ScopeGrid& grid) {
  Fp8Coder coder;
  coder.format = small_format(format);
  coder.metadata_bytes = 4 * grid.count();
  coder.largest = largest_of(format);
  return coder;
}

void encode(const TensorView& in, const FeedbackArray& feedback, const ScopeGrid& grid,
            SmallFloat format, std::byte* payload, const Context& context) {
  launch_encode(in, feedback, grid, coder_of(format, grid), false, payload, context, "fp8");
}

void decode(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
            const ScopeGrid& grid, SmallFloat format, const DecodeTarget& target,
            const Context& context) {
  launch_decode(payloads, shape, grid, coder_of(format, grid), target, context, "fp8");
}

constexpr Fp8Launchers kLaunchers{encode, decode};
const DeviceTable<Fp8Launchers> kInstalled(kLaunchers);

}  // namespace
}  // namespace tersor::compressors

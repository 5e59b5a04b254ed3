// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/nvfp4/nvfp4.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/device/minifloat.cuh"
#include "compressors/wire/minifloat.hpp"

namespace tersor::compressors {
namespace {

using namespace device;

struct NvFp4Coder : SmallFloatCoder {
  static constexpr bool kHasTensorScale = true;

  __device__ __forceinline__ float tensor_of(Key key) const {
    const float t = __fdiv_rn(float_of(key.bits), 2688.0f);
    return t == 0.0f ? 1.0f : t;
  }
  __device__ __forceinline__ void write_tensor(std::byte* payload, float t) const {
    store_bytes(payload, bits_of(t));
  }
  __device__ __forceinline__ Scale scale_of(Key key, float t) const {
    const std::uint32_t stored = E4M3::encode(__fdiv_rn(__fdiv_rn(float_of(key.bits), 6.0f), t));
    return {__fmul_rn(E4M3::decode(stored), t), stored};
  }
  __device__ __forceinline__ void write(std::byte* payload, std::int64_t scope, std::int64_t, Key,
                                        const Scale& scale) const {
    payload[4 + scope] = static_cast<std::byte>(scale.stored);
  }
  using SmallFloatCoder::step_of;
  __device__ __forceinline__ Step step_of(const std::byte* payload, std::int64_t scope,
                                          std::int64_t) const {
    const float t = float_of(load_bytes<std::uint32_t>(payload));
    return {__fmul_rn(E4M3::decode(static_cast<std::uint32_t>(payload[4 + scope])), t)};
  }
};

NvFp4Coder coder_of(const ScopeGrid& grid) {
  NvFp4Coder coder;
  coder.format = small_format(SmallFloat::kE2M1);
  coder.width = coder.format.width;
  coder.metadata_bytes = 4 + grid.count();
  return coder;
}

void encode(const TensorView& in, const FeedbackArray& feedback, const ScopeGrid& grid,
            std::byte* payload, const Context& context) {
  launch_encode(in, feedback, grid, coder_of(grid), false, payload, context, "nvfp4");
}

void decode(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
            const ScopeGrid& grid, const DecodeTarget& target, const Context& context) {
  launch_decode(payloads, shape, grid, coder_of(grid), target, context, "nvfp4");
}

constexpr NvFp4Launchers kLaunchers{encode, decode};
const DeviceTable<NvFp4Launchers> kInstalled(kLaunchers);

}  // namespace
}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/none/none.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/device/plain.cuh"

namespace tersor::compressors {
namespace {

using namespace device;

constexpr std::int64_t kBytesPerBlock = std::int64_t{kThreads} * 16 * kSubtiles;

/// Copies bits: 16 bytes a thread where both ends are aligned, else single bytes.
__global__ void __launch_bounds__(kThreads)
    copy_kernel(const std::byte* from, std::int64_t bytes, std::byte* to) {
  const bool is_aligned = is_aligned_16(from) && is_aligned_16(to);
#pragma unroll
  for (int j = 0; j < kSubtiles; ++j) {
    const std::int64_t at = blockIdx.x * kBytesPerBlock + (j * kThreads + threadIdx.x) * 16ll;
    if (at >= bytes) return;
    if (is_aligned && at + 16 <= bytes) {
      store_vector(reinterpret_cast<uint4*>(to + at),
                   load_vector(reinterpret_cast<const uint4*>(from + at)));
    } else {
      for (std::int64_t i = at; i < at + 16 && i < bytes; ++i) to[i] = from[i];
    }
  }
}

void copy(const void* from, std::size_t bytes, std::byte* to, void* stream) {
  if (bytes == 0) return;
  const auto count = static_cast<std::int64_t>(bytes);
  TERSOR_LAUNCH(copy_kernel, static_cast<unsigned>((count + kBytesPerBlock - 1) / kBytesPerBlock),
                kThreads, 0, stream, static_cast<const std::byte*>(from), count, to);
}

void encode(const TensorView& in, const FeedbackArray& feedback, std::byte* out, void* stream) {
  const std::int64_t n = in.shape.elements();
  with_source(in, feedback, [&]<class In>(In, typename Source<In>::Tensor tensor) {
    if constexpr (Source<In>::kHasFeedback)
      TERSOR_LAUNCH((round_kernel<In, typename Source<In>::Element>), blocks_of_tiles(n, "none"),
                    kThreads, 0, stream, tensor, n, out);
  });
}

constexpr NoneLaunchers kLaunchers{copy, encode};
const DeviceTable<NoneLaunchers> kInstalled(kLaunchers);

}  // namespace
}  // namespace tersor::compressors

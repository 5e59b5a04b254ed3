// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/cast/cast.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/device/plain.cuh"

// One pass over the data in 16-byte loads and stores; the rounding is the host's (floats.hpp).

namespace tersor::compressors {
namespace {

using namespace device;

template <class Out>
void encode_to(const TensorView& in, const FeedbackArray& feedback, std::byte* out, void* stream) {
  const std::int64_t n = in.shape.elements();
  with_source(in, feedback, [&]<class In>(In, typename Source<In>::Tensor tensor) {
    TERSOR_LAUNCH((round_kernel<In, Out>), blocks_of_tiles(n, "cast"), kThreads, 0, stream, tensor,
                  n, out);
  });
}

void encode(const TensorView& in, const FeedbackArray& feedback, DType format, std::byte* out,
            void* stream) {
  if (in.shape.elements() == 0) return;
  if (format == DType::kFloat16)
    encode_to<Float16>(in, feedback, out, stream);
  else
    encode_to<BFloat16>(in, feedback, out, stream);
}

void decode(std::span<const std::span<const std::byte>> payloads, DType format, std::int64_t n,
            const DecodeTarget& target, void* stream) {
  if (n == 0) return;
  if (format == DType::kFloat16)
    launch_sum<Float16>(payloads, n, target, "cast", stream);
  else
    launch_sum<BFloat16>(payloads, n, target, "cast", stream);
}

constexpr CastLaunchers kLaunchers{encode, decode};
const DeviceTable<CastLaunchers> kInstalled(kLaunchers);

}  // namespace
}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#include "compressors/api/device_table.hpp"
#include "compressors/api/plain.cuh"
#include "compressors/cast/cast.hpp"

// One pass over the data in 16-byte loads and stores; the rounding is the host's (floats.hpp).

namespace tersor::compressors {
namespace {

using namespace device;

template <class Out>
void encode_to(const TensorView& in, const KeptArray& kept, std::byte* out, void* stream) {
  const std::int64_t n = in.shape.elements();
  with_source(in, kept, [&]<class In>(In, typename Source<In>::Tensor tensor) {
    TERSOR_LAUNCH((round_kernel<In, Out>), blocks_of_tiles(n, "cast"), kThreads, 0, stream, tensor,
                  n, out);
  });
}

void encode(const TensorView& in, const KeptArray& kept, DType format, std::byte* out,
            void* stream) {
  if (in.shape.elements() == 0) return;
  if (format == DType::kFloat16)
    encode_to<Float16>(in, kept, out, stream);
  else
    encode_to<BFloat16>(in, kept, out, stream);
}

template <class In>
void decode_from(std::span<const std::span<const std::byte>> all, std::int64_t n,
                 const DecodeTarget& target, void* stream) {
  for_each_batch(all, target.is_accumulated, [&](const Payloads& payloads, bool is_accumulated) {
    with_type(target.dtype, [&]<class Out>(Out) {
      TERSOR_LAUNCH((sum_kernel<In, Out>), blocks_of_tiles(n, "cast"), kThreads, 0, stream,
                    payloads, n, is_accumulated, static_cast<typename Out::Storage*>(target.data));
    });
  });
}

void decode(std::span<const std::span<const std::byte>> payloads, DType format, std::int64_t n,
            const DecodeTarget& target, void* stream) {
  if (n == 0) return;
  if (format == DType::kFloat16)
    decode_from<Float16>(payloads, n, target, stream);
  else
    decode_from<BFloat16>(payloads, n, target, stream);
}

constexpr CastLaunchers kLaunchers{encode, decode};
const DeviceTable<CastLaunchers> kInstalled(kLaunchers);

}  // namespace
}  // namespace tersor::compressors

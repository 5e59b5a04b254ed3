// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/spike/spike_kernels.hpp"

#include <algorithm>
#include <cstring>

#include "compressors/host/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/spike/spike_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#if HWY_TARGET <= HWY_AVX2
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace tersor::compressors::kernels {
namespace HWY_NAMESPACE {

// Bit `bit` of eight bytes to eight bits, and back.
inline unsigned gather_byte(std::uint64_t codes, int bit) {
#if HWY_TARGET <= HWY_AVX2
  return static_cast<unsigned>(_pext_u64(codes, 0x0101010101010101u << bit));
#else
  // The product moves the lowest bit of byte i to bit 56 + i.
  return static_cast<unsigned>((((codes >> bit) & 0x0101010101010101u) * 0x0102040810204080u) >>
                               56);
#endif
}
inline std::uint64_t scatter_byte(std::uint64_t bits, int bit) {
#if HWY_TARGET <= HWY_AVX2
  return _pdep_u64(bits, 0x0101010101010101u << bit);
#else
  std::uint64_t codes = 0;
  for (int i = 0; i < 8; ++i) codes |= ((bits >> i) & 1u) << (8 * i + bit);
  return codes;
#endif
}

void gather_plane(const std::uint8_t* HWY_RESTRICT codes, std::int64_t count, int bit,
                  std::byte* HWY_RESTRICT out) {
  for (std::int64_t i = 0; i < count; i += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, codes + i, static_cast<std::size_t>(std::min<std::int64_t>(8, count - i)));
    *out++ = static_cast<std::byte>(gather_byte(eight, bit));
  }
}

void scatter_plane(const std::byte* HWY_RESTRICT plane, std::int64_t count, int bit,
                   std::uint8_t* HWY_RESTRICT codes) {
  for (std::int64_t i = 0; i < count; i += 8) {
    const auto size = static_cast<std::size_t>(std::min<std::int64_t>(8, count - i));
    std::uint64_t eight = 0;
    std::memcpy(&eight, codes + i, size);
    eight |= scatter_byte(std::to_integer<std::uint64_t>(*plane++), bit);
    std::memcpy(codes + i, &eight, size);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tersor::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tersor::compressors::kernels {
HWY_EXPORT(gather_plane);
HWY_EXPORT(scatter_plane);
void gather_plane(const std::uint8_t* codes, std::int64_t count, int bit, std::byte* out) {
  HWY_DYNAMIC_DISPATCH(gather_plane)(codes, count, bit, out);
}
void scatter_plane(const std::byte* plane, std::int64_t count, int bit, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(scatter_plane)(plane, count, bit, codes);
}
}  // namespace tersor::compressors::kernels
#endif  // HWY_ONCE

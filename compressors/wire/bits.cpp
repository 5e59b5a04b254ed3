// SPDX-License-Identifier: Apache-2.0
#include "compressors/wire/bits.hpp"

namespace tersor::compressors {
namespace {

/// Eight codes fill `width` whole bytes.
template <int kWidth>
void pack_fixed(const std::uint8_t* codes, std::int64_t thread_tiles, std::byte* out) {
  for (std::int64_t o = 0; o < thread_tiles; ++o, codes += 8, out += kWidth) {
    std::uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word |= static_cast<std::uint64_t>(codes[i]) << (i * kWidth);
    for (int byte = 0; byte < kWidth; ++byte)
      out[byte] = static_cast<std::byte>(word >> (8 * byte));
  }
}

template <int kWidth>
void unpack_fixed(const std::byte* in, std::int64_t thread_tiles, std::uint8_t* codes) {
  constexpr std::uint64_t kMask = (1u << kWidth) - 1;
  for (std::int64_t o = 0; o < thread_tiles; ++o, codes += 8, in += kWidth) {
    std::uint64_t word = 0;
    for (int byte = 0; byte < kWidth; ++byte)
      word |= static_cast<std::uint64_t>(in[byte]) << (8 * byte);
    for (int i = 0; i < 8; ++i) codes[i] = static_cast<std::uint8_t>(word >> (i * kWidth) & kMask);
  }
}

/// Calls function.operator()<width>().
template <class Function>
void with_width(int width, Function function) {
  switch (width) {
    case 1: return function.template operator()<1>();
    case 2: return function.template operator()<2>();
    case 3: return function.template operator()<3>();
    case 4: return function.template operator()<4>();
    case 5: return function.template operator()<5>();
    case 6: return function.template operator()<6>();
    case 7: return function.template operator()<7>();
    case 8: return function.template operator()<8>();
    default: TERSOR_CHECK(false, "code width " + std::to_string(width) + " is not in 1..8");
  }
}

}  // namespace

void pack_codes(const std::uint8_t* codes, std::int64_t count, int width, std::byte* out) {
  const std::int64_t thread_tiles = count / 8;
  with_width(width, [&]<int kWidth>() { pack_fixed<kWidth>(codes, thread_tiles, out); });
  BitWriter tail(out + thread_tiles * width);
  for (std::int64_t i = thread_tiles * 8; i < count; ++i) tail.put(codes[i], width);
  tail.finish();
}

void unpack_codes(const std::byte* in, std::int64_t count, int width, std::uint8_t* codes) {
  const std::int64_t thread_tiles = count / 8;
  with_width(width, [&]<int kWidth>() { unpack_fixed<kWidth>(in, thread_tiles, codes); });
  BitReader tail(in + thread_tiles * width);
  for (std::int64_t i = thread_tiles * 8; i < count; ++i)
    codes[i] = static_cast<std::uint8_t>(tail.take(width));
}

void expect_payload_bytes(std::span<const std::byte> payload, std::size_t expected,
                          std::string_view codec) {
  if (payload.size() == expected) return;
  throw Error(ErrorKind::kPayload, std::string(codec) + ": payload has " +
                                       std::to_string(payload.size()) + " bytes, not " +
                                       std::to_string(expected));
}

void expect_room(std::span<const std::byte> out, std::size_t needed, std::string_view codec) {
  TERSOR_CHECK(out.size() >= needed, std::string(codec) + ": room for " +
                                         std::to_string(out.size()) + " bytes, payload has " +
                                         std::to_string(needed));
}

}  // namespace tersor::compressors

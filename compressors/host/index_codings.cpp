// SPDX-License-Identifier: Apache-2.0
#include "compressors/host/index_codings.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "common/error.hpp"
#include "compressors/host/index_kernels.hpp"
#include "compressors/host/kernels.hpp"
#include "compressors/wire/bits.hpp"

namespace tersor::compressors {

namespace {

[[noreturn]] void refuse(std::string_view codec, const std::string& why) {
  throw Error(ErrorKind::kPayload, std::string(codec) + ": " + why);
}

[[noreturn]] void refuse_order(std::string_view codec) {
  refuse(codec, "indices do not ascend inside their scope");
}

// Calls visit(first bit, word) for the words of the first `bits` bits; the last one has zeros
// above.
template <class Visit>
void for_each_word(const std::byte* in, std::int64_t bits, Visit&& visit) {
  for (std::int64_t begin = 0; begin < bits; begin += 64) {
    const std::int64_t left = std::min<std::int64_t>(64, bits - begin);
    if (left == 64) {
      visit(begin, load<std::uint64_t>(in + begin / 8));
      continue;
    }
    std::uint64_t word = 0;
    std::memcpy(&word, in + begin / 8, static_cast<std::size_t>((left + 7) / 8));
    visit(begin, word & ((std::uint64_t{1} << left) - 1));
  }
}

// Calls visit(position) for every set bit of the first `bits` bits, ascending.
template <class Visit>
void for_each_bit(const std::byte* in, std::int64_t bits, Visit&& visit) {
  for_each_word(in, bits, [&](std::int64_t begin, std::uint64_t word) {
    for (; word != 0; word &= word - 1) visit(begin + std::countr_zero(word));
  });
}

// Low fields of up to a byte go through the kernels, in pieces.
constexpr std::int64_t kPiece = 1024;

std::byte* write_low_fields(std::span<const std::uint32_t> index, int width, std::byte* out) {
  const std::uint32_t mask = (1u << width) - 1;
  if (width > 8) {
    BitWriter low(out);
    for (const std::uint32_t i : index) low.put(i & mask, width);
    return low.finish();
  }
  std::array<std::uint8_t, kPiece> codes;
  for (std::int64_t begin = 0; width > 0 && begin < std::ssize(index); begin += kPiece) {
    const std::int64_t count = std::min(kPiece, std::ssize(index) - begin);
    const std::uint32_t* from = index.data() + begin;
    for (std::size_t j = 0; j < static_cast<std::size_t>(count); ++j)
      codes[j] = static_cast<std::uint8_t>(from[j] & mask);
    kernels::pack_bits(codes.data(), count, width, out + begin / 8 * width);
  }
  return out + packed_bytes(std::ssize(index), width);
}

// index[j] = index[j] << width | low field j; whether the indices ascend.
bool join_low_fields(const std::byte* in, int width, std::span<std::uint32_t> index) {
  std::int64_t before = -1;
  bool is_ascending = true;
  if (width > 8) {
    BitReader low(in);
    for (std::uint32_t& i : index) {
      i = static_cast<std::uint32_t>(std::uint64_t{i} << width | low.take(width));
      is_ascending &= std::int64_t{i} > before;
      before = i;
    }
    return is_ascending;
  }
  std::array<std::uint8_t, kPiece> codes{};
  for (std::int64_t begin = 0; begin < std::ssize(index); begin += kPiece) {
    const std::int64_t count = std::min(kPiece, std::ssize(index) - begin);
    if (width > 0) kernels::unpack_bits(in + begin / 8 * width, count, width, codes.data());
    std::uint32_t* const piece = index.data() + begin;
    is_ascending &= kernels::join_fields(codes.data(), count, width, before, piece);
    before = piece[count - 1];
  }
  return is_ascending;
}

void encode_elias_fano(std::span<const std::uint32_t> index, std::int64_t n, std::byte* out) {
  const std::int64_t k = std::ssize(index);
  const int low_bits = elias_fano_low_bits(n, k);
  std::byte* high = write_low_fields(index, low_bits, out);
  const auto size =
      static_cast<std::int64_t>(packed_bytes(elias_fano_high_bits(n, k, low_bits), 1));
  kernels::put_high_bits(index.data(), k, low_bits, size, high);
}

void decode_elias_fano(const std::byte* in, std::int64_t n, std::span<std::uint32_t> index,
                       std::string_view codec) {
  const std::int64_t k = std::ssize(index);
  const int low_bits = elias_fano_low_bits(n, k);
  const std::byte* high = in + packed_bytes(k, low_bits);
  const std::int64_t found =
      kernels::count_high_zeros(high, elias_fano_high_bits(n, k, low_bits), k, index.data());
  if (found > k) refuse(codec, "more indices than " + std::to_string(k));
  if (found != k) refuse(codec, std::to_string(found) + " indices instead of " + std::to_string(k));
  // As many bits as this are zero, so no index has more than 32 bits.
  if (!join_low_fields(in, low_bits, index) || index.back() >= n) refuse_order(codec);
}

void decode_bitmap(const std::byte* in, std::int64_t n, std::span<std::uint32_t> index,
                   std::string_view codec) {
  std::size_t found = 0;
  for_each_bit(in, n, [&](std::int64_t bit) {
    if (found == index.size()) refuse(codec, "more indices than " + std::to_string(found));
    index[found++] = static_cast<std::uint32_t>(bit);
  });
  if (found != index.size())
    refuse(codec, std::to_string(found) + " indices instead of " + std::to_string(index.size()));
}

template <class Int>
void decode_integers(const std::byte* in, std::int64_t n, std::span<std::uint32_t> index,
                     std::string_view codec) {
  std::int64_t before = -1;
  bool is_ascending = true;
  for (std::size_t j = 0; j < index.size(); ++j) {
    // A negative or huge i64 fails one of the two comparisons.
    const auto i = static_cast<std::int64_t>(load<Int>(in + j * sizeof(Int)));
    is_ascending &= i > before;
    before = i;
    index[j] = static_cast<std::uint32_t>(i);
  }
  if (!is_ascending || before >= n) refuse_order(codec);
}

}  // namespace

void encode_index(IndexCoding coding, std::span<const std::uint32_t> index, std::int64_t n,
                  std::byte* out) {
  switch (coding) {
    case IndexCoding::kI64:
      for (const std::uint32_t i : index) {
        store(out, static_cast<std::int64_t>(i));
        out += 8;
      }
      return;
    case IndexCoding::kU32: std::memcpy(out, index.data(), index.size_bytes()); return;
    case IndexCoding::kU16:
      for (const std::uint32_t i : index) {
        store(out, static_cast<std::uint16_t>(i));
        out += 2;
      }
      return;
    case IndexCoding::kBitmap:
      std::memset(out, 0, packed_bytes(n, 1));
      for (const std::uint32_t i : index) out[i / 8] |= std::byte{1} << (i % 8);
      return;
    case IndexCoding::kEliasFano: return encode_elias_fano(index, n, out);
    case IndexCoding::kAuto: break;
  }
  TERSOR_CHECK(false, "index coding is not resolved");
}

void decode_index(IndexCoding coding, const std::byte* in, std::int64_t n,
                  std::span<std::uint32_t> index, std::string_view codec) {
  switch (coding) {
    case IndexCoding::kI64: return decode_integers<std::int64_t>(in, n, index, codec);
    case IndexCoding::kU32: return decode_integers<std::uint32_t>(in, n, index, codec);
    case IndexCoding::kU16: return decode_integers<std::uint16_t>(in, n, index, codec);
    case IndexCoding::kBitmap: return decode_bitmap(in, n, index, codec);
    case IndexCoding::kEliasFano: return decode_elias_fano(in, n, index, codec);
    case IndexCoding::kAuto: break;
  }
  TERSOR_CHECK(false, "index coding is not resolved");
}

}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "common/error.hpp"

/// The bytes of payloads: little-endian values without alignment, and bit streams in which field i
/// takes bits i*b .. i*b+b-1 and bit j is bit j mod 8 of byte j div 8 (METHODS section 1,
/// "Payload").
namespace tersor::compressors {

static_assert(std::endian::native == std::endian::little,
              "payloads are copied as they lie in memory");

constexpr std::size_t packed_bytes(std::int64_t count, int width) {
  return (static_cast<std::size_t>(count) * static_cast<std::size_t>(width) + 7) / 8;
}

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

/// Packs `count` codes below 2^width (width 1..8) from a byte boundary; writes packed_bytes(count,
/// width) bytes, the last one zero-padded. Blocks of a multiple of 8 codes may be packed one by
/// one.
void pack_codes(const std::uint8_t* codes, std::int64_t count, int width, std::byte* out);
/// The reverse; reads packed_bytes(count, width) bytes.
void unpack_codes(const std::byte* in, std::int64_t count, int width, std::uint8_t* codes);

/// Appends fields of up to 57 bits to memory that the caller sized; finish() writes the last byte.
class BitWriter {
 public:
  explicit BitWriter(std::byte* out) : out_(out) {}
  void put(std::uint64_t value, int width) {
    pending_ |= value << filled_;
    filled_ += width;
    while (filled_ >= 8) {
      *out_++ = static_cast<std::byte>(pending_);
      pending_ >>= 8;
      filled_ -= 8;
    }
  }
  /// Zero-pads to a byte; returns the end of what was written.
  std::byte* finish() {
    if (filled_ > 0) *out_++ = static_cast<std::byte>(pending_);
    pending_ = 0;
    filled_ = 0;
    return out_;
  }

 private:
  std::byte* out_;
  std::uint64_t pending_ = 0;
  int filled_ = 0;
};

/// Reads fields of up to 57 bits; the caller checked that they are inside the memory.
class BitReader {
 public:
  explicit BitReader(const std::byte* in) : in_(in) {}
  std::uint64_t take(int width) {
    while (filled_ < width) {
      pending_ |= static_cast<std::uint64_t>(*in_++) << filled_;
      filled_ += 8;
    }
    const std::uint64_t value = pending_ & ((std::uint64_t{1} << width) - 1);
    pending_ >>= width;
    filled_ -= width;
    return value;
  }

 private:
  const std::byte* in_;
  std::uint64_t pending_ = 0;
  int filled_ = 0;
};

/// Walks a payload; throws Error(kPayload) where it is shorter or longer than what is read.
class PayloadReader {
 public:
  PayloadReader(std::span<const std::byte> data, std::string_view codec)
      : data_(data), codec_(codec) {}
  /// The next `bytes` bytes.
  const std::byte* take(std::size_t bytes) {
    if (bytes > data_.size() - at_)
      throw Error(ErrorKind::kPayload, std::string(codec_) + ": payload of " +
                                           std::to_string(data_.size()) + " bytes is too short, " +
                                           std::to_string(at_ + bytes) + " are needed");
    const std::byte* here = data_.data() + at_;
    at_ += bytes;
    return here;
  }
  std::size_t remaining() const { return data_.size() - at_; }
  void expect_end() const {
    if (at_ != data_.size())
      throw Error(ErrorKind::kPayload, std::string(codec_) + ": payload of " +
                                           std::to_string(data_.size()) + " bytes is too long, " +
                                           std::to_string(at_) + " are used");
  }

 private:
  std::span<const std::byte> data_;
  std::string_view codec_;
  std::size_t at_ = 0;
};

/// Throws Error(kPayload) unless the payload has exactly `expected` bytes.
void expect_payload_bytes(std::span<const std::byte> payload, std::size_t expected,
                          std::string_view codec);
/// Throws Error(kInternal) where the caller's buffer is smaller than the payload.
void expect_room(std::span<const std::byte> out, std::size_t needed, std::string_view codec);

}  // namespace tersor::compressors

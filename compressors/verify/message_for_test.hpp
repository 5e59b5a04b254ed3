// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <vector>

#include "compressors/api/codec.hpp"

/// What tests of codecs write often: one float32 message there and back.
namespace tersor::compressors::testing {

using Bytes = std::vector<std::byte>;

inline Bytes bytes(std::initializer_list<unsigned> values) {
  Bytes out;
  for (const unsigned v : values) out.push_back(static_cast<std::byte>(v));
  return out;
}

inline Shape row_of(const std::vector<float>& x) {
  return {1, 1, static_cast<std::int64_t>(x.size())};
}

inline Bytes encode(std::string_view spec, const std::vector<float>& x, const Shape& shape,
                    const Context& context = {}, State* state = nullptr) {
  const auto codec = make_codec(spec);
  Bytes out(codec->payload_bytes(shape, DType::kFloat32, context, 0, state));
  out.resize(codec->encode(0, {x.data(), shape, DType::kFloat32}, out, state, context));
  return out;
}

inline std::vector<float> decode(std::string_view spec, const Bytes& payload, const Shape& shape,
                                 const Context& context = {}, State* state = nullptr) {
  std::vector<float> out(static_cast<std::size_t>(shape.elements()));
  make_codec(spec)->decode(payload, shape, DType::kFloat32, out, state, context);
  return out;
}

inline std::vector<float> round_trip(std::string_view spec, const std::vector<float>& x,
                                     const Shape& shape, const Context& context = {}) {
  return decode(spec, encode(spec, x, shape, context), shape, context);
}

inline std::vector<float> round_trip(std::string_view spec, const std::vector<float>& x) {
  return round_trip(spec, x, row_of(x));
}

inline std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

/// n values with the tails of activations, from a small generator of its own.
inline std::vector<float> activations(std::int64_t n, std::uint64_t seed = 1) {
  std::vector<float> out(static_cast<std::size_t>(n));
  std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  const auto uniform = [&] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<double>(state >> 11) / 9007199254740992.0;
  };
  for (float& x : out) {
    const double sum = uniform() + uniform() + uniform() + uniform() - 2.0;
    x = static_cast<float>(sum * (0.25 + 4.0 * uniform() * uniform()));
  }
  return out;
}

}  // namespace tersor::compressors::testing

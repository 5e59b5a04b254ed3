// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/topk/long_scope.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/error.hpp"
#include "compressors/host/blocks.hpp"
#include "compressors/host/shares.hpp"
#include "compressors/wire/bits.hpp"
#include "compressors/wire/floats.hpp"

namespace tersor::compressors {
namespace {

// Shorter scopes are selected from directly; a sample of a longer one brackets the threshold.
constexpr std::int64_t kLongScope = 32768;
constexpr std::uint32_t kSamples = 8192;

struct Bracket {
  std::uint32_t low = 0;
  std::uint32_t high = 0xFFFFFFFFu;
};

float value_at(const std::byte* at, DType dtype) {
  if (dtype == DType::kFloat32) return float_of(load<std::uint32_t>(at));
  const auto bits = load<std::uint16_t>(at);
  return dtype == DType::kFloat16 ? float16_to_float32(bits) : bfloat16_to_float32(bits);
}

// Keys that about 4 standard deviations of the sample more and fewer than k elements reach.
Bracket sampled_bracket(const TensorView& in, const ScopeSlice& slice, std::int64_t k) {
  std::array<std::uint32_t, kSamples> sample;
  const auto step = static_cast<std::uint64_t>(slice.length / kSamples);
  // A place inside each stretch that does not favour a channel.
  const auto place = [&](std::uint32_t j) {
    const std::uint64_t inside = (std::uint64_t{j * 0x9E3779B1u} * step) >> 32;
    return slice.begin + static_cast<std::int64_t>(step * j + inside);
  };
  const auto item = static_cast<std::int64_t>(item_bytes(in.dtype));
  const auto* data = static_cast<const std::byte*>(in.data);
  constexpr std::uint32_t kAhead = 64;  // far apart, so each is a miss of the caches
  for (std::uint32_t j = 0; j < kAhead; ++j) __builtin_prefetch(data + place(j) * item);
  for (std::uint32_t j = 0; j < kSamples; ++j) {
    __builtin_prefetch(data + place(std::min(j + kAhead, kSamples - 1)) * item);
    sample[j] = magnitude_key(value_at(data + place(j) * item, in.dtype));
  }
  const double expected = static_cast<double>(k) / static_cast<double>(slice.length) * kSamples;
  const double margin = 4 * std::sqrt(expected) + 8;
  Bracket bracket;
  if (const auto rank = static_cast<std::int64_t>(expected + margin); rank < kSamples)
    bracket.low = find_threshold(sample, rank, {}).key;
  if (const auto rank = static_cast<std::int64_t>(expected - margin); rank >= 1)
    bracket.high = find_threshold(sample, rank, {}, bracket.low).key;
  return bracket;
}

// Candidates of a share of the blocks go to a stretch of their own: a share may find all of its
// elements, and kernels write up to kPositionSlack more.
std::int64_t collect_candidates(const TensorView& in, const ScopeSlice& slice, std::uint32_t bound,
                                const TopKSelection& s, int threads) {
  std::array<std::int64_t, kMostShares> begins{};
  std::array<std::int64_t, kMostShares> found{};
  const std::int64_t blocks = (slice.length - 1) / kBlockElements + 1;
  for_each_share(
      blocks, slice.length, threads, [&](std::int64_t first, std::int64_t last, std::int64_t slot) {
        const auto own = static_cast<std::size_t>(slot);
        begins[own] = first * kBlockElements + slot * kPositionSlack;
        std::array<float, kBlockElements> buffer;
        for (; first < last; ++first) {
          const std::int64_t begin = first * kBlockElements;
          const std::int64_t count = std::min(kBlockElements, slice.length - begin);
          const float* x = load_block(in, slice.begin + begin, count, buffer.data());
          const std::int64_t at = begins[own] + found[own];
          found[own] += collect_magnitudes(x, count, static_cast<std::uint32_t>(begin), bound,
                                           s.values.data() + at, s.index.data() + at);
        }
      });
  std::int64_t all = found[0];
  for (std::size_t i = 1; i < found.size(); ++i) {
    std::copy_n(s.values.data() + begins[i], found[i], s.values.data() + all);
    std::copy_n(s.index.data() + begins[i], found[i], s.index.data() + all);
    all += found[i];
  }
  return all;
}

}  // namespace

bool is_long(const ScopeGrid& scopes) {
  return scopes.is_contiguous() && scopes.longest() >= kLongScope;
}

std::int64_t candidate_elements(std::int64_t longest, int threads) {
  const std::int64_t blocks = (longest - 1) / kBlockElements + 1;
  return longest + share_count(blocks, longest, threads) * kPositionSlack;
}

Threshold select_long(const TensorView& in, const ScopeSlice& slice, std::int64_t k,
                      const TopKSelection& s, int threads) {
  const Bracket bracket = sampled_bracket(in, slice, k);
  for (const std::uint32_t bound : {bracket.low, 0u}) {
    const std::int64_t found = collect_candidates(in, slice, bound, s, threads);
    if (found >= k)
      return keep_largest(s.values.first(static_cast<std::size_t>(found)), s.index.data(), k,
                          bracket.high, s.keys, s.spare);
  }
  throw Error(ErrorKind::kInternal, "topk: fewer elements than k");
}

}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#include "compressors/topk/topk.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/error.hpp"
#include "compressors/api/bits.hpp"
#include "compressors/api/blocks.hpp"
#include "compressors/api/floats.hpp"
#include "compressors/api/kernels.hpp"
#include "compressors/api/registry.hpp"
#include "compressors/api/select.hpp"
#include "compressors/api/workspace.hpp"

namespace tersor::compressors {
namespace {

CodecInfo topk_info() {
  CodecInfo info;
  info.name = "topk";
  info.summary = "the largest values by magnitude, with their positions";
  info.source = "Bian et al., MLSys 2024; Rudakov et al., 2024";
  info.parameters = {
      Parameter::real("ratio", "0.01", 0, 1, true, "share of the values that is sent"),
      Parameter::optional_integer("k", 1, 2147483647, "values sent per scope, instead of ratio"),
      Parameter::choice("scope", scope_names(), "what is selected from"),
      Parameter::integer("group", 128, 1, 2147483647, "values of a group along hidden"),
      Parameter::choice("index", index_coding_names(), "coding of the positions"),
      Parameter::choice("variant", {"corrected", "rudakov"}, "rudakov: ties at the pivot dropped"),
  };
  info.make = [](const Arguments& a) {
    TopKOptions o;
    o.ratio = a.real("ratio");
    o.k = a.optional_integer("k");
    o.scope = parse_scope(a.choice("scope"));
    o.group = a.integer("group");
    o.index = parse_index_coding(a.choice("index"));
    o.is_rudakov = a.choice("variant") == "rudakov";
    return std::make_shared<TopK>(o, a.canonical());
  };
  info.examples = {
      "topk(ratio=0.1)",
      "topk(ratio=1)",
      "topk(k=3,scope=token)",
      "topk(ratio=0.25,scope=channel)",
      "topk(ratio=0.1,scope=group,group=24,index=bitmap)",
      "topk(ratio=0.05,scope=sample,index=ef)",
      "topk(index=i64)",
      "topk(index=u32)",
      "topk(scope=token,index=u16)",
      "topk(ratio=0.1,scope=sample,variant=rudakov)",
  };
  return info;
}

const CodecRegistrar kRegistrar(topk_info());

// Channels whose keys are turned into columns together: one cache line of float32.
constexpr std::int64_t kColumns = 16;

void load_keys(const TensorView& in, std::int64_t begin, std::span<std::uint32_t> keys) {
  std::array<float, kBlockElements> buffer;
  const auto n = std::ssize(keys);
  for (std::int64_t at = 0; at < n; at += kBlockElements) {
    const std::int64_t count = std::min(kBlockElements, n - at);
    const float* x = load_block(in, begin + at, count, buffer.data());
    kernels::magnitude_keys(x, count, keys.data() + at);
  }
}

// Keys of channels first .. first+count-1, one column after the other.
void load_key_columns(const TensorView& in, std::int64_t first, std::int64_t count,
                      std::uint32_t* keys) {
  std::array<float, kColumns> buffer;
  const std::int64_t rows = in.shape.rows();
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* x = load_block(in, row * in.shape.hidden + first, count, buffer.data());
    for (std::int64_t c = 0; c < count; ++c) keys[c * rows + row] = magnitude_key(x[c]);
  }
}

// Scratch of the selection in one scope.
struct Selection {
  std::span<std::uint32_t> keys;   // of the scope (channel: of kColumns scopes), or of candidates
  std::span<std::uint32_t> spare;  // as long as the longest scope
  std::span<std::uint32_t> candidates;  // positions; empty where no scope is long
  std::span<std::uint32_t> index;
};

// Shorter scopes are selected from directly; a sample of a longer one brackets the threshold.
constexpr std::int64_t kLongScope = 32768;
constexpr std::int64_t kSamples = 4096;

// A key that about 4 standard deviations of the sample more than k elements reach; 0 where the
// sample cannot tell.
std::uint32_t sampled_lower_bound(const TensorView& in, const ScopeSlice& slice, std::int64_t k) {
  std::array<std::uint32_t, kSamples> sample;
  std::array<std::uint32_t, kSamples + kPositionSlack> spare;
  for (std::int64_t j = 0; j < kSamples; ++j) {
    float one;
    const float* x = load_block(in, slice.begin + slice.length / kSamples * j, 1, &one);
    sample[static_cast<std::size_t>(j)] = magnitude_key(*x);
  }
  const double expected = static_cast<double>(k) / static_cast<double>(slice.length) * kSamples;
  const auto rank = static_cast<std::int64_t>(expected + 4 * std::sqrt(expected) + 8);
  return rank >= kSamples ? 0 : find_threshold(sample, rank, spare).key;
}

// The positions of the k largest go to s.index. The result does not depend on the sample: where its
// bound leaves fewer than k candidates, all are looked at.
Threshold select_long(const TensorView& in, const ScopeSlice& slice, std::int64_t k,
                      const Selection& s) {
  const std::uint32_t lowest = sampled_lower_bound(in, slice, k);
  std::array<float, kBlockElements> buffer;
  for (const std::uint32_t bound : {lowest, 0u}) {
    std::int64_t found = 0;
    for (std::int64_t begin = 0; begin < slice.length; begin += kBlockElements) {
      const std::int64_t count = std::min(kBlockElements, slice.length - begin);
      const float* x = load_block(in, slice.begin + begin, count, buffer.data());
      found += collect_magnitudes(x, count, static_cast<std::uint32_t>(begin), bound,
                                  s.keys.data() + found, s.candidates.data() + found);
    }
    if (found < k) continue;
    const Threshold threshold =
        select_largest(s.keys.first(static_cast<std::size_t>(found)), k, s.spare, s.index.data());
    for (std::uint32_t& i : s.index.first(static_cast<std::size_t>(k))) i = s.candidates[i];
    return threshold;
  }
  throw Error(ErrorKind::kInternal, "topk: fewer elements than k");
}

// The pivot is the largest magnitude that was not chosen: it equals a chosen one only in a tie.
// Chosen values of that magnitude are sent as +0.
template <class Bits>
void drop_ties(std::byte* values, std::int64_t count, Bits magnitude) {
  constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1;
  for (std::int64_t j = 0; j < count; ++j) {
    std::byte* at = values + j * static_cast<std::int64_t>(sizeof(Bits));
    if ((load<Bits>(at) & kMagnitude) == magnitude) store(at, Bits{0});
  }
}

void drop_ties_with(float pivot, DType dtype, std::byte* values, std::int64_t count) {
  if (dtype == DType::kFloat32) return drop_ties<std::uint32_t>(values, count, bits_of(pivot));
  const std::uint16_t bits =
      dtype == DType::kFloat16 ? round_to_float16(pivot) : round_to_bfloat16(pivot);
  drop_ties<std::uint16_t>(values, count, bits);
}

}  // namespace

TopK::TopK(const TopKOptions& options, std::string canonical)
    : options_(options), canonical_(std::move(canonical)) {}

std::int64_t TopK::kept(std::int64_t n) const {
  if (n == 0) return 0;
  if (options_.k) return std::min(n, *options_.k);
  if (!options_.is_rudakov) return kept_of_ratio(options_.ratio, n);
  const auto dropped = static_cast<std::int64_t>(static_cast<double>(n) * (1 - options_.ratio));
  return std::min(n, std::max<std::int64_t>(1, n - dropped));
}

SparseLayout TopK::layout(const Shape& shape, DType dtype) const {
  return SparseLayout(grid(shape), shape, dtype, options_.index, "topk",
                      [this](std::int64_t n) { return kept(n); });
}

Properties TopK::properties() const {
  Properties p;
  if (!options_.is_rudakov) {
    const TopK codec = *this;
    p.contraction = [codec](const Shape& shape) -> std::optional<double> {
      if (shape.elements() == 0) return 1.0;
      return codec.layout(shape, DType::kFloat32).least_share();
    };
  }
  p.error_bound_of_absmax = 1.0;
  p.token_local = options_.scope == Scope::kToken || options_.scope == Scope::kGroup;
  p.sample_local = p.token_local || options_.scope == Scope::kSample;
  return p;
}

std::size_t TopK::metadata_bytes(const Shape& shape, DType dtype, const Context&, int,
                                 const State*) const {
  return layout(shape, dtype).index_bytes();
}

std::size_t TopK::payload_bytes(const Shape& shape, DType dtype, const Context&, int,
                                const State*) const {
  return layout(shape, dtype).payload_bytes();
}

std::size_t TopK::workspace_bytes(const Shape& shape, DType dtype, const Context&) const {
  const ScopeGrid scopes = grid(shape);
  const std::int64_t columns = scopes.is_contiguous() ? 1 : kColumns;
  const std::int64_t longest = scopes.longest() + kPositionSlack;
  const bool is_long = scopes.is_contiguous() && scopes.longest() >= kLongScope;
  return Scratch::bytes_for<std::uint32_t>(longest * columns) +
         (is_long ? 2 : 1) * Scratch::bytes_for<std::uint32_t>(longest) +
         Scratch::bytes_for<std::uint32_t>(layout(shape, dtype).most_kept() + kPositionSlack);
}

std::size_t TopK::encode(int, const TensorView& in, std::span<std::byte> out, State*,
                         const Context& context) const {
  const ScopeGrid scopes = grid(in.shape);
  const SparseLayout sizes = layout(in.shape, in.dtype);
  expect_room(out, sizes.payload_bytes(), "topk");
  if (scopes.count() == 0) return 0;

  const std::int64_t columns = scopes.is_contiguous() ? 1 : kColumns;
  const std::int64_t longest = scopes.longest() + kPositionSlack;
  const bool is_long = scopes.is_contiguous() && scopes.longest() >= kLongScope;
  Scratch scratch(context);
  Selection selection;
  selection.keys = scratch.take<std::uint32_t>(longest * columns);
  selection.spare = scratch.take<std::uint32_t>(longest);
  if (is_long) selection.candidates = scratch.take<std::uint32_t>(longest);
  selection.index = scratch.take<std::uint32_t>(sizes.most_kept() + kPositionSlack);
  std::byte* index_out = out.data();
  std::byte* value_out = out.data() + sizes.index_bytes();
  for (std::int64_t s = 0; s < scopes.count(); ++s) {
    const ScopeSlice slice = scopes[s];
    const std::int64_t k = sizes.kept(slice.length);
    const auto length = static_cast<std::size_t>(slice.length);
    Threshold threshold;
    if (is_long) {
      threshold = select_long(in, slice, k, selection);
    } else {
      auto keys = selection.keys.first(length);
      if (scopes.is_contiguous()) {
        load_keys(in, slice.begin, keys);
      } else {
        if (s % columns == 0)
          load_key_columns(in, s, std::min(columns, scopes.count() - s), selection.keys.data());
        keys = selection.keys.subspan(static_cast<std::size_t>(s % columns) * length, length);
      }
      threshold = select_largest(keys, k, selection.spare, selection.index.data());
    }
    const auto local = selection.index.first(static_cast<std::size_t>(k));
    encode_index(sizes.coding(), local, slice.length, index_out);
    index_out += sizes.index_bytes_of(slice.length);
    std::byte* const values = value_out;
    value_out = send_values(in, slice, local, value_out);
    if (options_.is_rudakov && threshold.ties > threshold.ties_taken)
      drop_ties_with(float_of(threshold.key), in.dtype, values, k);
  }
  return sizes.payload_bytes();
}

void TopK::decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                  std::span<float> out, State*, const Context& context) const {
  const SparseLayout sizes = layout(shape, dtype);
  Scratch scratch(context);
  decode_sparse(payload, sizes, grid(shape), dtype, scratch.take<std::uint32_t>(sizes.most_kept()),
                out, "topk");
}

void TopK::decode_accumulate(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                             std::span<float> out, State*, const Context& context) const {
  const SparseLayout sizes = layout(shape, dtype);
  Scratch scratch(context);
  add_sparse(payload, sizes, grid(shape), dtype, scratch.take<std::uint32_t>(sizes.most_kept()),
             out, "topk");
}

void TopK::combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
                   DType dtype, std::span<float> out, State*, const Context& context) const {
  TERSOR_CHECK(!received.empty(), "topk: nothing to combine");
  const SparseLayout sizes = layout(shape, dtype);
  Scratch scratch(context);
  const auto index = scratch.take<std::uint32_t>(sizes.most_kept());
  combine_sparse(received, sizes, grid(shape), dtype, index, out, "topk");
}

}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#include "compressors/topk/topk.hpp"

#include <algorithm>
#include <array>

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
  return Scratch::bytes_for<std::uint32_t>(scopes.longest() * columns) +
         Scratch::bytes_for<std::uint32_t>(layout(shape, dtype).most_kept() + kPositionSlack);
}

std::size_t TopK::encode(int, const TensorView& in, std::span<std::byte> out, State*,
                         const Context& context) const {
  const ScopeGrid scopes = grid(in.shape);
  const SparseLayout sizes = layout(in.shape, in.dtype);
  expect_room(out, sizes.payload_bytes(), "topk");
  if (scopes.count() == 0) return 0;

  const std::int64_t columns = scopes.is_contiguous() ? 1 : kColumns;
  Scratch scratch(context);
  const auto keys = scratch.take<std::uint32_t>(scopes.longest() * columns);
  const auto index = scratch.take<std::uint32_t>(sizes.most_kept() + kPositionSlack);
  std::byte* index_out = out.data();
  std::byte* value_out = out.data() + sizes.index_bytes();
  for (std::int64_t s = 0; s < scopes.count(); ++s) {
    const ScopeSlice slice = scopes[s];
    std::span<std::uint32_t> scope_keys = keys.first(static_cast<std::size_t>(slice.length));
    if (scopes.is_contiguous()) {
      load_keys(in, slice.begin, scope_keys);
    } else {
      if (s % columns == 0)
        load_key_columns(in, s, std::min(columns, scopes.count() - s), keys.data());
      scope_keys = keys.subspan(static_cast<std::size_t>(s % columns * slice.length),
                                static_cast<std::size_t>(slice.length));
    }
    const std::int64_t k = sizes.kept(slice.length);
    const Threshold threshold = select_largest(scope_keys, k, index.data());
    const auto local = index.first(static_cast<std::size_t>(k));
    encode_index(sizes.coding(), local, slice.length, index_out);
    index_out += sizes.index_bytes_of(slice.length);
    std::byte* const values = value_out;
    value_out = send_values(in, slice, local, value_out);
    // The pivot is the largest magnitude that was not chosen: it equals a chosen one only in a tie.
    if (options_.is_rudakov && threshold.ties > threshold.ties_taken) {
      const std::size_t item = item_bytes(in.dtype);
      for (std::size_t j = 0; j < local.size(); ++j) {
        if (scope_keys[local[j]] == threshold.key)
          std::fill_n(values + j * item, item, std::byte{0});
      }
    }
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

// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/topk/topk.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "common/error.hpp"
#include "compressors/api/workspace.hpp"
#include "compressors/codecs/topk/long_scope.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/host/blocks.hpp"
#include "compressors/host/index_codings.hpp"
#include "compressors/host/kernels.hpp"
#include "compressors/host/select.hpp"
#include "compressors/host/shares.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/wire/bits.hpp"
#include "compressors/wire/floats.hpp"

namespace tersor::compressors {
namespace {

CodecInfo topk_info() {
  CodecInfo info;
  info.name = "topk";
  info.summary = "the largest values by magnitude, with their positions";
  info.source = "Bian et al., MLSys 2024; Rudakov et al., 2024";
  info.parameters = {
      Parameter::real("ratio", "0.01", 0, 1, true, "share of the values that is sent"),
      Parameter::optional_integer("k", 1, 2147483647, "values sent per scope, instead of ratio",
                                  "ratio"),
      Parameter::choice("scope", scope_names(), "what is selected from"),
      Parameter::integer("group", 128, 1, 2147483647, "values of a group along hidden"),
      Parameter::choice("index", index_coding_names(), "coding of the positions"),
      Parameter::choice("variant", {"corrected", "rudakov"}, "rudakov: ties at the pivot dropped"),
  };
  info.strength = Strength{"ratio"};
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
  info.gates = {{"encode", "topk(ratio=0.1)", 0.10},
                {"encode", "topk", 0.20},
                {"decode", "topk(ratio=0.1)", 0.50},
                {"decode", "topk", 0.70},
                {"encode", "topk(ratio=0.1,scope=token)", 0.08},
                {"encode", "topk(scope=token)", 0.08}};
  return info;
}

const CodecRegistrar kRegistrar(topk_info());

// Channels whose keys are transposed into columns together: one cache line of float32.
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

// Elements of the arrays of a TopKSelection.
struct SelectionSizes {
  std::int64_t keys = 0;
  std::int64_t spare = 0;
  std::int64_t index = 0;
  std::int64_t values = 0;

  SelectionSizes(const ScopeGrid& scopes, const SparseLayout& layout, int threads) {
    const std::int64_t longest = scopes.longest() + kPositionSlack;
    keys = scopes.is_contiguous() ? longest : longest * kColumns;
    spare = scopes.longest() > kCountedKeys ? longest : 0;
    index = layout.most_selected() + kPositionSlack;
    if (is_long(scopes)) index = values = candidate_elements(scopes.longest(), threads);
  }
};

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

// Values that have no NaN but the canonical one.
void send_floats(std::span<const float> values, DType dtype, std::byte* out) {
  if (dtype != DType::kFloat32) return round_values(values.data(), dtype, std::ssize(values), out);
  std::memcpy(out, values.data(), values.size_bytes());
}

}  // namespace

TopKArrays topk_arrays(const SparseGrid& grid, DType dtype, bool has_feedback,
                       DeviceWorkspace& workspace) {
  TopKArrays arrays;
  if (grid.is_columns)
    arrays.transposed =
        workspace.take<std::byte>(grid.elements * static_cast<std::int64_t>(item_bytes(dtype)));
  if (grid.coding == IndexCoding::kEliasFano || (has_feedback && grid.is_columns))
    arrays.positions = workspace.take<std::uint32_t>(grid.entries);
  if (grid.full.length > kLongestInRegisters)
    arrays.plan = select_plan(grid.scopes, grid.full.length, workspace);
  return arrays;
}

TopK::TopK(const TopKOptions& options, std::string canonical)
    : options_(options), canonical_(std::move(canonical)) {}

std::int64_t TopK::selected(std::int64_t n) const {
  if (n == 0) return 0;
  if (options_.k) return std::min(n, *options_.k);
  if (!options_.is_rudakov) return count_of_ratio(options_.ratio, n);
  const auto dropped = static_cast<std::int64_t>(static_cast<double>(n) * (1 - options_.ratio));
  return std::min(n, std::max<std::int64_t>(1, n - dropped));
}

SparseLayout TopK::layout(const Shape& shape, DType dtype) const {
  return SparseLayout(grid(shape), shape, dtype, options_.index, "topk",
                      [this](std::int64_t n) { return selected(n); });
}

bool TopK::supports(Device device) const {
  return device == Device::kCpu || DeviceTable<TopKLaunchers>::is_installed();
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

std::size_t TopK::workspace_bytes(const Shape& shape, DType dtype, const Context& context) const {
  if (context.device == Device::kCuda) {
    if (shape.elements() == 0) return 0;
    const SparseGrid sparse(grid(shape), layout(shape, dtype), shape);
    DeviceWorkspace encoding;
    DeviceWorkspace decoding;
    topk_arrays(sparse, dtype, false, encoding);
    take_flag_ranks(sparse, decoding);
    return std::max(encoding.bytes(), decoding.bytes());
  }
  const ScopeGrid scopes = grid(shape);
  if (scopes.count() == 0) return 0;
  const SparseLayout sizes = layout(shape, dtype);
  const bool is_cut_inside = is_long(scopes) && scopes.count() == 1;
  const SelectionSizes room(scopes, sizes, is_cut_inside ? context.threads : 1);
  const std::int64_t shares =
      is_cut_inside ? 1 : share_count(scopes.count(), shape.elements(), context.threads);
  const std::size_t encoding = Scratch::bytes_for<std::uint32_t>(shares * room.keys) +
                               Scratch::bytes_for<std::uint32_t>(shares * room.spare) +
                               Scratch::bytes_for<std::uint32_t>(shares * room.index) +
                               Scratch::bytes_for<float>(shares * room.values);
  const std::int64_t payloads = std::max(1u, context.ranks);
  return std::max(encoding, Scratch::bytes_for<std::uint32_t>(sparse_index_elements(
                                sizes, scopes, shape, payloads, context.threads)));
}

std::size_t TopK::feedback_workspace_bytes(const Shape& shape, DType dtype,
                                           const Context& context) const {
  if (shape.elements() == 0) return 0;
  DeviceWorkspace encoding;
  topk_arrays(SparseGrid(grid(shape), layout(shape, dtype), shape), dtype, true, encoding);
  const std::size_t least = workspace_bytes(shape, dtype, context);
  return encoding.bytes() > least ? encoding.bytes() - least : 0;
}

std::size_t TopK::encode_on_device(const TensorView& in, const FeedbackArray& feedback,
                                   std::span<std::byte> out, const Context& context) const {
  const SparseLayout sizes = layout(in.shape, in.dtype);
  expect_room(out, sizes.payload_bytes(), "topk");
  DeviceTable<TopKLaunchers>::get("topk").encode(in, feedback,
                                                 SparseGrid(grid(in.shape), sizes, in.shape),
                                                 options_.is_rudakov, out.data(), context);
  return sizes.payload_bytes();
}

std::size_t TopK::encode_with_feedback(const TensorView& in, const FeedbackArray& feedback,
                                       std::span<std::byte> out, const Context& context) const {
  return encode_on_device(in, feedback, out, context);
}

std::size_t TopK::encode(int, const TensorView& in, std::span<std::byte> out, State*,
                         const Context& context) const {
  const ScopeGrid scopes = grid(in.shape);
  const SparseLayout sizes = layout(in.shape, in.dtype);
  expect_room(out, sizes.payload_bytes(), "topk");
  if (scopes.count() == 0) return 0;
  if (context.device == Device::kCuda) return encode_on_device(in, {}, out, context);

  // One long scope is cut inside, several scopes are dealt out whole.
  const bool is_cut_inside = is_long(scopes) && scopes.count() == 1;
  const std::int64_t unit =
      scopes.is_contiguous() ? 1 : kColumns;  // scopes whose keys load together
  const std::int64_t units = (scopes.count() - 1) / unit + 1;
  const int threads = is_cut_inside ? 1 : context.threads;
  const SelectionSizes room(scopes, sizes, is_cut_inside ? context.threads : 1);
  const std::int64_t shares = share_count(units, in.shape.elements(), threads);
  Scratch scratch(context);
  const auto keys = scratch.take<std::uint32_t>(shares * room.keys);
  const auto spare = scratch.take<std::uint32_t>(shares * room.spare);
  const auto index = scratch.take<std::uint32_t>(shares * room.index);
  const auto values = scratch.take<float>(shares * room.values);
  for_each_share(units, in.shape.elements(), threads,
                 [&](std::int64_t first, std::int64_t last, std::int64_t slot) {
                   const auto own = [&](auto all, std::int64_t size) {
                     return all.subspan(static_cast<std::size_t>(slot * size),
                                        static_cast<std::size_t>(size));
                   };
                   encode_scopes(in, sizes, first * unit, std::min(last * unit, scopes.count()),
                                 {own(keys, room.keys), own(spare, room.spare),
                                  own(index, room.index), own(values, room.values)},
                                 is_cut_inside ? context.threads : 1, out.data());
                 });
  return sizes.payload_bytes();
}

// Scopes first .. last-1 to their places in the payload.
void TopK::encode_scopes(const TensorView& in, const SparseLayout& sizes, std::int64_t first,
                         std::int64_t last, const TopKSelection& selection, int threads,
                         std::byte* out) const {
  const ScopeGrid scopes = grid(in.shape);
  const bool has_long = is_long(scopes);
  std::byte* index_out = out + sizes.index_bytes_before(first);
  std::byte* value_out =
      out + sizes.index_bytes() +
      static_cast<std::size_t>(sizes.selected_before(first)) * item_bytes(in.dtype);
  Threshold threshold;
  for (std::int64_t s = first; s < last; ++s) {
    const ScopeSlice slice = scopes[s];
    const std::int64_t k = sizes.selected(slice.length);
    const auto length = static_cast<std::size_t>(slice.length);
    const auto chosen = selection.index.first(static_cast<std::size_t>(k));
    std::byte* const values = value_out;
    if (has_long) {
      threshold = select_long(in, slice, k, selection, threads);
      send_floats(selection.values.first(static_cast<std::size_t>(k)), in.dtype, value_out);
      value_out += static_cast<std::size_t>(k) * item_bytes(in.dtype);
    } else {
      auto keys = selection.keys.first(length);
      if (scopes.is_contiguous()) {
        load_keys(in, slice.begin, keys);
      } else {
        if ((s - first) % kColumns == 0)
          load_key_columns(in, s, std::min(kColumns, last - s), selection.keys.data());
        keys = selection.keys.subspan(static_cast<std::size_t>((s - first) % kColumns) * length,
                                      length);
      }
      // The last scope's threshold is near this one's.
      threshold = select_largest(keys, k, selection.spare, selection.index.data(), threshold.key);
      value_out = send_values(in, slice, chosen, value_out);
    }
    encode_index(sizes.coding(), chosen, slice.length, index_out);
    index_out += sizes.index_bytes_of(slice.length);
    if (options_.is_rudakov && threshold.ties > threshold.ties_taken)
      drop_ties_with(float_of(threshold.key), in.dtype, values, k);
  }
}

void TopK::decode_on_device(std::span<const std::span<const std::byte>> payloads,
                            const Shape& shape, DType dtype, const DecodeTarget& target,
                            const Context& context) const {
  const SparseLayout sizes = layout(shape, dtype);
  for (const auto& payload : payloads) expect_payload_bytes(payload, sizes.payload_bytes(), "topk");
  if (shape.elements() == 0) return;
  DeviceTable<TopKLaunchers>::get("topk").decode(payloads, SparseGrid(grid(shape), sizes, shape),
                                                 dtype, target, context);
}

void TopK::sum_payloads(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                        DType dtype, bool is_accumulated, float* out,
                        const Context& context) const {
  const SparseLayout sizes = layout(shape, dtype);
  const ScopeGrid scopes = grid(shape);
  const std::span<float> values(out, static_cast<std::size_t>(shape.elements()));
  Scratch scratch(context);
  const auto index = scratch.take<std::uint32_t>(
      sparse_index_elements(sizes, scopes, shape, std::ssize(payloads), context.threads));
  if (payloads.size() > 1 && !is_accumulated)
    return combine_sparse(payloads, sizes, scopes, dtype, index, values, context.threads, "topk");
  for (const auto& payload : payloads)
    decode_sparse(payload, sizes, scopes, dtype,
                  is_accumulated ? ScatterMode::kAdd : ScatterMode::kAssign, index, values,
                  context.threads, "topk");
}

}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#include "compressors/randk/randk.hpp"

#include <algorithm>
#include <array>

#include "common/error.hpp"
#include "compressors/api/bits.hpp"
#include "compressors/api/blocks.hpp"
#include "compressors/api/device_table.hpp"
#include "compressors/api/kernels.hpp"
#include "compressors/api/registry.hpp"
#include "compressors/api/select.hpp"
#include "compressors/api/workspace.hpp"
#include "compressors/randk/randk_kernels.hpp"

namespace tersor::compressors {
namespace {

CodecInfo randk_info() {
  CodecInfo info;
  info.name = "randk";
  info.summary = "values at random positions, drawn anew in every step";
  info.source = "Bian et al., MLSys 2024";
  info.parameters = {
      Parameter::real("ratio", "0.01", 0, 1, true, "share of the values that is sent"),
      Parameter::optional_integer("k", 1, 2147483647, "values sent, instead of ratio"),
      Parameter::choice("sampling", {"uniform", "stratified"},
                        "every subset alike, or one position in each of k strata"),
      Parameter::boolean("shared", true, "the same positions on every rank: no indices are sent"),
      Parameter::boolean("unbiased", false, "decode multiplies by n/k"),
      Parameter::choice("index", index_coding_names(), "coding of the positions, where sent"),
  };
  info.make = [](const Arguments& a) {
    RandKOptions o;
    o.ratio = a.real("ratio");
    o.k = a.optional_integer("k");
    o.is_stratified = a.choice("sampling") == "stratified";
    o.is_shared = a.boolean("shared");
    o.is_unbiased = a.boolean("unbiased");
    o.index = parse_index_coding(a.choice("index"));
    return std::make_shared<RandK>(o, a.canonical());
  };
  info.examples = {
      "randk(ratio=0.1)",
      "randk(ratio=1)",
      "randk(k=5,unbiased=true)",
      "randk(ratio=0.25,sampling=stratified,unbiased=true)",
      "randk(ratio=0.1,shared=false)",
      "randk(ratio=0.1,sampling=stratified,shared=false,unbiased=true,index=ef)",
      "randk(shared=false,index=i64)",
  };
  return info;
}

const CodecRegistrar kRegistrar(randk_info());

}  // namespace

RandK::RandK(const RandKOptions& options, std::string canonical)
    : options_(options), canonical_(std::move(canonical)) {}

std::int64_t RandK::kept(std::int64_t n) const {
  if (n == 0) return 0;
  return options_.k ? std::min(n, *options_.k) : kept_of_ratio(options_.ratio, n);
}

std::int64_t RandK::key_elements(std::int64_t n) const {
  return options_.is_stratified ? 0 : 2 * n + kPositionSlack;
}

SparseLayout RandK::layout(const Shape& shape, DType dtype) const {
  return SparseLayout(ScopeGrid(shape, Scope::kTensor), shape, dtype, options_.index, "randk",
                      [this](std::int64_t n) { return kept(n); });
}

RandKArrays randk_arrays(const RandKMessage& message, DeviceWorkspace& workspace) {
  RandKArrays arrays;
  const SparseGrid& grid = message.grid;
  arrays.positions = workspace.take<std::uint32_t>(grid.entries);
  if (!message.is_stratified && grid.elements > kLongestInRegisters)
    arrays.plan = select_plan(1, grid.elements, workspace);
  return arrays;
}

RandKMessage RandK::message(const Shape& shape, DType dtype, const Context& context) const {
  RandKMessage message;
  const std::int64_t n = shape.elements();
  message.grid = options_.is_shared
                     ? SparseGrid(n, kept(n))
                     : SparseGrid(ScopeGrid(shape, Scope::kTensor), layout(shape, dtype), shape);
  message.stream = context.random(Purpose::kRandK, !options_.is_shared);
  message.offset = static_cast<std::uint64_t>(context.element_offset);
  message.is_stratified = options_.is_stratified;
  message.is_unbiased = options_.is_unbiased;
  message.has_indices = !options_.is_shared;
  return message;
}

bool RandK::supports(Device device) const {
  return device == Device::kCpu || DeviceTable<RandKLaunchers>::is_installed();
}

Properties RandK::properties() const {
  Properties p;
  p.summable = options_.is_shared;
  p.summable_tolerance = 0x1p-7;  // the sum of values in the message's dtype
  p.unbiased = options_.is_unbiased;
  if (p.unbiased) p.unbiased_range = "every finite value, over steps";
  if (!options_.is_unbiased) p.error_bound_of_absmax = 1.0;
  p.is_expansive = options_.is_unbiased;
  p.deterministic = false;
  return p;
}

std::size_t RandK::metadata_bytes(const Shape& shape, DType dtype, const Context&, int,
                                  const State*) const {
  return options_.is_shared ? 0 : layout(shape, dtype).index_bytes();
}

std::size_t RandK::payload_bytes(const Shape& shape, DType dtype, const Context&, int,
                                 const State*) const {
  if (options_.is_shared)
    return static_cast<std::size_t>(kept(shape.elements())) * item_bytes(dtype);
  return layout(shape, dtype).payload_bytes();
}

std::size_t RandK::workspace_bytes(const Shape& shape, DType dtype, const Context& context) const {
  if (context.device == Device::kCuda) {
    if (shape.elements() == 0) return 0;
    const RandKMessage sent = message(shape, dtype, context);
    DeviceWorkspace encoding;
    DeviceWorkspace decoding;
    randk_arrays(sent, encoding);
    if (sent.has_indices) take_mark_ranks(sent.grid, decoding);
    return std::max(encoding.bytes(), decoding.bytes());
  }
  const std::int64_t n = shape.elements();
  return Scratch::bytes_for<std::uint32_t>(kept(n) + kPositionSlack) +
         Scratch::bytes_for<std::uint32_t>(key_elements(n));
}

void RandK::draw_positions(std::int64_t n, const Context& context, std::span<std::uint32_t> keys,
                           std::span<std::uint32_t> positions) const {
  if (n > std::int64_t{1} << 32)
    throw Error(ErrorKind::kUnsupported, "randk: a tensor of " + std::to_string(n) +
                                             " elements is above 2^32; send it in parts");
  const Stream stream = context.random(Purpose::kRandK, !options_.is_shared);
  const auto offset = static_cast<std::uint64_t>(context.element_offset);
  const std::int64_t k = std::ssize(positions) - kPositionSlack;
  if (k == n) {
    for (std::int64_t i = 0; i < n; ++i)
      positions[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(i);
    return;
  }
  if (options_.is_stratified) {
    kernels::fill_draw32(stream, offset, k, positions.data());
    kernels::place_in_strata(n, k, positions.data());
    return;
  }
  // The k smallest draws are the k largest complements, ties to the lowest position in both.
  kernels::fill_draw32(stream, offset, n, keys.data());
  for (std::uint32_t& key : keys.first(static_cast<std::size_t>(n))) key = ~key;
  const auto count = static_cast<std::size_t>(n);
  select_largest(keys.first(count), k, keys.subspan(count), positions.data());
}

std::size_t RandK::encode(int, const TensorView& in, std::span<std::byte> out, State*,
                          const Context& context) const {
  const std::int64_t n = in.shape.elements();
  const std::size_t size = payload_bytes(in.shape, in.dtype, context, 0, nullptr);
  expect_room(out, size, "randk");
  if (n == 0) return 0;
  if (context.device == Device::kCuda) {
    DeviceTable<RandKLaunchers>::get("randk").encode(in, message(in.shape, in.dtype, context),
                                                     out.data(), context);
    return size;
  }
  const std::int64_t k = kept(n);
  Scratch scratch(context);
  const auto positions = scratch.take<std::uint32_t>(k + kPositionSlack);
  draw_positions(n, context, scratch.take<std::uint32_t>(key_elements(n)), positions);
  const auto chosen = positions.first(static_cast<std::size_t>(k));
  std::byte* to = out.data();
  if (!options_.is_shared) {
    const SparseLayout sizes = layout(in.shape, in.dtype);
    encode_index(sizes.coding(), chosen, n, to);
    to += sizes.index_bytes();
  }
  send_values(in, {0, n, 1}, chosen, to);
  return size;
}

void RandK::decode_into(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                        std::span<float> out, const Context& context, bool is_accumulated) const {
  const std::int64_t n = shape.elements();
  expect_payload_bytes(payload, payload_bytes(shape, dtype, context, 0, nullptr), "randk");
  if (n == 0) return;
  const std::int64_t k = kept(n);
  Scratch scratch(context);
  const auto positions = scratch.take<std::uint32_t>(k + kPositionSlack);
  const std::byte* from = payload.data();
  if (options_.is_shared) {
    draw_positions(n, context, scratch.take<std::uint32_t>(key_elements(n)), positions);
  } else {
    const SparseLayout sizes = layout(shape, dtype);
    decode_index(sizes.coding(), from, n, positions.first(static_cast<std::size_t>(k)), "randk");
    from += sizes.index_bytes();
  }
  const auto uniform = static_cast<float>(static_cast<double>(n) / static_cast<double>(k));
  Strata strata(n, k);
  std::array<float, 512> values;
  float* const to = out.data();
  float* filled = to;  // zeros are written up to the last position of a piece, right before it
  for (std::int64_t begin = 0; begin < k; begin += std::ssize(values)) {
    const std::int64_t count = std::min<std::int64_t>(std::ssize(values), k - begin);
    widen_values(from + static_cast<std::size_t>(begin) * item_bytes(dtype), dtype, count,
                 values.data());
    for (std::size_t j = 0; options_.is_unbiased && j < static_cast<std::size_t>(count); ++j) {
      values[j] *= options_.is_stratified ? static_cast<float>(strata.length()) : uniform;
      strata.next();
    }
    const auto size = static_cast<std::size_t>(count);
    const std::uint32_t* at = positions.data() + begin;
    if (is_accumulated) {
      add_piece({at, size}, {values.data(), size}, to, filled);
      continue;
    }
    filled = std::fill_n(filled, to + at[count - 1] + 1 - filled, 0.0f);
    for (std::size_t j = 0; j < size; ++j) to[at[j]] = values[j];
  }
  if (is_accumulated)
    add_zero({filled, to + n});
  else
    std::fill(filled, to + n, 0.0f);
}

void RandK::decode_on_device(std::span<const std::span<const std::byte>> payloads,
                             const Shape& shape, DType dtype, const DecodeTarget& target,
                             const Context& context) const {
  for (const auto& payload : payloads)
    expect_payload_bytes(payload, payload_bytes(shape, dtype, context, 0, nullptr), "randk");
  if (shape.elements() == 0) return;
  DeviceTable<RandKLaunchers>::get("randk").decode(payloads, message(shape, dtype, context), dtype,
                                                   target, context);
}

void RandK::decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                   std::span<float> out, State*, const Context& context) const {
  if (context.device == Device::kCuda)
    return decode_on_device({&payload, 1}, shape, dtype, {out.data(), DType::kFloat32, false},
                            context);
  decode_into(payload, shape, dtype, out, context, false);
}

void RandK::decode_accumulate(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                              std::span<float> out, State*, const Context& context) const {
  if (context.device == Device::kCuda)
    return decode_on_device({&payload, 1}, shape, dtype, {out.data(), DType::kFloat32, true},
                            context);
  decode_into(payload, shape, dtype, out, context, true);
}

}  // namespace tersor::compressors

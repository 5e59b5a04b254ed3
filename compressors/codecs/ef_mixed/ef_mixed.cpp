// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/ef_mixed/ef_mixed.hpp"

#include <algorithm>

#include "compressors/api/workspace.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/host/feedback_kernels.hpp"
#include "compressors/host/index_codings.hpp"
#include "compressors/host/select.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/wire/bits.hpp"
#include "compressors/wire/floats.hpp"

namespace tersor::compressors {
namespace {

CodecInfo ef_mixed_info() {
  CodecInfo info;
  info.name = "ef_mixed";
  info.summary = "topk that chooses half by the message, half by the accumulated error";
  info.source = "Rudakov et al., 2024";
  info.parameters = {Parameter::codec("codec", "topk, variant=corrected")};
  info.make = [](const Arguments& a) {
    return std::make_shared<EfMixed>(std::dynamic_pointer_cast<const TopK>(a.codec("codec")),
                                     a.canonical());
  };
  info.refuses = [](std::string_view, std::string_view name, const Codec& inner) -> std::string {
    const auto* topk = dynamic_cast<const TopK*>(&inner);
    if (topk == nullptr) return "it takes topk, not " + std::string(name);
    if (topk->options().is_rudakov) return "it takes topk of variant=corrected only";
    return {};
  };
  info.examples = {"ef_mixed(topk(ratio=0.1))", "ef_mixed(topk(k=1))",
                   "ef_mixed(topk(k=3,scope=token,index=u16))",
                   "ef_mixed(topk(ratio=0.25,scope=channel))"};
  return info;
}

const CodecRegistrar kRegistrar(ef_mixed_info());

// Chooses the positions of one scope.
class Chooser {
 public:
  Chooser(std::int64_t longest, std::int64_t most_selected, Scratch& scratch)
      : keys_(scratch.take<std::uint32_t>(longest)),
        rest_(scratch.take<std::uint32_t>(longest)),
        spare_(scratch.take<std::uint32_t>(longest + kPositionSlack)),
        index_(scratch.take<std::uint32_t>(most_selected + kPositionSlack)),
        second_(scratch.take<std::uint32_t>(most_selected + kPositionSlack)) {}
  static std::size_t workspace_bytes(std::int64_t longest, std::int64_t most_selected) {
    return 3 * Scratch::bytes_for<std::uint32_t>(longest + kPositionSlack) +
           2 * Scratch::bytes_for<std::uint32_t>(most_selected + kPositionSlack);
  }

  std::span<const std::uint32_t> choose(const float* x, const float* error, const ScopeSlice& slice,
                                        std::int64_t k) {
    const std::int64_t by_message = (k + 1) / 2;
    const std::int64_t by_error = k / 2;
    for (std::int64_t i = 0; i < slice.length; ++i)
      keys_[static_cast<std::size_t>(i)] = magnitude_key(x[slice.begin + i * slice.stride]);
    select_largest(keys_.first(static_cast<std::size_t>(slice.length)), by_message, spare_,
                   index_.data());
    if (by_error > 0) {
      // What is left, by its position among the rest.
      std::int64_t taken = 0;
      std::int64_t left = 0;
      for (std::int64_t i = 0; i < slice.length; ++i) {
        if (taken < by_message && index_[static_cast<std::size_t>(taken)] == i) {
          ++taken;
          continue;
        }
        keys_[static_cast<std::size_t>(left)] =
            magnitude_key(error[slice.begin + i * slice.stride]);
        rest_[static_cast<std::size_t>(left++)] = static_cast<std::uint32_t>(i);
      }
      select_largest(keys_.first(static_cast<std::size_t>(left)), by_error, spare_, second_.data());
      const auto first = index_.first(static_cast<std::size_t>(by_message));
      const auto second = second_.first(static_cast<std::size_t>(by_error));
      for (std::uint32_t& i : second) i = rest_[i];
      std::merge(first.begin(), first.end(), second.begin(), second.end(), keys_.begin());
      return keys_.first(static_cast<std::size_t>(k));
    }
    return index_.first(static_cast<std::size_t>(k));
  }

 private:
  std::span<std::uint32_t> keys_;
  std::span<std::uint32_t> rest_;
  std::span<std::uint32_t> spare_;
  std::span<std::uint32_t> index_;
  std::span<std::uint32_t> second_;
};

}  // namespace

EfMixedArrays ef_mixed_arrays(const SparseGrid& grid, DType dtype, DeviceWorkspace& workspace) {
  EfMixedArrays arrays;
  arrays.selection = topk_arrays(grid, dtype, false, workspace);
  if (grid.is_columns) arrays.transposed_error = workspace.take<float>(grid.elements);
  arrays.flags = workspace.take<std::byte>(grid.scope(grid.scopes).first_thread_tile);
  return arrays;
}

EfMixed::EfMixed(std::shared_ptr<const TopK> inner, std::string canonical)
    : Wrapper(inner, std::move(canonical)), topk_(std::move(inner)) {}

Properties EfMixed::properties() const { return stateful_properties(inner(), StateKind::kSite); }

bool EfMixed::supports(Device device) const {
  return inner().supports(device) &&
         (device == Device::kCpu || DeviceTable<EfMixedLaunchers>::is_installed());
}

std::unique_ptr<State> EfMixed::make_state(const Shape& shape, DType, std::uint32_t) const {
  return std::make_unique<FloatState>(1, shape.elements());
}

std::size_t EfMixed::workspace_bytes(const Shape& shape, DType dtype,
                                     const Context& context) const {
  if (context.device == Device::kCuda) {
    if (shape.elements() == 0) return 0;
    DeviceWorkspace encoding;
    ef_mixed_arrays({topk_->grid(shape), topk_->layout(shape, dtype), shape}, dtype, encoding);
    return std::max(encoding.bytes(), inner_workspace_bytes(shape, dtype, context));
  }
  return 4 * Scratch::bytes_for<float>(shape.elements()) +
         Chooser::workspace_bytes(topk_->grid(shape).longest(),
                                  topk_->layout(shape, dtype).most_selected()) +
         inner_workspace_bytes(shape, dtype, context);
}

std::size_t EfMixed::encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                            const Context& context) const {
  if (context.phase == Phase::kEval || in.shape.elements() == 0)
    return inner().encode(round, in, out, nullptr, context);
  const std::span<float> error = float_state(state, "ef_mixed").writable(0);
  const ScopeGrid grid = topk_->grid(in.shape);
  const SparseLayout sizes = topk_->layout(in.shape, in.dtype);
  const std::int64_t n = in.shape.elements();
  expect_room(out, sizes.payload_bytes(), "ef_mixed");
  if (context.device == Device::kCuda) {
    DeviceTable<EfMixedLaunchers>::get("ef_mixed")
        .encode(in, error.data(), SparseGrid(grid, sizes, in.shape), out.data(), context);
    return sizes.payload_bytes();
  }
  Scratch scratch(context);
  const auto x = scratch.take<float>(n);
  const auto total = scratch.take<float>(n);
  const auto rounded = scratch.take<std::byte>(n * static_cast<std::int64_t>(item_bytes(in.dtype)));
  Chooser chooser(grid.longest(), sizes.most_selected(), scratch);
  Context rest = context;
  rest.workspace = scratch.rest();
  widen(in.dtype, in.data, x);
  std::copy(x.begin(), x.end(), total.begin());
  kernels::add_state(total.data(), error.data(), n);
  round_to(in.dtype, total, rounded.data());

  std::byte* index_out = out.data();
  std::byte* value_out = out.data() + sizes.index_bytes();
  for (std::int64_t s = 0; s < grid.count(); ++s) {
    const ScopeSlice slice = grid[s];
    const auto chosen = chooser.choose(x.data(), error.data(), slice, sizes.selected(slice.length));
    encode_index(sizes.coding(), chosen, slice.length, index_out);
    index_out += sizes.index_bytes_of(slice.length);
    value_out = send_values({rounded.data(), in.shape, in.dtype}, slice, chosen, value_out);
  }
  topk_->decode(out.first(sizes.payload_bytes()), in.shape, in.dtype, x, nullptr, rest);
  kernels::store_difference(total.data(), x.data(), n, error.data());
  return sizes.payload_bytes();
}

void EfMixed::decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                     std::span<float> out, State*, const Context& context) const {
  inner().decode(payload, shape, dtype, out, nullptr, context);
}

void EfMixed::combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
                      DType dtype, std::span<float> out, State*, const Context& context) const {
  inner().combine(received, shape, dtype, out, nullptr, context);
}

void EfMixed::decode_on_device(std::span<const std::span<const std::byte>> payloads,
                               const Shape& shape, DType dtype, const DecodeTarget& target,
                               const Context& context) const {
  inner().decode_on_device(payloads, shape, dtype, target, context);
}

}  // namespace tersor::compressors

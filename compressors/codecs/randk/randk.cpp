// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/randk/randk.hpp"

#include <algorithm>
#include <array>

#include "common/error.hpp"
#include "compressors/api/workspace.hpp"
#include "compressors/codecs/randk/randk_kernels.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/host/blocks.hpp"
#include "compressors/host/index_codings.hpp"
#include "compressors/host/kernels.hpp"
#include "compressors/host/select.hpp"
#include "compressors/host/shares.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/wire/bits.hpp"

namespace tersor::compressors {
namespace {

CodecInfo randk_info() {
  CodecInfo info;
  info.name = "randk";
  info.summary = "values at random positions, drawn anew in every step";
  info.source = "Bian et al., MLSys 2024";
  info.parameters = {
      Parameter::real("ratio", "0.01", 0, 1, true, "share of the values that is sent"),
      Parameter::optional_integer("k", 1, 2147483647, "values sent, instead of ratio", "ratio"),
      Parameter::choice("sampling", {"uniform", "stratified"},
                        "every subset alike, or one position in each of k strata"),
      Parameter::boolean("shared", true, "the same positions on every rank: no indices are sent"),
      Parameter::boolean("unbiased", false, "decode multiplies by n/k"),
      Parameter::choice("index", index_coding_names(), "coding of the positions, where sent"),
  };
  info.strength = Strength{"ratio"};
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
  info.gates = {{"encode", "randk(ratio=0.1,sampling=stratified)", 0.50},
                {"encode", "randk(sampling=stratified)", 2.50}};
  return info;
}

const CodecRegistrar kRegistrar(randk_info());

void expect_drawable(std::int64_t n) {
  if (n > std::int64_t{1} << 32)
    throw Error(ErrorKind::kUnsupported, "randk: a tensor of " + std::to_string(n) +
                                             " elements is above 2^32; send it in parts");
}

// What decode multiplies by, where it is unbiased: n/k, or the length of the stratum.
struct Scaling {
  std::int64_t n;
  std::int64_t k;
  bool is_unbiased;
  bool is_stratified;

  void apply(std::int64_t first, std::int64_t count, float* values) const {
    if (!is_unbiased) return;
    if (is_stratified) return kernels::multiply_by_lengths(n, k, first, count, values);
    const auto factor = static_cast<float>(static_cast<double>(n) / static_cast<double>(k));
    for (std::int64_t j = 0; j < count; ++j) values[j] *= factor;
  }
};

// The k positions of a tensor of n elements, ascending: all in an array, or, where they follow from
// the draws of their strata alone, drawn in pieces that stay in the first cache.
class Positions {
 public:
  Positions(std::int64_t n, std::span<const std::uint32_t> all)
      : n_(n), k_(std::ssize(all)), all_(all.data()) {}
  Positions(std::int64_t n, std::int64_t k, const Stream& stream, std::uint64_t offset)
      : n_(n), k_(k), stream_(stream), offset_(offset) {}

  std::int64_t count() const { return k_; }

  /// The elements between this one and that of j + 1 hold no position but j.
  std::int64_t begin_of(std::int64_t j) const {
    if (j == 0 || j == k_) return j == 0 ? 0 : n_;
    return all_ == nullptr ? j * n_ / k_ : std::int64_t{all_[j - 1]} + 1;
  }

  /// Calls visit(j, count, at) for pieces of the positions first .. last-1: `at` holds those from j
  /// on, `count` of this piece and then some of the next one.
  template <class Visit>
  void for_each_piece(std::int64_t first, std::int64_t last, Visit&& visit) const {
    using At = std::span<const std::uint32_t>;
    if (all_ != nullptr) {
      for (; first < last; first += kPiece)
        visit(first, std::min(kPiece, last - first),
              At(all_ + first, static_cast<std::size_t>(last - first)));
      return;
    }
    std::array<std::uint32_t, 2 * kPiece> drawn;
    std::int64_t count = std::min(kPiece, last - first);
    draw(first, count, drawn.data());
    while (first < last) {
      const std::int64_t next = std::min(kPiece, last - first - count);
      draw(first + count, next, drawn.data() + count);
      visit(first, count, At(drawn.data(), static_cast<std::size_t>(count + next)));
      std::copy_n(drawn.data() + count, next, drawn.data());
      first += count;
      count = next;
    }
  }

  static constexpr std::int64_t kPiece = 512;

 private:
  void draw(std::int64_t first, std::int64_t count, std::uint32_t* out) const {
    kernels::fill_draw32(stream_, offset_ + static_cast<std::uint64_t>(first), count, out);
    kernels::place_in_strata(n_, k_, first, count, out);
  }

  std::int64_t n_;
  std::int64_t k_;
  const std::uint32_t* all_ = nullptr;
  Stream stream_{};
  std::uint64_t offset_ = 0;
};

Positions drawn_in_pieces(std::int64_t n, std::int64_t k, const Context& context) {
  expect_drawable(n);
  return {n, k, context.random(Purpose::kRandK, false),
          static_cast<std::uint64_t>(context.element_offset)};
}

// The payloads' values at the same positions, each scaled, added in their order; they are behind
// `skipped_bytes` of each payload.
void put_values(std::span<const std::span<const std::byte>> payloads, std::size_t skipped_bytes,
                DType dtype, const Positions& positions, const Scaling& scaling, ScatterMode mode,
                std::span<float> out, int threads) {
  const auto n = std::ssize(out);
  for_each_share(positions.count(), n, threads,
                 [&](std::int64_t first, std::int64_t last, std::int64_t) {
                   Scatter scatter(mode, out.data() + positions.begin_of(first));
                   std::array<float, Positions::kPiece> sum;
                   std::array<float, Positions::kPiece> more;
                   positions.for_each_piece(
                       first, last,
                       [&](std::int64_t j, std::int64_t count, std::span<const std::uint32_t> at) {
                         const auto size = static_cast<std::size_t>(count);
                         for (std::size_t p = 0; p < payloads.size(); ++p) {
                           float* const values = p == 0 ? sum.data() : more.data();
                           const std::byte* from = payloads[p].data() + skipped_bytes;
                           widen_values(from + static_cast<std::size_t>(j) * item_bytes(dtype),
                                        dtype, count, values);
                           scaling.apply(j, count, values);
                           if (p > 0) kernels::add(values, count, sum.data());
                         }
                         scatter.piece(out.data(), at.first(size), {sum.data(), size});
                       });
                   scatter.finish(out.data() + positions.begin_of(last));
                 });
}

}  // namespace

RandK::RandK(const RandKOptions& options, std::string canonical)
    : options_(options), canonical_(std::move(canonical)) {}

std::int64_t RandK::selected(std::int64_t n) const {
  if (n == 0) return 0;
  return options_.k ? std::min(n, *options_.k) : count_of_ratio(options_.ratio, n);
}

std::int64_t RandK::key_elements(std::int64_t n) const {
  return options_.is_stratified ? 0 : 2 * n + kPositionSlack;
}

SparseLayout RandK::layout(const Shape& shape, DType dtype) const {
  return SparseLayout(ScopeGrid(shape, Scope::kTensor), shape, dtype, options_.index, "randk",
                      [this](std::int64_t n) { return selected(n); });
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
                     ? SparseGrid(n, selected(n))
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
    return static_cast<std::size_t>(selected(shape.elements())) * item_bytes(dtype);
  return layout(shape, dtype).payload_bytes();
}

std::size_t RandK::workspace_bytes(const Shape& shape, DType dtype, const Context& context) const {
  if (context.device == Device::kCuda) {
    if (shape.elements() == 0) return 0;
    const RandKMessage sent = message(shape, dtype, context);
    DeviceWorkspace encoding;
    DeviceWorkspace decoding;
    randk_arrays(sent, encoding);
    if (sent.has_indices) take_flag_ranks(sent.grid, decoding);
    return std::max(encoding.bytes(), decoding.bytes());
  }
  const std::int64_t n = shape.elements();
  return Scratch::bytes_for<std::uint32_t>(selected(n) + kPositionSlack) +
         Scratch::bytes_for<std::uint32_t>(key_elements(n));
}

void RandK::draw_positions(std::int64_t n, const Context& context, std::span<std::uint32_t> keys,
                           std::span<std::uint32_t> positions) const {
  expect_drawable(n);
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
    kernels::place_in_strata(n, k, 0, k, positions.data());
    return;
  }
  // The k smallest draws are the k largest complements, ties to the lowest position in both.
  for_each_share(n, n, context.threads, [&](std::int64_t first, std::int64_t last, std::int64_t) {
    for (; first < last; first += kBlockElements) {
      const std::int64_t count = std::min(kBlockElements, last - first);
      std::uint32_t* const key = keys.data() + first;
      kernels::fill_draw32(stream, offset + static_cast<std::uint64_t>(first), count, key);
      for (std::int64_t i = 0; i < count; ++i) key[i] = ~key[i];
    }
  });
  const auto count = static_cast<std::size_t>(n);
  select_largest(keys.first(count), k, keys.subspan(count), positions.data());
}

bool RandK::is_drawn_in_pieces(std::int64_t n) const {
  return options_.is_stratified && options_.is_shared && selected(n) < n;
}

std::size_t RandK::encode(int, const TensorView& in, std::span<std::byte> out, State*,
                          const Context& context) const {
  const std::int64_t n = in.shape.elements();
  const std::size_t size = payload_bytes(in.shape, in.dtype, context, 0, nullptr);
  expect_room(out, size, "randk");
  if (n == 0) return 0;
  if (context.device == Device::kCuda) return encode_with_feedback(in, {}, out, context);
  const auto send = [&](const Positions& positions, std::byte* to) {
    for_each_share(
        positions.count(), n, context.threads,
        [&](std::int64_t first, std::int64_t last, std::int64_t) {
          std::byte* at = to + static_cast<std::size_t>(first) * item_bytes(in.dtype);
          positions.for_each_piece(
              first, last,
              [&](std::int64_t, std::int64_t count, std::span<const std::uint32_t> some) {
                at = send_first_values(in, {0, n, 1}, some, count, at);
              });
        });
    return size;
  };
  const std::int64_t k = selected(n);
  if (is_drawn_in_pieces(n)) return send(drawn_in_pieces(n, k, context), out.data());
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
  return send(Positions(n, chosen), to);
}

std::size_t RandK::encode_with_feedback(const TensorView& in, const FeedbackArray& feedback,
                                        std::span<std::byte> out, const Context& context) const {
  const std::size_t size = payload_bytes(in.shape, in.dtype, context, 0, nullptr);
  expect_room(out, size, "randk");
  DeviceTable<RandKLaunchers>::get("randk").encode(
      in, feedback, message(in.shape, in.dtype, context), out.data(), context);
  return size;
}

// One payload, or several whose positions are shared.
void RandK::decode_to(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                      DType dtype, ScatterMode mode, std::span<float> out,
                      const Context& context) const {
  const std::int64_t n = shape.elements();
  const std::int64_t k = selected(n);
  const auto put = [&](const Positions& positions, std::size_t index_bytes) {
    put_values(payloads, index_bytes, dtype, positions,
               {n, k, options_.is_unbiased, options_.is_stratified}, mode, out, context.threads);
  };
  if (is_drawn_in_pieces(n)) return put(drawn_in_pieces(n, k, context), 0);
  Scratch scratch(context);
  const auto positions = scratch.take<std::uint32_t>(k + kPositionSlack);
  const auto chosen = positions.first(static_cast<std::size_t>(k));
  if (options_.is_shared) {
    draw_positions(n, context, scratch.take<std::uint32_t>(key_elements(n)), positions);
    return put(Positions(n, chosen), 0);
  }
  const SparseLayout sizes = layout(shape, dtype);
  decode_index(sizes.coding(), payloads[0].data(), n, chosen, "randk");
  put(Positions(n, chosen), sizes.index_bytes());
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

void RandK::sum_payloads(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                         DType dtype, bool is_accumulated, float* out,
                         const Context& context) const {
  const std::span<float> all(out, static_cast<std::size_t>(shape.elements()));
  if (options_.is_shared && !is_accumulated)
    return decode_to(payloads, shape, dtype, ScatterMode::kAssign, all, context);
  // No -0, which an unsent position of another rank would turn into +0.
  bool is_plain = payloads.size() > 1 && !is_accumulated;
  if (is_plain) {
    const SparseLayout sizes = layout(shape, dtype);
    for (const auto& payload : payloads)
      is_plain &=
          !has_negative_zero(payload.data() + sizes.index_bytes(), dtype, sizes.selected_of_all());
  }
  if (is_plain) std::fill(all.begin(), all.end(), 0.0f);
  for (std::size_t p = 0; p < payloads.size(); ++p) {
    const bool is_first = p == 0 && !is_accumulated;
    const ScatterMode mode = is_plain   ? ScatterMode::kAddSelected
                             : is_first ? ScatterMode::kAssign
                                        : ScatterMode::kAdd;
    decode_to(payloads.subspan(p, 1), shape, dtype, mode, all, context);
  }
}

}  // namespace tersor::compressors

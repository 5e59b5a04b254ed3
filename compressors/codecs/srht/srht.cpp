// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/srht/srht.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/error.hpp"
#include "compressors/api/workspace.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/host/blocks.hpp"
#include "compressors/host/hadamard_kernels.hpp"
#include "compressors/host/kernels.hpp"
#include "compressors/host/select.hpp"
#include "compressors/host/shares.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/wire/bits.hpp"

namespace tersor::compressors {
namespace {

CodecInfo srht_info() {
  CodecInfo info;
  info.name = "srht";
  info.summary = "random coordinates of a randomised Hadamard transform of each row";
  info.source = "Bian et al., MLSys 2024 (code); Ailon and Chazelle, STOC 2006";
  info.parameters = {
      Parameter::integer("dim", std::nullopt, 1, 2147483647, "values sent per row"),
  };
  info.strength = Strength{"dim"};
  info.make = [](const Arguments& a) {
    return std::make_shared<Srht>(a.integer("dim"), a.canonical());
  };
  info.examples = {"srht(dim=1)", "srht(dim=3)"};
  info.gates = {{"encode", "srht(dim=102)", 0.15}};
  return info;
}

const CodecRegistrar kRegistrar(srht_info());

std::int64_t padded(std::int64_t hidden) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(hidden)));
}

float factor_of(std::int64_t size, std::int64_t dim) {
  return static_cast<float>(std::sqrt(static_cast<double>(size) / static_cast<double>(dim)));
}

// What both sides draw once per message.
struct Draws {
  std::span<float> signs;
  std::span<std::uint32_t> coordinates;
  float factor = 0;

  Draws(std::int64_t hidden, std::int64_t dim, const Context& context, Scratch& scratch) {
    const std::int64_t size = padded(hidden);
    signs = scratch.take<float>(size);
    random_signs(context, Purpose::kSigns, signs.first(static_cast<std::size_t>(hidden)));
    std::fill(signs.begin() + hidden, signs.end(), 1.0f);  // those of the zeros behind a row
    coordinates = scratch.take<std::uint32_t>(dim + kPositionSlack);
    // The dim smallest draws are the largest complements, ties to the lowest position in both.
    const auto keys = scratch.take<std::uint32_t>(size);
    kernels::fill_draw32(context.fixed_random(Purpose::kRandK), 0, size, keys.data());
    for (std::uint32_t& key : keys) key = ~key;
    const auto spare = scratch.take<std::uint32_t>(size + kPositionSlack);
    select_largest(keys, dim, spare, coordinates.data());
    coordinates = coordinates.first(static_cast<std::size_t>(dim));
    factor = factor_of(size, dim);
  }
};

// to = or += the signed transform of a row, as far as the message goes.
void inverse_rotate(std::span<const float> row, const float* signs, std::int64_t hidden,
                    bool is_added, float* work, float* to) {
  const auto size = std::ssize(row);
  if (size == hidden && is_added)
    return kernels::add_walsh_hadamard_signed(row.data(), signs, size, 1, work, to);
  if (size == hidden) return kernels::walsh_hadamard_signed(row.data(), signs, size, 1, to);
  kernels::walsh_hadamard_signed(row.data(), signs, size, 1, work);
  if (is_added)
    kernels::add(work, hidden, to);
  else
    std::copy_n(work, hidden, to);
}

}  // namespace

Srht::Srht(std::int64_t dim, std::string canonical)
    : LeafCodec(std::move(canonical), Exchange::kAllReduce), dim_(dim) {}

Properties Srht::properties() const {
  Properties p;
  p.summable = true;
  p.summable_tolerance = 2e-2;  // the values cross in the message's dtype
  p.unbiased = true;
  p.unbiased_range = "every finite value, over sites and seeds";
  p.token_local = true;
  p.sample_local = true;
  p.nonfinite_spread = Spread::kRow;
  p.is_expansive = true;
  return p;
}

LeafCodec::Sizes Srht::sizes(const Shape& shape, DType dtype) const {
  if (dim_ > padded(shape.hidden))
    throw Error(ErrorKind::kUnsupported, "srht: dim " + std::to_string(dim_) +
                                             " is above the padded hidden size " +
                                             std::to_string(padded(shape.hidden)));
  return {0, static_cast<std::size_t>(shape.rows() * dim_) * item_bytes(dtype)};
}

SrhtPlan Srht::plan(const Shape& shape, const Context& context) const {
  return {dim_, padded(shape.hidden), factor_of(padded(shape.hidden), dim_),
          context.fixed_random(Purpose::kSigns), context.fixed_random(Purpose::kRandK)};
}

bool Srht::supports(Device device) const {
  return device == Device::kCpu || DeviceTable<SrhtLaunchers>::is_installed();
}

std::size_t Srht::workspace_bytes(const Shape& shape, DType, const Context& context) const {
  const std::int64_t size = padded(std::max<std::int64_t>(1, shape.hidden));
  if (context.device == Device::kCuda) {
    const std::int64_t rows = size > kLongestPieceRow ? shape.rows() : 0;
    return Scratch::bytes_for<std::uint32_t>(dim_) + Scratch::bytes_for<std::uint32_t>(size) +
           Scratch::bytes_for<float>(rows * size);
  }
  const std::int64_t shares = share_count(shape.rows(), shape.elements(), context.threads);
  return 2 * Scratch::bytes_for<float>(size) +
         Scratch::bytes_for<std::uint32_t>(size + kPositionSlack) +
         Scratch::bytes_for<float>(dim_ + kPositionSlack) +
         2 * Scratch::bytes_for<float>(shares * size) + Scratch::bytes_for<float>(shares * dim_);
}

double Srht::added_flops(const Shape& shape, std::uint32_t) const {
  if (shape.elements() == 0) return 0;
  const auto size = static_cast<double>(padded(shape.hidden));
  return 2.0 * static_cast<double>(shape.rows()) * size * (std::log2(size) + 2.0);
}

void Srht::read_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                          DType dtype, const DecodeTarget& target, const Context& context) const {
  DeviceTable<SrhtLaunchers>::get("srht").decode(payloads, shape, dtype, plan(shape, context),
                                                 target, context);
}

void Srht::write(const TensorView& in, std::byte* out, const Context& context) const {
  if (context.device == Device::kCuda)
    return DeviceTable<SrhtLaunchers>::get("srht").encode(in, plan(in.shape, context), out,
                                                          context);
  const std::int64_t hidden = in.shape.hidden;
  const std::int64_t size = padded(hidden);
  Scratch scratch(context);
  const Draws draws(hidden, dim_, context, scratch);
  const std::int64_t shares = share_count(in.shape.rows(), in.shape.elements(), context.threads);
  const auto rows = scratch.take<float>(shares * size);
  const auto all_sent = scratch.take<float>(shares * dim_);
  const auto item = static_cast<std::int64_t>(item_bytes(in.dtype));
  for_each_share(in.shape.rows(), in.shape.elements(), context.threads,
                 [&](std::int64_t first, std::int64_t last, std::int64_t slot) {
                   float* const row = rows.data() + slot * size;
                   float* const sent = all_sent.data() + slot * dim_;
                   const bool is_in_place = in.dtype == DType::kFloat32 && size == hidden;
                   for (std::int64_t r = first; r < last; ++r) {
                     const auto* from = static_cast<const std::byte*>(in.data) + r * hidden * item;
                     const float* x = row;
                     if (is_in_place) {
                       x = reinterpret_cast<const float*>(from);
                     } else {
                       widen_values(from, in.dtype, hidden, row);
                       std::fill(row + hidden, row + size, 0.0f);
                     }
                     kernels::signed_walsh_hadamard(x, draws.signs.data(), size, 1, row);
                     for (std::int64_t j = 0; j < dim_; ++j)
                       sent[j] = row[draws.coordinates[static_cast<std::size_t>(j)]] * draws.factor;
                     round_values(sent, in.dtype, dim_, out + r * dim_ * item);
                   }
                 });
}

void Srht::read(const std::byte* payload, const Shape& shape, DType dtype, bool is_accumulated,
                float* out, const Context& context) const {
  const std::span<const std::byte> one(payload, sizes(shape, dtype).codes);
  add_rows({&one, 1}, shape, dtype, is_accumulated, out, context);
}

void Srht::combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
                   DType dtype, std::span<float> out, State* state, const Context& context) const {
  if (context.device == Device::kCuda || received.size() < 2)
    return LeafCodec::combine(received, shape, dtype, out, state, context);
  for (const auto& payload : received)
    expect_payload_bytes(payload, payload_bytes(shape, dtype, context, 0, state), "srht");
  if (shape.elements() > 0) add_rows(received, shape, dtype, false, out.data(), context);
}

// Row by row out = or += the sum of the payloads in their order: each is rotated back by itself,
// since the sum rounds after the transform (METHODS, "Sum at a site").
void Srht::add_rows(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                    DType dtype, bool is_accumulated, float* out, const Context& context) const {
  const std::int64_t hidden = shape.hidden;
  const std::int64_t size = padded(hidden);
  Scratch scratch(context);
  const Draws draws(hidden, dim_, context, scratch);
  const std::int64_t shares = share_count(shape.rows(), shape.elements(), context.threads);
  const auto all_sent = scratch.take<float>(shares * dim_);
  const auto all_rows = scratch.take<float>(shares * size);
  const auto all_work = scratch.take<float>(shares * size);
  // Every message of a row overwrites the coordinates; the rest stays 0.
  std::fill(all_rows.begin(), all_rows.end(), 0.0f);
  const auto item = static_cast<std::int64_t>(item_bytes(dtype));
  for_each_share(shape.rows(), shape.elements(), context.threads,
                 [&](std::int64_t first, std::int64_t last, std::int64_t slot) {
                   float* const sent = all_sent.data() + slot * dim_;
                   float* const row = all_rows.data() + slot * size;
                   float* const work = all_work.data() + slot * size;
                   const float* const signs = draws.signs.data();
                   for (std::int64_t r = first; r < last; ++r) {
                     float* const to = out + r * hidden;
                     bool is_added = is_accumulated;
                     for (const auto& payload : payloads) {
                       widen_values(payload.data() + r * dim_ * item, dtype, dim_, sent);
                       for (std::int64_t j = 0; j < dim_; ++j)
                         row[draws.coordinates[static_cast<std::size_t>(j)]] =
                             sent[j] * draws.factor;
                       inverse_rotate({row, static_cast<std::size_t>(size)}, signs, hidden,
                                      is_added, work, to);
                       is_added = true;
                     }
                   }
                 });
}

}  // namespace tersor::compressors

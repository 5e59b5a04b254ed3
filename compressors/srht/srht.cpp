// SPDX-License-Identifier: Apache-2.0
#include "compressors/srht/srht.hpp"

#include <bit>
#include <cmath>

#include "common/error.hpp"
#include "compressors/api/blocks.hpp"
#include "compressors/api/device_table.hpp"
#include "compressors/api/hadamard_kernels.hpp"
#include "compressors/api/kernels.hpp"
#include "compressors/api/registry.hpp"
#include "compressors/api/select.hpp"
#include "compressors/api/workspace.hpp"

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
  info.make = [](const Arguments& a) {
    return std::make_shared<Srht>(a.integer("dim"), a.canonical());
  };
  info.examples = {"srht(dim=1)", "srht(dim=3)"};
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
  std::span<float> row;
  float factor = 0;

  Draws(std::int64_t hidden, std::int64_t dim, const Context& context, Scratch& scratch) {
    const std::int64_t size = padded(hidden);
    signs = scratch.take<float>(hidden);
    random_signs(context, Purpose::kSigns, signs);
    coordinates = scratch.take<std::uint32_t>(dim + kPositionSlack);
    // The dim smallest draws are the largest complements, ties to the lowest position in both.
    const auto keys = scratch.take<std::uint32_t>(size);
    kernels::fill_draw32(context.fixed_random(Purpose::kRandK), 0, size, keys.data());
    for (std::uint32_t& key : keys) key = ~key;
    const auto spare = scratch.take<std::uint32_t>(size + kPositionSlack);
    select_largest(keys, dim, spare, coordinates.data());
    coordinates = coordinates.first(static_cast<std::size_t>(dim));
    row = scratch.take<float>(size);
    factor = factor_of(size, dim);
  }
};

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
  return 3 * Scratch::bytes_for<float>(size) +
         Scratch::bytes_for<std::uint32_t>(size + kPositionSlack) +
         2 * Scratch::bytes_for<float>(dim_ + kPositionSlack);
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
  Scratch scratch(context);
  Draws draws(hidden, dim_, context, scratch);
  const auto sent = scratch.take<float>(dim_);
  const auto item = static_cast<std::int64_t>(item_bytes(in.dtype));
  for (std::int64_t r = 0; r < in.shape.rows(); ++r) {
    float* row = draws.row.data();
    std::fill(draws.row.begin() + hidden, draws.row.end(), 0.0f);
    widen_values(static_cast<const std::byte*>(in.data) + r * hidden * item, in.dtype, hidden, row);
    kernels::multiply(row, draws.signs.data(), hidden, row);
    kernels::walsh_hadamard(row, std::ssize(draws.row));
    for (std::size_t j = 0; j < sent.size(); ++j)
      sent[j] = draws.row[draws.coordinates[j]] * draws.factor;
    round_values(sent.data(), in.dtype, dim_, out + r * dim_ * item);
  }
}

void Srht::read(const std::byte* payload, const Shape& shape, DType dtype, bool is_accumulated,
                float* out, const Context& context) const {
  const std::int64_t hidden = shape.hidden;
  Scratch scratch(context);
  Draws draws(hidden, dim_, context, scratch);
  const auto sent = scratch.take<float>(dim_);
  const auto item = static_cast<std::int64_t>(item_bytes(dtype));
  for (std::int64_t r = 0; r < shape.rows(); ++r) {
    widen_values(payload + r * dim_ * item, dtype, dim_, sent.data());
    std::fill(draws.row.begin(), draws.row.end(), 0.0f);
    for (std::size_t j = 0; j < sent.size(); ++j)
      draws.row[draws.coordinates[j]] = sent[j] * draws.factor;
    kernels::walsh_hadamard(draws.row.data(), std::ssize(draws.row));
    float* to = out + r * hidden;
    if (is_accumulated) {
      kernels::multiply(draws.row.data(), draws.signs.data(), hidden, draws.row.data());
      kernels::add(draws.row.data(), hidden, to);
    } else {
      kernels::multiply(draws.row.data(), draws.signs.data(), hidden, to);
    }
  }
}

}  // namespace tersor::compressors

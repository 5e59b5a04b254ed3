// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/autoencoder/autoencoder.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/error.hpp"
#include "common/hash.hpp"
#include "compressors/api/workspace.hpp"
#include "compressors/base/dense.hpp"
#include "compressors/host/blocks.hpp"
#include "compressors/host/kernels.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/wire/bits.hpp"

namespace tersor::compressors {
namespace {

CodecInfo autoencoder_info() {
  CodecInfo info;
  info.name = "autoencoder";
  info.summary = "learned linear bottleneck along hidden";
  info.source = "Bian et al., MLSys 2024";
  info.parameters = {
      Parameter::integer("dim", 50, 1, 2147483647, "width of the bottleneck"),
      Parameter::choice("encoder", {"per_rank", "tied"}, "an encoder per rank, or one for all"),
  };
  info.strength = Strength{"dim"};
  info.make = [](const Arguments& a) {
    return std::make_shared<Autoencoder>(a.integer("dim"), a.choice("encoder") == "per_rank",
                                         a.canonical());
  };
  info.examples = {"autoencoder(dim=7)", "autoencoder(dim=16,encoder=tied)"};
  return info;
}

const CodecRegistrar kRegistrar(autoencoder_info());

}  // namespace

void xavier_weights(std::uint64_t seed, std::string_view name, std::int64_t rows,
                    std::int64_t columns, std::span<float> out) {
  const auto c2 = static_cast<std::uint32_t>(xxh64(name));
  const Stream stream = make_stream(seed, Purpose::kInit, 0, c2);
  const double bound = std::sqrt(6.0 / static_cast<double>(rows + columns));
  const std::int64_t n = rows * columns;
  std::array<std::uint32_t, 1024> draws;
  for (std::int64_t begin = 0; begin < n; begin += std::ssize(draws)) {
    const std::int64_t count = std::min<std::int64_t>(std::ssize(draws), n - begin);
    kernels::fill_draw32(stream, static_cast<std::uint64_t>(begin), count, draws.data());
    for (std::int64_t i = 0; i < count; ++i)
      out[static_cast<std::size_t>(begin + i)] =
          static_cast<float>((draws[static_cast<std::size_t>(i)] / 2147483648.0 - 1.0) * bound);
  }
}

Autoencoder::Autoencoder(std::int64_t dim, bool is_per_rank, std::string canonical)
    : dim_(dim), is_per_rank_(is_per_rank), canonical_(std::move(canonical)) {}

Properties Autoencoder::properties() const {
  Properties p;
  p.summable = true;
  p.summable_tolerance = 2e-2;  // Z is exchanged in the message's dtype: bfloat16 rounds to 2^-9
  p.bit_exact = false;
  p.tolerance = 1e-4;
  p.token_local = true;
  p.sample_local = true;
  p.learned = true;
  p.nonfinite_spread = Spread::kRow;
  return p;
}

void Autoencoder::expect_countable(const Shape& shape) const {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  const std::int64_t longest = std::max(shape.hidden, shape.rows());
  if (longest > kMost / dim_)
    throw Error(ErrorKind::kUnsupported, canonical_ + ": " + std::to_string(longest) + " x " +
                                             std::to_string(dim_) +
                                             " weights or values are more than 2^40; take a "
                                             "smaller dim");
}

std::size_t Autoencoder::payload_bytes(const Shape& shape, DType dtype, const Context&, int,
                                       const State*) const {
  if (shape.elements() == 0) return 0;
  expect_countable(shape);
  return static_cast<std::size_t>(shape.rows() * dim_) * item_bytes(dtype);
}

std::size_t Autoencoder::workspace_bytes(const Shape& shape, DType, const Context&) const {
  expect_countable(shape);
  return Scratch::bytes_for<float>(shape.hidden * dim_) + Scratch::bytes_for<float>(dim_) +
         Scratch::bytes_for<float>(shape.hidden);
}

std::int64_t Autoencoder::added_parameters(const Shape& shape, std::uint32_t ranks) const {
  expect_countable(shape);
  return shape.hidden * dim_ * (1 + (is_per_rank_ ? std::int64_t{ranks} : 1));
}

double Autoencoder::added_flops(const Shape& shape, std::uint32_t) const {
  return 4.0 * static_cast<double>(shape.elements()) * static_cast<double>(dim_);
}

std::size_t Autoencoder::encode(int, const TensorView& in, std::span<std::byte> out, State*,
                                const Context& context) const {
  const std::size_t size = payload_bytes(in.shape, in.dtype, context, 0, nullptr);
  expect_room(out, size, "autoencoder");
  if (size == 0) return 0;
  const std::int64_t hidden = in.shape.hidden;
  Scratch scratch(context);
  const auto weights = scratch.take<float>(hidden * dim_);
  const auto z = scratch.take<float>(dim_);
  const auto row = scratch.take<float>(hidden);
  // One name for every rank: the encoders start equal.
  xavier_weights(context.seed, "autoencoder.encoder", hidden, dim_, weights);
  for (std::int64_t r = 0; r < in.shape.rows(); ++r) {
    widen_values(static_cast<const std::byte*>(in.data) +
                     static_cast<std::size_t>(r * hidden) * item_bytes(in.dtype),
                 in.dtype, hidden, row.data());
    dense::multiply_row(row.data(), weights.data(), hidden, dim_, z.data());
    round_values(z.data(), in.dtype, dim_,
                 out.data() + static_cast<std::size_t>(r * dim_) * item_bytes(in.dtype));
  }
  return size;
}

void Autoencoder::decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                         std::span<float> out, State*, const Context& context) const {
  expect_payload_bytes(payload, payload_bytes(shape, dtype, context, 0, nullptr), "autoencoder");
  if (payload.empty()) return;
  Scratch scratch(context);
  const auto weights = scratch.take<float>(dim_ * shape.hidden);
  const auto z = scratch.take<float>(dim_);
  xavier_weights(context.seed, "autoencoder.decoder", dim_, shape.hidden, weights);
  for (std::int64_t r = 0; r < shape.rows(); ++r) {
    widen_values(payload.data() + static_cast<std::size_t>(r * dim_) * item_bytes(dtype), dtype,
                 dim_, z.data());
    dense::multiply_row(z.data(), weights.data(), dim_, shape.hidden,
                        out.data() + r * shape.hidden);
  }
}

}  // namespace tersor::compressors

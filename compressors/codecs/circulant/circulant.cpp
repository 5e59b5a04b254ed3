// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/circulant/circulant.hpp"

#include <algorithm>
#include <cmath>

#include "common/error.hpp"
#include "compressors/api/workspace.hpp"
#include "compressors/base/dense.hpp"
#include "compressors/host/blocks.hpp"
#include "compressors/host/hadamard_kernels.hpp"
#include "compressors/host/kernels.hpp"
#include "compressors/spec/registry.hpp"

namespace tersor::compressors {
namespace {

CodecInfo circulant_info() {
  CodecInfo info;
  info.name = "circulant";
  info.summary = "rows of a random circulant matrix of +-1";
  info.source = "Bian et al., MLSys 2024 (code)";
  info.parameters = {
      Parameter::integer("dim", std::nullopt, 1, 2147483647, "values sent per row"),
  };
  info.strength = Strength{"dim"};
  info.make = [](const Arguments& a) {
    return std::make_shared<Circulant>(a.integer("dim"), a.canonical());
  };
  info.examples = {"circulant(dim=1)", "circulant(dim=3)"};
  return info;
}

const CodecRegistrar kRegistrar(circulant_info());

}  // namespace

Circulant::Circulant(std::int64_t dim, std::string canonical)
    : LeafCodec(std::move(canonical), Exchange::kAllReduce), dim_(dim) {}

Properties Circulant::properties() const {
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

LeafCodec::Sizes Circulant::sizes(const Shape& shape, DType dtype) const {
  if (dim_ > shape.hidden)
    throw Error(ErrorKind::kUnsupported, "circulant: dim " + std::to_string(dim_) +
                                             " is above the hidden size " +
                                             std::to_string(shape.hidden));
  return {0, static_cast<std::size_t>(shape.rows() * dim_) * item_bytes(dtype)};
}

std::size_t Circulant::workspace_bytes(const Shape& shape, DType, const Context&) const {
  return 6 * Scratch::bytes_for<float>(shape.hidden);
}

double Circulant::added_flops(const Shape& shape, std::uint32_t) const {
  return 4.0 * static_cast<double>(shape.elements()) * static_cast<double>(dim_);
}

void Circulant::write(const TensorView& in, std::byte* out, const Context& context) const {
  const std::int64_t h = in.shape.hidden;
  Scratch scratch(context);
  const auto signs = scratch.take<float>(h);
  const auto c = scratch.take<float>(h);
  const auto reversed = scratch.take<float>(2 * h);
  const auto row = scratch.take<float>(h);
  const auto z = scratch.take<float>(dim_);
  random_signs(context, Purpose::kSigns, signs);
  random_signs(context, Purpose::kMatrix, c);
  // C[j,i] = c[(i-j) mod h] = reversed[h - i + j] with reversed[t] = c[-t mod h], twice in a row.
  for (std::int64_t t = 0; t < 2 * h; ++t)
    reversed[static_cast<std::size_t>(t)] = c[static_cast<std::size_t>((2 * h - t) % h)];
  const auto factor = static_cast<float>(1.0 / std::sqrt(static_cast<double>(dim_)));
  const auto item = static_cast<std::int64_t>(item_bytes(in.dtype));
  for (std::int64_t r = 0; r < in.shape.rows(); ++r) {
    widen_values(static_cast<const std::byte*>(in.data) + r * h * item, in.dtype, h, row.data());
    kernels::multiply(row.data(), signs.data(), h, row.data());
    dense::multiply_toeplitz(row.data(), h, reversed.data() + h, dim_, z.data());
    for (float& v : z) v *= factor;
    round_values(z.data(), in.dtype, dim_, out + r * dim_ * item);
  }
}

void Circulant::read(const std::byte* payload, const Shape& shape, DType dtype, bool is_accumulated,
                     float* out, const Context& context) const {
  const std::int64_t h = shape.hidden;
  Scratch scratch(context);
  const auto signs = scratch.take<float>(h);
  const auto twice = scratch.take<float>(2 * h);
  const auto row = scratch.take<float>(h);
  const auto z = scratch.take<float>(dim_);
  random_signs(context, Purpose::kSigns, signs);
  random_signs(context, Purpose::kMatrix, twice.first(static_cast<std::size_t>(h)));
  std::copy_n(twice.begin(), h, twice.begin() + h);
  const auto factor = static_cast<float>(1.0 / std::sqrt(static_cast<double>(dim_)));
  const auto item = static_cast<std::int64_t>(item_bytes(dtype));
  for (std::int64_t r = 0; r < shape.rows(); ++r) {
    widen_values(payload + r * dim_ * item, dtype, dim_, z.data());
    // C[j,i] = c[(i-j) mod h] = twice[h - j + i]
    dense::multiply_toeplitz(z.data(), dim_, twice.data() + h, h, row.data());
    for (float& v : row) v *= factor;
    float* to = out + r * h;
    if (is_accumulated) {
      kernels::multiply(row.data(), signs.data(), h, row.data());
      kernels::add(row.data(), h, to);
    } else {
      kernels::multiply(row.data(), signs.data(), h, to);
    }
  }
}

}  // namespace tersor::compressors

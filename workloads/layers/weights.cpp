// SPDX-License-Identifier: Apache-2.0
#include "workloads/layers/weights.hpp"

#include <xxhash.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

#include "common/error.hpp"
#include "common/hex.hpp"
#include "common/philox.hpp"
#include "common/safetensors.hpp"

namespace tersor::workloads {
namespace {

double uniform(std::uint32_t draw) { return (static_cast<double>(draw) + 0.5) * 0x1p-32; }

void fill_normal(std::vector<float>& values, const Stream& stream, double deviation) {
  for (std::size_t i = 0; i < values.size(); i += 4) {
    const std::array<std::uint32_t, 4> draws = stream.block(static_cast<std::uint32_t>(i / 4));
    for (std::size_t pair = 0; pair < 4; pair += 2) {
      const double radius = deviation * std::sqrt(-2.0 * std::log(uniform(draws[pair])));
      const double angle = 2.0 * std::numbers::pi * uniform(draws[pair + 1]);
      if (i + pair < values.size()) values[i + pair] = static_cast<float>(radius * std::cos(angle));
      if (i + pair + 1 < values.size())
        values[i + pair + 1] = static_cast<float>(radius * std::sin(angle));
    }
  }
}

}  // namespace

std::vector<float> start_values(std::string_view name, std::span<const std::int64_t> shape,
                                Start start, std::uint64_t seed) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  std::vector<float> values(static_cast<std::size_t>(count), start == Start::kOnes ? 1.0f : 0.0f);
  const auto c2 = static_cast<std::uint32_t>(XXH64(name.data(), name.size(), 0));
  const Stream stream = make_stream(seed, Purpose::kInit, 0, c2);
  if (start == Start::kNormal002) fill_normal(values, stream, 0.02);
  if (start == Start::kXavierUniform) {
    TERSOR_CHECK(shape.size() == 2, "Xavier's bound needs a matrix: " + std::string(name));
    const double bound = std::sqrt(6.0 / static_cast<double>(shape[0] + shape[1]));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>((2.0 * uniform(stream.draw32(i)) - 1.0) * bound);
  }
  return values;
}

Weights::Weights(const std::string& file, std::uint64_t seed)
    : file_(file.empty() ? nullptr : std::make_unique<SafeTensors>(file)), seed_(seed) {}
Weights::~Weights() = default;

/// Files of whole classifiers have Hugging Face's prefix "bert."; those that were converted from
/// TensorFlow call weight and bias of a layer norm gamma and beta.
std::string Weights::find(std::string_view name) const {
  const std::string newest(name);
  std::string old = newest;
  for (const auto& [now, before] :
       {std::pair{"LayerNorm.weight", "LayerNorm.gamma"}, {"LayerNorm.bias", "LayerNorm.beta"}})
    if (name.ends_with(now)) old = newest.substr(0, name.size() - std::strlen(now)) + before;
  for (const std::string& one : {newest, "bert." + newest, old, "bert." + old})
    if (file_->contains(one)) return one;
  return newest;
}

std::int64_t Weights::rows(std::string_view name) const {
  if (!file_) return 0;
  const auto& shape = file_->at(find(name)).shape;
  return shape.empty() ? 0 : shape[0];
}

std::vector<float> Weights::take(const std::string& name, std::span<const std::int64_t> shape,
                                 Start start) {
  if (!file_) return fresh(name, shape, start);
  std::vector<float> values = file_->floats(find(name), shape);
  absorb(name, values);
  return values;
}

std::vector<float> Weights::fresh(const std::string& name, std::span<const std::int64_t> shape,
                                  Start start) {
  std::vector<float> values = start_values(name, shape, start, seed_);
  absorb(name, values);
  return values;
}

std::vector<float> Weights::added(const std::string& name, std::span<const std::int64_t> shape,
                                  Start start) const {
  return start_values(name, shape, start, seed_);
}

void Weights::absorb(std::string_view name, std::span<const float> values) {
  hash_ = XXH64(name.data(), name.size(), hash_);
  hash_ = XXH64(values.data(), values.size_bytes(), hash_);
}

std::string Weights::hash() const { return hex(hash_); }

}  // namespace tersor::workloads

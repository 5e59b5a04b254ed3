// SPDX-License-Identifier: Apache-2.0
#include "compressors/bench/material.hpp"

#include <cmath>

#include "common/philox.hpp"

namespace tersor::compressors::bench {
namespace {

constexpr std::int64_t kLoudEvery = 97;  ///< one channel in this many is ten times larger

Material make(const Shape& shape, DType dtype) {
  const Stream stream = make_stream(3, Purpose::kInit);
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  for (std::size_t block = 0; block * 4 < values.size(); ++block) {
    const auto words = stream.block(static_cast<std::uint32_t>(block));
    for (std::size_t i = 0; i < 4 && block * 4 + i < values.size(); ++i) {
      // The sum of four bytes is near enough to normal: variance 4 * (256^2 - 1) / 12.
      const std::uint32_t w = words[i];
      const auto sum = static_cast<float>((w & 255) + (w >> 8 & 255) + (w >> 16 & 255) + (w >> 24));
      const auto column = static_cast<std::int64_t>(block * 4 + i) % shape.hidden;
      values[block * 4 + i] = (sum - 510.0f) / 147.8f * (column % kLoudEvery == 0 ? 10.0f : 1.0f);
    }
  }
  Material material{shape, dtype, std::vector<std::byte>(values.size() * item_bytes(dtype)), {}};
  round_to(dtype, values, material.bits.data());
  for (std::int64_t i = 0; i < shape.samples; ++i) material.ids.push_back(i);
  return material;
}

}  // namespace

std::string Material::name() const {
  return std::string(to_string(dtype)) + "/" + std::to_string(shape.samples) + "x" +
         std::to_string(shape.tokens) + "x" + std::to_string(shape.hidden);
}

std::vector<Material> make_materials(bool is_quick) {
  std::vector<Material> materials;
  if (is_quick) return {make({2, 16, 384}, DType::kFloat32)};
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    for (const Shape& shape : {Shape{1, 4096, 1024}, Shape{1, 1024, 384}, Shape{32, 128, 1024}})
      materials.push_back(make(shape, dtype));
    const auto rows = static_cast<std::int64_t>((std::size_t{64} << 20) / 1024 / item_bytes(dtype));
    materials.push_back(make({1, rows, 1024}, dtype));
  }
  return materials;
}

}  // namespace tersor::compressors::bench

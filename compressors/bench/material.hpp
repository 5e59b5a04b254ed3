// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compressors/api/codec.hpp"

namespace tersor::compressors::bench {

/// A tensor to time codecs on: made activations (normal values, a few channels ten times larger, as
/// transformer activations have them).
struct Material {
  Shape shape;
  DType dtype = DType::kFloat32;
  std::vector<std::byte> bits;
  std::vector<std::int64_t> ids;

  TensorView view() const { return {bits.data(), shape, dtype}; }
  /// "float32/1x4096x1024".
  std::string name() const;
};

/// [4096,1024], [1024,384], [32,128,1024] and 64 MiB in all dtypes; `is_quick`: one small tensor.
std::vector<Material> make_materials(bool is_quick);

}  // namespace tersor::compressors::bench

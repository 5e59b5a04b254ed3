// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "compressors/api/codec.hpp"

namespace tersor::compressors::bench {

/// A tensor to time codecs on.
struct Material {
  std::string name;  ///< "float32/1x4096x1024"; of a file: "float32/NAME"
  Shape shape;
  DType dtype = DType::kFloat32;
  std::vector<std::byte> bits;
  std::vector<std::int64_t> ids;

  TensorView view() const { return {bits.data(), shape, dtype}; }
};

/// Made activations: normal values, each channel times a log-normal scale of its own, as
/// transformer activations have loud channels.
Material make_material(const Shape& shape, DType dtype);
/// The tensors of a .npy or .safetensors file, each rounded to every dtype asked for.
std::vector<Material> read_materials(const std::filesystem::path& file,
                                     const std::vector<DType>& dtypes);
/// [4096,1024], [1024,384], [32,128,1024] and 64 MiB.
std::vector<Shape> usual_shapes(DType dtype);
/// "4096x1024" or "32x128x1024". Throws Error(kUsage).
Shape parse_shape(const std::string& text);

}  // namespace tersor::compressors::bench

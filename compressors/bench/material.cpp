// SPDX-License-Identifier: Apache-2.0
#include "compressors/bench/material.hpp"

#include <cmath>
#include <numbers>
#include <numeric>

#include "common/error.hpp"
#include "common/npy.hpp"
#include "common/number.hpp"
#include "common/philox.hpp"
#include "common/safetensors.hpp"

namespace tersor::compressors::bench {
namespace {

// Two normal values from two draws (Box-Muller).
std::pair<float, float> normals(std::uint32_t a, std::uint32_t b) {
  const float radius = std::sqrt(-2.0f * std::log((static_cast<float>(a) + 1.0f) * 0x1p-32f));
  const float angle = 2.0f * std::numbers::pi_v<float> * static_cast<float>(b) * 0x1p-32f;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

void fill_normal(const Stream& stream, std::vector<float>& values) {
  for (std::size_t block = 0; block * 4 < values.size(); ++block) {
    const auto words = stream.block(static_cast<std::uint32_t>(block));
    const auto [a, b] = normals(words[0], words[1]);
    const auto [c, d] = normals(words[2], words[3]);
    const std::array four{a, b, c, d};
    for (std::size_t i = 0; i < 4 && block * 4 + i < values.size(); ++i)
      values[block * 4 + i] = four[i];
  }
}

Material material_of(std::string name, const Shape& shape, DType dtype,
                     std::span<const float> values) {
  Material material{std::string(to_string(dtype)) + "/" + name, shape, dtype,
                    std::vector<std::byte>(values.size() * item_bytes(dtype)),
                    std::vector<std::int64_t>(static_cast<std::size_t>(shape.samples))};
  round_to(dtype, values, material.bits.data());
  std::iota(material.ids.begin(), material.ids.end(), std::int64_t{0});
  return material;
}

}  // namespace

Material make_material(const Shape& shape, DType dtype) {
  std::vector<float> scales(static_cast<std::size_t>(shape.hidden));
  fill_normal(make_stream(4, Purpose::kInit), scales);
  for (float& s : scales) s = std::exp(s);
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  fill_normal(make_stream(3, Purpose::kInit), values);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= scales[i % scales.size()];
  return material_of(std::to_string(shape.samples) + "x" + std::to_string(shape.tokens) + "x" +
                         std::to_string(shape.hidden),
                     shape, dtype, values);
}

std::vector<Material> read_materials(const std::filesystem::path& file,
                                     const std::vector<DType>& dtypes) {
  const auto refuse = [&](const std::string& reason) {
    throw Error(ErrorKind::kUsage,
                "--data " + file.string() + ": " + reason +
                    "; give a .npy or .safetensors file, such as `tersor run --messages-every 50` "
                    "writes");
  };
  if (!std::filesystem::exists(file)) refuse("there is no such file");
  if (std::filesystem::is_directory(file)) refuse("it is a folder");
  std::vector<Material> materials;
  const auto add = [&](const std::string& name, const std::vector<std::int64_t>& dims,
                       std::span<const float> values) {
    if (values.empty()) return;
    for (const DType dtype : dtypes)
      materials.push_back(material_of(name, message_shape(dims), dtype, values));
  };
  if (file.extension() == ".npy") {
    const NpyArray array = read_npy(file);
    std::vector<float> values(static_cast<std::size_t>(array.elements()));
    widen(array.dtype, array.data.data(), values);
    add(file.filename().string(), array.dims, values);
  } else if (file.extension() == ".safetensors") {
    const SafeTensors tensors(file);
    for (const auto& [name, tensor] : tensors.tensors()) {
      if (tensor.dtype == "F32" || tensor.dtype == "F16" || tensor.dtype == "BF16")
        add(file.filename().string() + ":" + name, tensor.shape, tensors.floats(name));
    }
  } else {
    refuse("it is neither .npy nor .safetensors");
  }
  if (materials.empty()) refuse("it has no float32, float16 or bfloat16 tensor with elements");
  return materials;
}

std::vector<Shape> usual_shapes(DType dtype) {
  const auto rows = static_cast<std::int64_t>((std::size_t{64} << 20) / 1024 / item_bytes(dtype));
  return {{1, 4096, 1024}, {1, 1024, 384}, {32, 128, 1024}, {1, rows, 1024}};
}

Shape parse_shape(const std::string& text) {
  std::vector<std::int64_t> dims;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    const auto dim = parse_integer(std::string_view(text).substr(begin, end - begin));
    if (!dim || *dim <= 0) break;
    dims.push_back(*dim);
    begin = end + 1;
  }
  if (begin <= text.size() || dims.size() < 2 || dims.size() > 3)
    throw Error(ErrorKind::kUsage, "--shape " + text +
                                       ": expected TOKENSxHIDDEN or "
                                       "SAMPLESxTOKENSxHIDDEN");
  double elements = 1;
  for (const std::int64_t dim : dims) elements *= static_cast<double>(dim);
  if (elements > 0x1p40)
    throw Error(ErrorKind::kUsage, "--shape " + text + ": more than 2^40 elements");
  if (dims.size() == 2) dims.insert(dims.begin(), 1);
  return {dims[0], dims[1], dims[2]};
}

}  // namespace tersor::compressors::bench

// SPDX-License-Identifier: Apache-2.0
#include "workloads/comm/tensor.hpp"

#include <ATen/ops/empty.h>

#include <cstring>

#include "common/error.hpp"

namespace tersor::workloads {

std::span<std::byte> bytes_of(const at::Tensor& tensor) {
  TERSOR_CHECK(tensor.device().is_cpu() && tensor.is_contiguous(), "expected a dense CPU tensor");
  return {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()};
}

std::span<float> floats_of(const at::Tensor& tensor) {
  TERSOR_CHECK(tensor.scalar_type() == at::kFloat, "expected float32");
  const std::span<std::byte> bytes = bytes_of(tensor);
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

DType dtype_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat: return DType::kFloat32;
    case at::kHalf: return DType::kFloat16;
    case at::kBFloat16: return DType::kBFloat16;
    default: throw Error(ErrorKind::kInternal, "an activation is float32, float16 or bfloat16");
  }
}

at::Tensor tensor_from(std::span<const float> values, std::span<const std::int64_t> shape) {
  at::Tensor tensor = at::empty(at::IntArrayRef(shape.data(), shape.size()), at::kFloat);
  const std::span<float> to = floats_of(tensor);
  TERSOR_CHECK(to.size() == values.size(), "shape and values differ");
  if (!values.empty()) std::memcpy(to.data(), values.data(), values.size_bytes());
  return tensor;
}

}  // namespace tersor::workloads

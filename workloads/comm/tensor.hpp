// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one header of the project that includes torch, for headers that hold tensors by value.
#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/tensor.hpp"

namespace tersor::workloads {

/// The bytes of a dense CPU tensor, which stays their owner. Throws Error(kInternal) on another
/// one.
std::span<std::byte> bytes_of(const at::Tensor& tensor);
/// float32 elements of a dense CPU tensor.
std::span<float> floats_of(const at::Tensor& tensor);
DType dtype_of(const at::Tensor& tensor);
/// A float32 copy in torch's own, aligned memory.
at::Tensor tensor_from(std::span<const float> values, std::span<const std::int64_t> shape);

}  // namespace tersor::workloads

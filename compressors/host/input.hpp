// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "common/tensor.hpp"
#include "compressors/wire/floats.hpp"

/// Elements of a tensor as kernels read them: of its own dtype, widened to float32 in registers.
namespace tersor::compressors::kernels {

struct Float16 {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

inline float widened(float x) { return x; }
inline float widened(Float16 x) { return float16_to_float32(x.bits); }
inline float widened(BFloat16 x) { return bfloat16_to_float32(x.bits); }

struct Input {
  const void* data = nullptr;
  DType dtype = DType::kFloat32;

  Input() = default;
  Input(const float* values) : data(values) {}  // NOLINT(google-explicit-constructor)
  Input(const TensorView& in, std::int64_t first) : Input(in.data, in.dtype, first) {}
  Input(const void* from, DType type, std::int64_t first)
      : data(static_cast<const char*>(from) + static_cast<std::size_t>(first) * item_bytes(type)),
        dtype(type) {}
  /// From element `first` on.
  Input at(std::int64_t first) const { return {data, dtype, first}; }

  /// visit(pointer to float, Float16 or BFloat16)
  template <class Visit>
  auto with(Visit&& visit) const {
    switch (dtype) {
      case DType::kFloat16: return visit(static_cast<const Float16*>(data));
      case DType::kBFloat16: return visit(static_cast<const BFloat16*>(data));
      default: return visit(static_cast<const float*>(data));
    }
  }
};

}  // namespace tersor::compressors::kernels

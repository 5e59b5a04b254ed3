// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tersor {

/// Element types of a message (METHODS section 1).
enum class DType : std::uint8_t { kFloat32, kFloat16, kBFloat16 };

/// Bytes of one element: 4, 2, 2.
constexpr std::size_t item_bytes(DType dtype) { return dtype == DType::kFloat32 ? 4 : 2; }

/// "float32", "float16", "bfloat16".
std::string_view to_string(DType dtype);
/// Accepts the names above and fp32, fp16, bf16; throws Error(kUsage) with the known names.
DType parse_dtype(std::string_view text);

/// A message's shape {samples, tokens, hidden}, row-major; a row is one token's hidden vector.
/// Images are {samples, 1, C*H*W}.
struct Shape {
  std::int64_t samples = 0;
  std::int64_t tokens = 0;
  std::int64_t hidden = 0;

  constexpr std::int64_t rows() const { return samples * tokens; }
  constexpr std::int64_t elements() const { return samples * tokens * hidden; }
  friend constexpr bool operator==(const Shape&, const Shape&) = default;
};

/// A borrowed, contiguous, read-only tensor; on the device of the call that it is passed to.
struct TensorView {
  const void* data = nullptr;
  Shape shape;
  DType dtype = DType::kFloat32;

  std::size_t bytes() const {
    return static_cast<std::size_t>(shape.elements()) * item_bytes(dtype);
  }
};

}  // namespace tersor

// SPDX-License-Identifier: Apache-2.0
#include "common/tensor.hpp"

#include <string>

#include "common/error.hpp"

namespace tersor {

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return "float32";
    case DType::kFloat16: return "float16";
    case DType::kBFloat16: return "bfloat16";
  }
  return "float32";
}

DType parse_dtype(std::string_view text) {
  if (text == "float32" || text == "fp32") return DType::kFloat32;
  if (text == "float16" || text == "fp16") return DType::kFloat16;
  if (text == "bfloat16" || text == "bf16") return DType::kBFloat16;
  throw Error(ErrorKind::kUsage,
              "dtype '" + std::string(text) + "' is none of float32, float16, bfloat16");
}

}  // namespace tersor

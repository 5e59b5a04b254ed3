// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/api/codec.hpp"
#include "compressors/c_api/tersor_codecs.h"

namespace tersor::compressors {

/// A message of the C interface in our types; borrows ids and workspace.
struct MessageParts {
  Shape shape;
  DType dtype = DType::kFloat32;
  Context context;
};

/// Throws Error(kUsage) where the structure is too short, a size is negative, the shape has more
/// than 2^56 elements, or a field has no meaning.
MessageParts message_parts(const tersor_message* message);
tersor_message c_message(const Shape& shape, DType dtype, const Context& context);

}  // namespace tersor::compressors

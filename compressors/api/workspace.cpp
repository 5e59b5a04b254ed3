// SPDX-License-Identifier: Apache-2.0
#include "compressors/api/workspace.hpp"

#include <memory>
#include <string>

#include "common/error.hpp"

namespace tersor::compressors {

std::byte* Scratch::raw(std::size_t bytes) {
  void* start = free_.data();
  std::size_t space = free_.size();
  if (start != nullptr && std::align(kAlignment, bytes, start, space) != nullptr) {
    auto* taken = static_cast<std::byte*>(start);
    free_ = {taken + bytes, space - bytes};
    return taken;
  }
  if (is_on_device_)
    throw Error(ErrorKind::kUsage, "the workspace on the device is " + std::to_string(bytes) +
                                       " bytes smaller than workspace_bytes()");
  owned_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes + kAlignment));
  start = owned_.back().get();
  space = bytes + kAlignment;
  return static_cast<std::byte*>(std::align(kAlignment, bytes, start, space));
}

std::span<const float> as_float32(const TensorView& in, Scratch& scratch) {
  const auto n = static_cast<std::size_t>(in.shape.elements());
  if (in.dtype == DType::kFloat32) return {static_cast<const float*>(in.data), n};
  const auto values = scratch.take<float>(in.shape.elements());
  widen(in.dtype, in.data, values);
  return values;
}

}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/tensor.hpp"

namespace tersor {

/// One tensor of a safetensors file: a view into the mapped file, valid while the file object
/// lives. The data may be unaligned: the format promises nothing.
struct SafeTensor {
  std::string dtype;  ///< as the file says: F32, F16, BF16, I64
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;  ///< row-major, little-endian

  std::int64_t elements() const;
};

/// A read-only, memory-mapped safetensors file. Everything in its header is checked when it is
/// opened: length, JSON, shapes, and that the tensors' ranges are inside, do not overlap and leave
/// no hole. A dtype that tersor does not compute with stands beside the others, and is refused
/// where it is asked for.
class SafeTensors {
 public:
  /// Throws Error(kMissing) or Error(kData) with the file's path, the tensor and the expected
  /// value.
  explicit SafeTensors(const std::filesystem::path& file);
  ~SafeTensors();
  SafeTensors(SafeTensors&&) noexcept;
  SafeTensors& operator=(SafeTensors&&) noexcept;

  /// Throws Error(kData) with the nearest names where the tensor is not there.
  const SafeTensor& at(std::string_view name) const;
  bool contains(std::string_view name) const;
  /// Copy as float32 (F32, F16, BF16). Throws Error(kData) on another dtype or where `shape` (if
  /// not empty) is not the tensor's.
  std::vector<float> floats(std::string_view name, std::span<const std::int64_t> shape = {}) const;
  const std::map<std::string, SafeTensor, std::less<>>& tensors() const;
  /// The header's __metadata__ strings.
  const std::map<std::string, std::string>& metadata() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Writes the tensors, in their order, as {samples, tokens, hidden} under their names, and the
/// metadata's strings; atomically. Throws Error(kIo).
void write_safetensors(const std::filesystem::path& path,
                       std::span<const std::pair<std::string, TensorView>> tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace tersor

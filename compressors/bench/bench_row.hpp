// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compressors/api/codec.hpp"
#include "compressors/bench/counters.hpp"
#include "compressors/bench/material.hpp"

namespace tersor::compressors::bench {

enum class Operation : std::uint8_t { kEncode, kDecode, kSum };

/// One operation of a codec on one tensor, with all buffers allocated: `sum` decodes the payloads
/// of `ranks` ranks and adds them (Codec::combine). A codec of several rounds encodes in all of
/// them.
class Row {
 public:
  Row(const Codec& codec, const Material& material, Operation operation, std::uint32_t ranks,
      int threads);
  void work();
  /// memcpy of the tensor.
  void copy();
  RowBytes bytes() const;

 private:
  void encode();
  void decode();

  const Codec& codec_;
  TensorView in_;
  Operation operation_;
  Context context_;
  std::vector<std::byte> workspace_;
  std::unique_ptr<State> sender_;
  std::unique_ptr<State> receiver_;
  std::vector<std::vector<std::byte>> payloads_;  // of the last round
  std::size_t payload_bytes_ = 0;                 // of all rounds
  std::vector<std::span<const std::byte>> received_;
  std::vector<float> out_;
  std::vector<std::byte> copied_;
};

/// Whether the bench can time this codec on this tensor.
bool takes(const Codec& codec, const Shape& shape, DType dtype);

}  // namespace tersor::compressors::bench

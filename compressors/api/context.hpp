// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/philox.hpp"
#include "common/tensor.hpp"

namespace tersor::compressors {

enum class Phase : std::uint8_t { kTrain = 0, kEval = 1 };
enum class Direction : std::uint8_t { kForward = 0, kBackward = 1 };
enum class Device : std::uint8_t { kCpu, kCuda };

/// Where the ranks of a group stand in a larger one: its rank r is that one's first + r * step.
struct RankPlaces {
  std::uint32_t first = 0;
  std::uint32_t step = 1;
};

/// What both ends of a message know of it. Values that a caller does not set are 0, as in METHODS
/// section 1.
struct Context {
  std::uint64_t seed = 0;
  std::uint32_t step = 0;
  std::uint16_t call = 0;  ///< micro-batch in the step
  std::uint16_t site = 0;
  Direction direction = Direction::kForward;
  Phase phase = Phase::kTrain;
  std::uint32_t rank = 0;  ///< encode: the sender; decode: the rank whose payload it is
  std::uint32_t ranks = 1;
  RankPlaces places{};  ///< draws take the rank in the whole group (METHODS, `hierarchical`)
  std::int64_t element_offset =
      0;  ///< index of this tensor's first element in the whole tensor (twostep, aqsgd)
  bool second_round =
      false;  ///< round two of twostep, outer codec of hierarchical: rounding draws purpose 6
  std::span<const std::int64_t> sample_ids{};  ///< one per sample; data-set row and crop (aqsgd)
  TensorView local_input{};  ///< the rank's own contribution, where a decode wants it (partial)
  Device device = Device::kCpu;
  void* stream = nullptr;            ///< cudaStream_t when device is kCuda
  std::span<std::byte> workspace{};  ///< at least workspace_bytes(); empty: the codec allocates
  int threads = 1;

  Stream random(Purpose purpose, bool with_rank) const;
  /// Streams fixed over steps depend on seed, site and purpose only.
  Stream fixed_random(Purpose purpose) const;
};

}  // namespace tersor::compressors

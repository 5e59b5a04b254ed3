// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "protocol/cell.hpp"

namespace tersor::workloads {

class TensorParallel;
class Weights;

/// Blocks [first, end) of a model, counted from 0 in the whole one.
struct BlockRange {
  std::int64_t first = 0;
  std::int64_t end = 0;
  std::int64_t count() const { return end - first; }
  friend bool operator==(const BlockRange&, const BlockRange&) = default;
};

/// What a model is built from. References must outlive the model.
struct ModelContext {
  TensorParallel& group;
  Weights& weights;
  const protocol::Cell& config;
  std::int64_t vocabulary = 0;  ///< ids of the tokenizer
  std::int64_t outputs = 2;     ///< classes, or 1 score
  /// What is made of the model: these blocks, what comes before them where they are the first, and
  /// behind them where they are the last. None: all.
  std::optional<BlockRange> part{};
};

}  // namespace tersor::workloads

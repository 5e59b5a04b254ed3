// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "protocol/cell.hpp"

namespace tersor::workloads {

class TensorParallel;
class Weights;

/// What a model is built from. References must outlive the model.
struct ModelContext {
  TensorParallel& group;
  Weights& weights;
  const protocol::Cell& config;
  std::int64_t vocabulary = 0;  ///< ids of the tokenizer
  std::int64_t outputs = 2;     ///< classes, or 1 score
};

}  // namespace tersor::workloads

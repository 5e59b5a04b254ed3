// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <utility>

#include "datasets/batches.hpp"

namespace tersor::workloads {

/// A split that yields batches; a loop does not look into them.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual std::int64_t rows() const = 0;
  /// Batch `index` of `batch_rows` rows of an order; the last one may be short.
  virtual datasets::Batch batch(std::span<const std::int64_t> order, std::int64_t index,
                                std::int64_t batch_rows) const = 0;
};

/// Rows of token ids.
class TokenSource : public BatchSource {
 public:
  explicit TokenSource(datasets::EncodedSplit split) : split_(std::move(split)) {}
  std::int64_t rows() const override { return split_.rows(); }
  datasets::Batch batch(std::span<const std::int64_t> order, std::int64_t index,
                        std::int64_t batch_rows) const override {
    return datasets::make_batch(split_, order, index, batch_rows);
  }

 private:
  datasets::EncodedSplit split_;
};

}  // namespace tersor::workloads

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/tensor.hpp"

namespace tersor::compressors {

/// What one scale, minimum or index list covers (METHODS section 1, "Shape").
enum class Scope : std::uint8_t { kTensor, kSample, kToken, kChannel, kGroup };

/// "tensor", "sample", "token", "channel", "group", in this order (choices of the `scope`
/// parameter).
const std::vector<std::string>& scope_names();
/// Throws Error(kInternal) on a name that scope_names() does not have.
Scope parse_scope(std::string_view name);

/// The elements of one scope: `length` of them from flat index `begin`, `stride` apart.
struct ScopeSlice {
  std::int64_t begin = 0;
  std::int64_t length = 0;
  std::int64_t stride = 1;
};

/// All scopes of a tensor, in scope order. Only `channel` has a stride other than 1. Of a tensor
/// without elements it has none.
class ScopeGrid {
 public:
  ScopeGrid(const Shape& shape, Scope scope, std::int64_t group = 128)
      : shape_(shape),
        scope_(scope),
        group_(std::max<std::int64_t>(1, std::min(group, shape.hidden))) {
    if (shape.elements() == 0) return;
    groups_per_row_ = (shape.hidden - 1) / group_ + 1;
    switch (scope) {
      case Scope::kTensor: count_ = 1; break;
      case Scope::kSample: count_ = shape.samples; break;
      case Scope::kToken: count_ = shape.rows(); break;
      case Scope::kChannel: count_ = shape.hidden; break;
      case Scope::kGroup: count_ = shape.rows() * groups_per_row_; break;
    }
  }

  std::int64_t count() const { return count_; }
  Scope scope() const { return scope_; }
  /// Elements of a full group along hidden (meaningful for `group` only).
  std::int64_t group() const { return group_; }
  bool is_contiguous() const { return scope_ != Scope::kChannel; }

  ScopeSlice operator[](std::int64_t i) const {
    switch (scope_) {
      case Scope::kTensor: return {0, shape_.elements(), 1};
      case Scope::kSample:
        return {i * shape_.tokens * shape_.hidden, shape_.tokens * shape_.hidden, 1};
      case Scope::kToken: return {i * shape_.hidden, shape_.hidden, 1};
      case Scope::kChannel: return {i, shape_.rows(), shape_.hidden};
      case Scope::kGroup: break;
    }
    const std::int64_t column = i % groups_per_row_ * group_;
    return {i / groups_per_row_ * shape_.hidden + column, std::min(group_, shape_.hidden - column),
            1};
  }

  /// Elements of the largest scope.
  std::int64_t longest() const { return count_ == 0 ? 0 : (*this)[0].length; }

 private:
  Shape shape_;
  Scope scope_;
  std::int64_t group_;
  std::int64_t groups_per_row_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "common/tensor.hpp"
#include "compressors/wire/indices.hpp"
#include "compressors/wire/scopes.hpp"

namespace tersor::compressors {

/// Sizes of a sparse payload. Scopes have at most two lengths: the full one and a row's last group.
class SparseLayout {
 public:
  /// selected(n) = how many elements of a scope of n are sent (1..n).
  SparseLayout(const ScopeGrid& grid, const Shape& shape, DType dtype, IndexCoding coding,
               std::string_view codec, const std::function<std::int64_t(std::int64_t)>& selected);

  IndexCoding coding() const { return coding_; }
  std::int64_t selected(std::int64_t scope_length) const {
    return scope_length == full_.n ? full_.k : tail_.k;
  }
  std::size_t index_bytes_of(std::int64_t scope_length) const {
    return scope_length == full_.n ? full_bytes_ : tail_bytes_;
  }
  /// Elements sent of the whole tensor, and of the scope that sends most.
  std::int64_t selected_of_all() const { return full_.scopes * full_.k + tail_.scopes * tail_.k; }
  std::int64_t most_selected() const { return full_.k > tail_.k ? full_.k : tail_.k; }
  /// Smallest selected share of a scope.
  double least_share() const;
  std::size_t index_bytes() const;
  std::size_t payload_bytes() const;
  /// Index bytes and values of the scopes before this one.
  std::size_t index_bytes_before(std::int64_t scope) const;
  std::int64_t selected_before(std::int64_t scope) const;

 private:
  template <class T>
  T before(std::int64_t scope, T full, T tail) const {
    if (tail_.scopes == 0) return static_cast<T>(scope) * full;
    const std::int64_t per_row = full_.scopes / tail_.scopes;  // and then the tail
    return static_cast<T>(scope / (per_row + 1)) * (static_cast<T>(per_row) * full + tail) +
           static_cast<T>(scope % (per_row + 1)) * full;
  }

  DType dtype_;
  IndexCoding coding_;
  ScopeSizes full_;
  ScopeSizes tail_;
  std::size_t full_bytes_ = 0;
  std::size_t tail_bytes_ = 0;
};

}  // namespace tersor::compressors

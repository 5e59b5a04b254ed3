// SPDX-License-Identifier: Apache-2.0
#include "compressors/wire/sparse_layout.hpp"

#include <algorithm>
#include <array>

namespace tersor::compressors {

SparseLayout::SparseLayout(const ScopeGrid& grid, const Shape& shape, DType dtype,
                           IndexCoding coding, std::string_view codec,
                           const std::function<std::int64_t(std::int64_t)>& selected)
    : dtype_(dtype), coding_(coding) {
  if (grid.count() == 0) return;
  full_ = {grid.longest(), selected(grid.longest()), grid.count()};
  const std::int64_t tail = grid.scope() == Scope::kGroup ? shape.hidden % grid.group() : 0;
  if (tail != 0) {
    tail_ = {tail, selected(tail), shape.rows()};
    full_.scopes -= tail_.scopes;
  }
  const std::array sizes{full_, tail_};
  coding_ = choose_index_coding(coding, sizes, codec);
  full_bytes_ = compressors::index_bytes(coding_, full_.n, full_.k);
  if (tail != 0) tail_bytes_ = compressors::index_bytes(coding_, tail_.n, tail_.k);
}

double SparseLayout::least_share() const {
  double share = full_.n > 0 ? static_cast<double>(full_.k) / static_cast<double>(full_.n) : 1.0;
  if (tail_.n > 0)
    share = std::min(share, static_cast<double>(tail_.k) / static_cast<double>(tail_.n));
  return share;
}

std::size_t SparseLayout::index_bytes() const {
  return static_cast<std::size_t>(full_.scopes) * full_bytes_ +
         static_cast<std::size_t>(tail_.scopes) * tail_bytes_;
}

std::size_t SparseLayout::index_bytes_before(std::int64_t scope) const {
  return before<std::size_t>(scope, full_bytes_, tail_bytes_);
}

std::int64_t SparseLayout::selected_before(std::int64_t scope) const {
  return before<std::int64_t>(scope, full_.k, tail_.k);
}

std::size_t SparseLayout::payload_bytes() const {
  return index_bytes() + static_cast<std::size_t>(selected_of_all()) * item_bytes(dtype_);
}

}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#include "compressors/verify/suite/measures.hpp"

#include <algorithm>
#include <cmath>

namespace tersor::compressors::suite {

double finite_absmax(std::span<const float> values) {
  double largest = 0;
  for (const float x : values)
    if (std::isfinite(x)) largest = std::max(largest, std::abs(static_cast<double>(x)));
  return largest;
}

double square_norm(std::span<const float> values) {
  double sum = 0;
  for (const float x : values) sum += static_cast<double>(x) * static_cast<double>(x);
  return sum;
}

std::vector<float> minus(std::span<const float> a, std::span<const float> b) {
  std::vector<float> out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) out[i] = a[i] - b[i];
  return out;
}

}  // namespace tersor::compressors::suite

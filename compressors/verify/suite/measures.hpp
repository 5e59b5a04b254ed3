// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "compressors/verify/suite/subject.hpp"

namespace tersor::compressors::suite {

constexpr DType kDTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};
constexpr Shape kMiddle{3, 4, 67};

/// Of the finite values; 0 without any.
double finite_absmax(std::span<const float> values);
double square_norm(std::span<const float> values);
std::vector<float> minus(std::span<const float> a, std::span<const float> b);

}  // namespace tersor::compressors::suite

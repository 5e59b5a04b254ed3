// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/tensor.hpp"

namespace tersor::compressors {

enum class StateKind : std::uint8_t { kNone, kSite, kSample };
enum class Spread : std::uint8_t { kElement, kRow, kTensor };

/// Declared properties; the generic suite tests every one of them (METHODS section 1,
/// "Properties").
struct Properties {
  bool summable = false;  ///< decode(sum of codes) = sum of decodes within summable_tolerance
  double summable_tolerance = 0;
  bool unbiased = false;
  std::string unbiased_range;  ///< where unbiased holds, for people
  std::function<std::optional<double>(const Shape&)>
      contraction{};  ///< delta: |x-C(x)|^2 <= (1-delta)|x|^2
  /// Largest |x - decode| per element as a multiple of the finite absolute maximum of the tensor,
  /// if bounded; 2^-133, the smallest step of bfloat16, comes on top.
  std::optional<double> error_bound_of_absmax;
  bool bit_exact = true;
  double tolerance = 0;  ///< relative L2, where not bit_exact
  StateKind state = StateKind::kNone;
  bool fixed_size = true;
  bool lossless = false;
  bool token_local = false;
  bool sample_local = false;
  bool learned = false;
  /// |x - C(x)| may exceed |x| by design (unbiased estimates, a part of the channels): no error
  /// feedback around it. Wrappers hand their inner codec's value on.
  bool is_expansive = false;
  /// false: the payload depends on step or rank, not on tensor, seed and site alone.
  bool deterministic = true;
  Spread nonfinite_spread = Spread::kElement;
};

}  // namespace tersor::compressors

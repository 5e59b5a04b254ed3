// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "compressors/codecs/topk/topk.hpp"
#include "compressors/host/select.hpp"

namespace tersor::compressors {

/// Whether the scopes are selected from by select_long(): contiguous, and so long that a sample of
/// one brackets its threshold.
bool is_long(const ScopeGrid& scopes);

/// Elements of scratch for the candidates of a long scope of this length.
std::int64_t candidate_elements(std::int64_t longest, int threads);

/// The positions and values of the k largest of a long scope go to s.index and s.values. The result
/// does not depend on the sample: where its bracket leaves fewer than k candidates, all are looked
/// at.
Threshold select_long(const TensorView& in, const ScopeSlice& slice, std::int64_t k,
                      const TopKSelection& s, int threads);

}  // namespace tersor::compressors

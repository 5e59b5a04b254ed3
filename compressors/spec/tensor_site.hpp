// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "compressors/api/codec.hpp"

namespace tersor::compressors {

/// Why this codec is refused at a tensor site ("tp": row-parallel outputs, "tp.backward": the
/// conjugate sums); empty: it may.
std::string refuses_tensor_site(std::string_view site, const Codec& codec);
/// Why this codec is refused between two stages of a pipeline ("pp": activations, "pp.gradient");
/// empty: it may.
std::string refuses_pipeline_site(std::string_view site, const Codec& codec);
/// One of the two, by the site.
std::string refuses_site(std::string_view site, const Codec& codec);
/// Why ranks in `nodes` equal groups do not suit it; empty: they do.
std::string refuses_nodes(const Codec& codec, int ranks, int nodes);

}  // namespace tersor::compressors

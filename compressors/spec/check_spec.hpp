// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "compressors/spec/registry.hpp"

namespace tersor::compressors {

/// The spec's outermost codec with its checked arguments (wrapped codecs are built).
struct CheckedSpec {
  const CodecInfo* info = nullptr;
  Arguments arguments;
};
/// Parses and checks without building the outermost codec; throws as make_codec does.
CheckedSpec check_spec(std::string_view spec);

/// Registered name of the outermost codec of a canonical spec.
std::string codec_name(std::string_view canonical);

}  // namespace tersor::compressors

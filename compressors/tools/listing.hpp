// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "compressors/spec/registry.hpp"

namespace tersor::compressors {

/// What a parameter takes: "1..8", "(0, 1]", "nearest|stochastic", "a codec".
std::string values_of(const Parameter& p);
/// "topk(ratio=0.01, k=, ..)": the name and every parameter with its default.
std::string signature(const CodecInfo& info);
/// {"codecs": [..], "presets": [..]}: what `tersor list codecs --json` prints.
nlohmann::ordered_json list_codecs();
/// The table of `tersor list codecs --markdown`, which README.md shows.
std::string markdown_table();

}  // namespace tersor::compressors

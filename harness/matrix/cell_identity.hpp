// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "protocol/cell.hpp"

namespace tersor::harness {

/// Version of the payloads' common rules (docs/wire-format.md); part of every cell's key.
constexpr int kWireVersion = 1;

/// Text for cell_key: the wire version and, per site, the name and version of every codec in the
/// spec. "wire 1; tp: topk 1; tp.backward: none 1".
std::string codec_versions(const protocol::Cell& cell);

/// The cell's key with these versions.
std::string key_of(const protocol::Cell& cell);

/// What the database stores of a cell's codecs: site -> compressors::describe.
nlohmann::json codec_facts(const protocol::Cell& cell);

}  // namespace tersor::harness

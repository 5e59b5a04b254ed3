// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "compressors/api/codec.hpp"
#include "protocol/cell.hpp"

namespace tersor::harness {

/// The canonical form of a spec of an axis; one with a preset that depends on the message (T1)
/// stays as it is written, without blanks, until the cell is known. Throws Error(kSpec) on a
/// mistake in it.
std::string axis_spec(const std::string& spec);
/// The codec of such a spec; presets are made for a message of 32 samples, 32 tokens, hidden 1024.
std::shared_ptr<const compressors::Codec> codec_of(const std::string& spec);
/// The canonical form of such a spec in a cell: presets are made for its training messages.
std::string spec_in(const protocol::Cell& cell, const std::string& spec);

}  // namespace tersor::harness

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tersor {

/// XXH64: checksum of frames, keys of cells, streams of initial weights.
std::uint64_t xxh64(std::span<const std::byte> data, std::uint64_t seed = 0);
std::uint64_t xxh64(std::string_view text, std::uint64_t seed = 0);

/// 64 lower-case hex digits: files from outside and golden payloads.
std::string sha256_hex(std::span<const std::byte> data);

}  // namespace tersor

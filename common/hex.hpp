// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tersor {

/// 16 lower-case digits, leading zeros included: hashes, keys and checksums.
std::string hex(std::uint64_t value);
/// Two lower-case digits a byte, in the order of the bytes.
std::string hex(std::span<const std::byte> bytes);

}  // namespace tersor

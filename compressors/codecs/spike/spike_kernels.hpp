// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace tersor::compressors::kernels {

/// Bit `bit` of every code, one after the other: ceil(count/8) bytes, the last one zero-padded.
void gather_plane(const std::uint8_t* codes, std::int64_t count, int bit, std::byte* out);
/// Sets bit `bit` of the codes whose bit of the plane is set.
void scatter_plane(const std::byte* plane, std::int64_t count, int bit, std::uint8_t* codes);

}  // namespace tersor::compressors::kernels

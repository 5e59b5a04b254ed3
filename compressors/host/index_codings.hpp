// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "compressors/wire/indices.hpp"

namespace tersor::compressors {

/// Writes index_bytes(coding, n, index.size()) bytes; index ascends, below n.
void encode_index(IndexCoding coding, std::span<const std::uint32_t> index, std::int64_t n,
                  std::byte* out);
/// Reads index.size() indices. Throws Error(kPayload) where they do not ascend, reach n, or are not
/// that many.
void decode_index(IndexCoding coding, const std::byte* in, std::int64_t n,
                  std::span<std::uint32_t> index, std::string_view codec);

}  // namespace tersor::compressors

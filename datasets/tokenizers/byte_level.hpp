// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tersor::datasets {

/// The end of the piece that begins at `begin` < text.size(), by GPT-2's pattern
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// `text` is valid UTF-8; \s is Unicode's White_Space.
std::size_t piece_end(std::string_view text, std::size_t begin);

/// A token as vocab.json writes it, one character per byte (printable bytes stand for themselves,
/// the others for U+0100 and on), as its bytes; nullopt where a character stands for no byte.
std::optional<std::string> token_bytes(std::string_view written);

}  // namespace tersor::datasets

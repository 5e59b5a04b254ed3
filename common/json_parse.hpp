// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/error.hpp"

namespace tersor {

/// Place in a text, both from 1; columns count bytes.
struct TextPlace {
  int line = 1;
  int column = 1;
};
TextPlace place_in(std::string_view text, std::size_t offset);

/// What JSON from outside may be: deeper values would exhaust the stack of whoever copies or writes
/// them, and an ordered object finds a member by walking all of them.
inline constexpr int kDeepestJson = 64;
inline constexpr std::size_t kMostJsonMembers = 4096;

/// Parses one JSON value that came from outside; `Json` is nlohmann::json or ordered_json. Throws
/// Error(`kind`) "ORIGIN:LINE:COLUMN: .." on a text that is no JSON, on NaN and Infinity, on a
/// number that is not finite as binary64 (1e400), on a key that an object has twice, and beyond the
/// limits above. Nothing of the JSON
/// library's exceptions passes. `first_line` is the number of the text's first line in its file.
/// A table as large as a vocabulary says how many members it may have (`most_members`), and is read
/// as nlohmann::json, which finds a member in a tree.
template <typename Json>
Json parse_json(std::string_view text, const std::string& origin, int first_line = 1,
                ErrorKind kind = ErrorKind::kData, std::size_t most_members = kMostJsonMembers);

extern template nlohmann::json parse_json(std::string_view, const std::string&, int, ErrorKind,
                                          std::size_t);
extern template nlohmann::ordered_json parse_json(std::string_view, const std::string&, int,
                                                  ErrorKind, std::size_t);

}  // namespace tersor

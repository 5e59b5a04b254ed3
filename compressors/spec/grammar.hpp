// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tersor::compressors {

struct SpecArgument;

/// The grammar of codec specs without the meaning: `word` or `word(argument, ...)`. Columns are
/// 1-based and count bytes of the text that was parsed.
struct SpecNode {
  std::string word;
  int column = 0;
  bool has_parentheses = false;
  std::vector<SpecArgument> arguments;

  /// As written, without blanks.
  std::string text() const;
};

/// `value` or `key=value`; a value is a word or a spec.
struct SpecArgument {
  std::string key;  ///< empty: positional
  int key_column = 0;
  SpecNode value;
};

/// Throws Error(kSpec) with the column of the first mistake. Texts above 64 KiB and specs nested
/// deeper than 32 are refused.
SpecNode parse_spec(std::string_view text);

/// Error(kSpec) whose message ends with the column and the text that it points into.
[[noreturn]] void throw_spec_error(const std::string& message, int column, std::string_view text);

}  // namespace tersor::compressors

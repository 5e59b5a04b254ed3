// SPDX-License-Identifier: Apache-2.0
#include "common/shell_word.hpp"

#include <algorithm>

namespace tersor {

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(text);
  std::string word = "'";
  for (const char c : text) c == '\'' ? word += R"('\'')" : word += c;
  return word + "'";
}

}  // namespace tersor

// SPDX-License-Identifier: Apache-2.0
#include "datasets/tokenizers/basic.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace tersor::datasets {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

std::vector<char32_t> decode(std::string_view text) {
  std::vector<char32_t> codes;
  codes.reserve(text.size());
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  for (std::size_t at = 0; at < text.size();) {
    utf8proc_int32_t code = 0;
    const utf8proc_ssize_t used =
        utf8proc_iterate(bytes + at, static_cast<utf8proc_ssize_t>(text.size() - at), &code);
    codes.push_back(used > 0 ? static_cast<char32_t>(code) : kReplacement);
    at += used > 0 ? static_cast<std::size_t>(used) : 1;
  }
  return codes;
}

utf8proc_category_t category(char32_t code) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

/// White space among what cleaning leaves.
bool is_space(char32_t code) {
  if (code == '\t' || code == '\n' || code == '\r') return true;
  const utf8proc_category_t kind = category(code);
  return kind == UTF8PROC_CATEGORY_ZS || kind == UTF8PROC_CATEGORY_ZL ||
         kind == UTF8PROC_CATEGORY_ZP;
}

/// What cleaning drops: NUL, U+FFFD and the categories Cc, Cf, Co, Cs, but tab and line ends.
bool is_dropped(char32_t code) {
  if (code == 0 || code == kReplacement) return true;
  if (code == '\t' || code == '\n' || code == '\r') return false;
  const utf8proc_category_t kind = category(code);
  return kind == UTF8PROC_CATEGORY_CC || kind == UTF8PROC_CATEGORY_CF ||
         kind == UTF8PROC_CATEGORY_CO || kind == UTF8PROC_CATEGORY_CS;
}

/// BERT's list of CJK ideograph blocks as Hugging Face has it (its 2B920 is 2B820 in the original).
bool is_cjk(char32_t code) {
  constexpr std::array<std::array<char32_t, 2>, 8> kBlocks = {{{0x4E00, 0x9FFF},
                                                               {0x3400, 0x4DBF},
                                                               {0x20000, 0x2A6DF},
                                                               {0x2A700, 0x2B73F},
                                                               {0x2B740, 0x2B81F},
                                                               {0x2B920, 0x2CEAF},
                                                               {0xF900, 0xFAFF},
                                                               {0x2F800, 0x2FA1F}}};
  return std::any_of(kBlocks.begin(), kBlocks.end(),
                     [code](const auto& block) { return code >= block[0] && code <= block[1]; });
}

/// Unicode's categories P*, and every ASCII character that is no letter, digit, space or control.
bool is_punctuation(char32_t code) {
  if ((code >= 33 && code <= 47) || (code >= 58 && code <= 64) || (code >= 91 && code <= 96) ||
      (code >= 123 && code <= 126))
    return true;
  const utf8proc_category_t kind = category(code);
  return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO;
}

/// Appends NFD without category Mn. Mn characters, the only ones that canonical order moves, are
/// dropped: the order of the rest is theirs already.
void append_without_accents(char32_t code, std::vector<char32_t>& result) {
  std::array<utf8proc_int32_t, 32> buffer{};
  int boundary = 0;
  const utf8proc_ssize_t used = utf8proc_decompose_char(
      static_cast<utf8proc_int32_t>(code), buffer.data(),
      static_cast<utf8proc_ssize_t>(buffer.size()), UTF8PROC_DECOMPOSE, &boundary);
  for (utf8proc_ssize_t i = 0; i < used; ++i)
    if (const auto part = static_cast<char32_t>(buffer[static_cast<std::size_t>(i)]);
        category(part) != UTF8PROC_CATEGORY_MN)
      result.push_back(part);
}

/// Lower case, character by character; U+0130 is the one that has two in lower case.
std::vector<char32_t> lower_cased(const std::vector<char32_t>& codes) {
  std::vector<char32_t> result;
  result.reserve(codes.size());
  for (const char32_t code : codes) {
    if (code == 0x130)
      result.insert(result.end(), {U'i', 0x307});
    else
      result.push_back(
          static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))));
  }
  return result;
}

std::vector<char32_t> normalized(std::string_view text, const BasicRules& rules) {
  std::vector<char32_t> result;
  const auto append = [&](char32_t code) {
    if (rules.strip_accents)
      append_without_accents(code, result);
    else
      result.push_back(code);
  };
  for (const char32_t code : decode(text)) {
    if (is_dropped(code)) continue;
    const bool is_alone = rules.split_cjk && is_cjk(code);
    if (is_alone) result.push_back(U' ');
    append(is_space(code) ? U' ' : code);
    if (is_alone) result.push_back(U' ');
  }
  return rules.lower_case ? lower_cased(result) : result;
}

}  // namespace

std::vector<Word> basic_tokenize(std::string_view text, const BasicRules& rules) {
  std::vector<Word> words;
  bool is_open = false;  // whether the next character continues the last word
  for (const char32_t code : normalized(text, rules)) {
    if (is_space(code)) {
      is_open = false;
    } else if (is_punctuation(code)) {
      words.push_back({code});
      is_open = false;
    } else {
      if (!is_open) words.emplace_back();
      words.back().push_back(code);
      is_open = true;
    }
  }
  return words;
}

std::string to_utf8(const Word& word) {
  std::string text;
  for (const char32_t code : word) {
    utf8proc_uint8_t bytes[4];
    const utf8proc_ssize_t used = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes);
    text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(used));
  }
  return text;
}

}  // namespace tersor::datasets

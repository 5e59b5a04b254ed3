// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tersor::datasets {

/// One word of BERT's basic tokenizer: code points after cleaning, spacing of CJK characters,
/// accent stripping (NFD without category Mn) and lower-casing, cut at white space and punctuation.
using Word = std::vector<char32_t>;

/// Which of these a vocabulary asks for; cased ones ask for neither of the last two.
struct BasicRules {
  bool split_cjk = true;
  bool strip_accents = true;
  bool lower_case = true;
};

/// Words of a text, in order; a punctuation character is a word of its own. Invalid UTF-8 is read
/// as U+FFFD, which cleaning drops.
std::vector<Word> basic_tokenize(std::string_view text, const BasicRules& rules = {});

/// UTF-8 of a word.
std::string to_utf8(const Word& word);

}  // namespace tersor::datasets

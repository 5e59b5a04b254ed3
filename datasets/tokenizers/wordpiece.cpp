// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>

#include "common/error.hpp"
#include "datasets/text/text_file.hpp"
#include "datasets/tokenizers/basic.hpp"
#include "datasets/tokenizers/registry.hpp"
#include "datasets/tokenizers/tokenizer.hpp"

namespace tersor::datasets {
namespace {

constexpr std::size_t kLongestWord = 100;  // BERT's max_input_chars_per_word
constexpr std::array<std::string_view, 5> kSpecialTokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]",
                                                            "[MASK]"};

class WordPiece : public Tokenizer {
 public:
  WordPiece(const std::vector<std::string>& vocabulary, const std::string& origin)
      : size_(static_cast<std::int32_t>(vocabulary.size())) {
    ids_.reserve(vocabulary.size());
    for (std::size_t i = 0; i < vocabulary.size(); ++i) {
      const bool is_new = ids_.emplace(vocabulary[i], static_cast<std::int32_t>(i)).second;
      if (!is_new)
        throw Error(ErrorKind::kData, origin + ":" + std::to_string(i + 1) + ": token '" +
                                          vocabulary[i] + "' appears twice; ids must be unique");
    }
    for (const std::string_view token : kSpecialTokens)
      if (const auto found = ids_.find(std::string(token)); found != ids_.end())
        special_.emplace(token, found->second);
    for (const std::string_view token : {"[PAD]", "[UNK]", "[CLS]", "[SEP]"})
      if (!special_.contains(token))
        throw Error(ErrorKind::kData, origin + ": no token '" + std::string(token) + "' among " +
                                          std::to_string(size_) +
                                          " lines; a BERT vocab.txt is expected");
  }

  /// Special tokens written out in the text keep their ids, as Hugging Face's tokenizer has it.
  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> result;
    while (!text.empty()) {
      std::size_t at = text.find('[');
      std::string_view token;
      for (; at != std::string_view::npos && token.empty(); at = text.find('[', at + 1)) {
        for (const auto& [special, id] : special_)
          if (text.substr(at).starts_with(special)) token = special;
        if (!token.empty()) break;
      }
      for (const Word& word : basic_tokenize(text.substr(0, at))) append_pieces(word, result);
      if (token.empty()) break;
      result.push_back(special_.find(token)->second);
      text.remove_prefix(at + token.size());
    }
    return result;
  }

  std::int32_t vocabulary_size() const override { return size_; }
  std::int32_t pad_id() const override { return special_.find("[PAD]")->second; }
  std::int32_t cls_id() const override { return special_.find("[CLS]")->second; }
  std::int32_t sep_id() const override { return special_.find("[SEP]")->second; }

 private:
  /// Greedy longest match from the left; a word with a part that is not in the vocabulary is one
  /// [UNK].
  void append_pieces(const Word& word, std::vector<std::int32_t>& result) const {
    const std::size_t before = result.size();
    std::size_t begin = word.size() > kLongestWord ? word.size() + 1 : 0;
    while (begin < word.size()) {
      std::size_t end = word.size();
      std::optional<std::int32_t> id;
      for (; end > begin && !id; --end) id = find_piece(word, begin, end);
      if (!id) break;
      result.push_back(*id);
      begin = end + 1;
    }
    if (begin == word.size()) return;
    result.resize(before);
    result.push_back(special_.find("[UNK]")->second);
  }

  std::optional<std::int32_t> find_piece(const Word& word, std::size_t begin,
                                         std::size_t end) const {
    const auto at = [&](std::size_t i) { return word.begin() + static_cast<std::ptrdiff_t>(i); };
    const std::string piece = (begin > 0 ? "##" : "") + to_utf8(Word(at(begin), at(end)));
    const auto found = ids_.find(piece);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

  std::int32_t size_;
  std::unordered_map<std::string, std::int32_t> ids_;
  std::map<std::string_view, std::int32_t> special_;
};

const TokenizerRegistrar kWordPiece{{"wordpiece",
                                     "BERT's WordPiece, uncased; --vocab names its vocab.txt",
                                     [](const std::filesystem::path& file) {
                                       return make_wordpiece(read_vocabulary(file), file.string());
                                     }}};

}  // namespace

std::unique_ptr<Tokenizer> make_wordpiece(const std::vector<std::string>& vocabulary,
                                          const std::string& origin) {
  return std::make_unique<WordPiece>(vocabulary, origin);
}

std::vector<std::string> read_vocabulary(const std::filesystem::path& file) {
  const std::string text = read_text_file(
      file, "vocabulary ", "; expected a vocab.txt, one token a line (see scripts/fetch)");
  LineReader lines(text);
  std::vector<std::string> vocabulary;
  for (std::string_view line; lines.next(line);) {
    const bool is_valid = !line.empty() && first_invalid_utf8(line) == std::string_view::npos;
    if (!is_valid)
      throw Error(ErrorKind::kData,
                  file.string() + ":" + std::to_string(lines.number()) + ": " +
                      (line.empty() ? "an empty line" : "not valid UTF-8") +
                      " in a vocabulary; expected one token a line, the file of scripts/fetch");
    vocabulary.emplace_back(line);
  }
  return vocabulary;
}

std::vector<std::string> build_vocabulary(std::span<const std::string_view> texts,
                                          std::size_t max_words) {
  std::unordered_map<std::string, std::int64_t> counts;
  for (const std::string_view text : texts)
    for (const Word& word : basic_tokenize(text))
      if (word.size() <= kLongestWord) ++counts[to_utf8(word)];
  std::vector<std::pair<std::string, std::int64_t>> words(counts.begin(), counts.end());
  std::sort(words.begin(), words.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  words.resize(std::min(words.size(), max_words));
  std::vector<std::string> vocabulary(kSpecialTokens.begin(), kSpecialTokens.end());
  for (auto& [word, count] : words) vocabulary.push_back(std::move(word));
  return vocabulary;
}

}  // namespace tersor::datasets

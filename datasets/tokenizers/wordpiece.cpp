// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>

#include "common/error.hpp"
#include "datasets/text/text_file.hpp"
#include "datasets/tokenizers/basic.hpp"
#include "datasets/tokenizers/json_vocabulary.hpp"
#include "datasets/tokenizers/registry.hpp"
#include "datasets/tokenizers/tokenizer.hpp"

namespace tersor::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestWord = 100;  // BERT's max_input_chars_per_word
constexpr std::array<std::string_view, 5> kSpecialTokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]",
                                                            "[MASK]"};

class WordPiece : public Tokenizer {
 public:
  WordPiece(const std::vector<std::string>& vocabulary, const std::string& origin,
            const WordPieceOptions& options)
      : size_(static_cast<std::int32_t>(vocabulary.size())),
        rules_{.split_cjk = options.split_cjk,
               .strip_accents = options.strip_accents.value_or(options.lower_case),
               .lower_case = options.lower_case} {
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
      for (const Word& word : basic_tokenize(text.substr(0, at), rules_))
        append_pieces(word, result);
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
  std::int32_t mask_id() const override {
    const auto found = special_.find("[MASK]");
    return found == special_.end() ? -1 : found->second;
  }

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
  BasicRules rules_;
  std::unordered_map<std::string, std::int32_t> ids_;
  std::map<std::string_view, std::int32_t> special_;
};

bool boolean_or(const nlohmann::json& value, bool fallback, const std::string& what) {
  if (value.is_null()) return fallback;
  if (!value.is_boolean())
    throw Error(ErrorKind::kData,
                what + " is " + value.dump().substr(0, 40) + ", true or false is expected");
  return value.get<bool>();
}

/// From one object of a JSON file, whose names for the three options differ from file to file.
WordPieceOptions read_options(const nlohmann::json& object, const std::string& origin,
                              const std::array<std::string_view, 3>& names) {
  const auto read = [&](std::string_view name, bool fallback) {
    return boolean_or(value_at(object, name), fallback, origin + ": " + std::string(name));
  };
  WordPieceOptions options{.lower_case = read(names[0], true),
                           .strip_accents = std::nullopt,
                           .split_cjk = read(names[2], true)};
  options.strip_accents = read(names[1], options.lower_case);
  return options;
}

std::unique_ptr<Tokenizer> open_tokenizer_json(const fs::path& file) {
  const nlohmann::json root = read_tokenizer_json(file);
  const std::string origin = file.string();
  if (value_at(root, "/model/type") != "WordPiece" ||
      value_at(root, "/normalizer/type") != "BertNormalizer" ||
      value_at(root, "/pre_tokenizer/type") != "BertPreTokenizer")
    throw Error(ErrorKind::kData,
                origin + ": no model of type WordPiece with BERT's normalizer and pre-tokenizer");
  const TokenTable table = read_token_table(value_at(root, "/model/vocab"), origin);
  std::vector<std::string> vocabulary(table.size());
  for (const auto& [token, id] : table) vocabulary[static_cast<std::size_t>(id)] = token;
  return make_wordpiece(vocabulary, origin,
                        read_options(root, origin,
                                     {"/normalizer/lowercase", "/normalizer/strip_accents",
                                      "/normalizer/handle_chinese_chars"}));
}

/// A vocab.txt, with the options of a tokenizer_config.json beside it, a tokenizer.json, or a
/// folder with either.
std::unique_ptr<Tokenizer> open_wordpiece(const fs::path& given) {
  std::error_code ignored;
  fs::path file = given;
  for (const char* name : {"tokenizer.json", "vocab.txt"})
    if (fs::exists(given / name, ignored)) file = given / name;
  if (file.filename() == "tokenizer.json") return open_tokenizer_json(file);
  WordPieceOptions options;
  if (const fs::path config = file.parent_path() / "tokenizer_config.json";
      fs::exists(config, ignored))
    options = read_options(read_tokenizer_json(config), config.string(),
                           {"/do_lower_case", "/strip_accents", "/tokenize_chinese_chars"});
  return make_wordpiece(read_vocabulary(file), file.string(), options);
}

const TokenizerRegistrar kWordPiece{{"wordpiece",
                                     "BERT's WordPiece, cased where a tokenizer_config.json says "
                                     "so; --vocab names its vocab.txt, a tokenizer.json or their "
                                     "folder",
                                     open_wordpiece}};

}  // namespace

std::unique_ptr<Tokenizer> make_wordpiece(const std::vector<std::string>& vocabulary,
                                          const std::string& origin,
                                          const WordPieceOptions& options) {
  return std::make_unique<WordPiece>(vocabulary, origin, options);
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

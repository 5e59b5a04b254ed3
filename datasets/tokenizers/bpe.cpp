// SPDX-License-Identifier: Apache-2.0
// GPT-2's byte-level byte-pair encoding (Sennrich et al. 2016; Radford et al. 2019).
#include <algorithm>
#include <array>
#include <queue>
#include <unordered_map>

#include "common/error.hpp"
#include "datasets/text/text_file.hpp"
#include "datasets/tokenizers/byte_level.hpp"
#include "datasets/tokenizers/json_vocabulary.hpp"
#include "datasets/tokenizers/registry.hpp"
#include "datasets/tokenizers/tokenizer.hpp"

namespace tersor::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEndOfText = "<|endoftext|>";

std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
         static_cast<std::uint32_t>(right);
}

/// Bytes that are no UTF-8 become U+FFFD, one each.
std::string repaired(std::string_view text) {
  std::string result;
  for (std::size_t bad = 0; (bad = first_invalid_utf8(text)) != std::string_view::npos;) {
    result.append(text.substr(0, bad)).append("\xEF\xBF\xBD");
    text.remove_prefix(bad + 1);
  }
  return result.append(text);
}

class BytePairs : public Tokenizer {
 public:
  BytePairs(const TokenTable& written, const std::vector<std::string>& merges,
            const std::string& origin) {
    TokenTable ids;
    for (const auto& [token, id] : written) {
      size_ = std::max(size_, id + 1);
      if (token == kEndOfText) end_of_text_ = id;
      if (auto bytes = token_bytes(token)) ids.emplace(std::move(*bytes), id);
    }
    if (end_of_text_ < 0)
      throw Error(ErrorKind::kData, origin + ": no token '" + std::string(kEndOfText) + "' among " +
                                        std::to_string(written.size()) +
                                        "; the vocabulary of GPT-2 or one like it is expected");
    for (std::size_t byte = 0; byte < bytes_.size(); ++byte) {
      const auto found = ids.find(std::string(1, static_cast<char>(byte)));
      if (found == ids.end())
        throw Error(ErrorKind::kData,
                    origin + ": no token for the byte " + std::to_string(byte) +
                        "; a byte-level vocabulary has one for each of the 256 bytes");
      bytes_[byte] = found->second;
    }
    read_merges(ids, merges, origin);
    for (auto& [bytes, id] : ids) {  // most pieces of a text are one token: known without merging
      std::vector<std::int32_t> merged;
      merge(bytes, merged);
      if (merged.size() == 1 && merged[0] == id) whole_.emplace(bytes, id);
    }
  }

  /// `<|endoftext|>` written out in the text keeps its id, as Hugging Face's tokenizer has it.
  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::string copy;
    if (first_invalid_utf8(text) != std::string_view::npos) text = copy = repaired(text);
    std::vector<std::int32_t> result;
    for (;;) {
      const std::size_t end = text.find(kEndOfText);
      append_text(text.substr(0, end), result);
      if (end == std::string_view::npos) return result;
      result.push_back(end_of_text_);
      text.remove_prefix(end + kEndOfText.size());
    }
  }

  std::int32_t vocabulary_size() const override { return size_; }
  std::int32_t pad_id() const override { return end_of_text_; }
  std::int32_t cls_id() const override { return end_of_text_; }
  std::int32_t sep_id() const override { return end_of_text_; }

 private:
  struct Merge {
    std::uint32_t rank = 0;
    std::int32_t id = 0;
  };
  struct Symbol {
    std::int32_t id = 0;
    std::int32_t before = -1;  ///< index; -1: none
    std::int32_t after = -1;
    bool is_merged = false;  ///< into the one before
  };
  struct Candidate {
    std::uint32_t rank = 0;
    std::int32_t at = 0;
    std::uint64_t key = 0;
    std::int32_t id = 0;
    /// The lowest rank first, of equal ones the leftmost.
    bool operator<(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };

  void read_merges(const TokenTable& ids, const std::vector<std::string>& merges,
                   const std::string& origin) {
    for (std::size_t i = 0; i < merges.size(); ++i) {
      const std::size_t blank = merges[i].find(' ');
      const auto id_of = [&](std::string_view token) -> std::optional<std::int32_t> {
        const auto bytes = token_bytes(token);
        const auto found = bytes ? ids.find(*bytes) : ids.end();
        return found == ids.end() ? std::nullopt : std::optional(found->second);
      };
      std::optional<std::int32_t> left;
      std::optional<std::int32_t> right;
      std::optional<std::int32_t> both;
      if (blank != std::string::npos && merges[i].find(' ', blank + 1) == std::string::npos) {
        left = id_of(merges[i].substr(0, blank));
        right = id_of(merges[i].substr(blank + 1));
        both = id_of(merges[i].substr(0, blank) + merges[i].substr(blank + 1));
      }
      if (!left || !right || !both)
        throw Error(ErrorKind::kData,
                    origin + ": merge " + std::to_string(i + 1) + " '" + merges[i].substr(0, 80) +
                        "' is not two tokens of the vocabulary that are joined to a third");
      merges_.emplace(pair_key(*left, *right), Merge{static_cast<std::uint32_t>(i), *both});
    }
  }

  void append_text(std::string_view text, std::vector<std::int32_t>& result) const {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = piece_end(text, begin);
      const std::string_view piece = text.substr(begin, end - begin);
      if (const auto found = whole_.find(piece); found != whole_.end())
        result.push_back(found->second);
      else
        merge(piece, result);
      begin = end;
    }
  }

  /// The pair of the lowest rank is joined until no pair has one. A heap of candidates over a
  /// linked list: n log n, so that a long piece (a megabyte of one letter) costs no more.
  void merge(std::string_view piece, std::vector<std::int32_t>& result) const {
    std::vector<Symbol> symbols(piece.size());
    const auto count = static_cast<std::int32_t>(piece.size());
    for (std::int32_t i = 0; i < count; ++i)
      symbols[static_cast<std::size_t>(i)] = {
          bytes_[static_cast<unsigned char>(piece[static_cast<std::size_t>(i)])], i - 1,
          i + 1 < count ? i + 1 : -1, false};
    std::priority_queue<Candidate> candidates;
    const auto offer = [&](std::int32_t at) {
      const Symbol& left = symbols[static_cast<std::size_t>(at)];
      if (left.after < 0) return;
      const std::uint64_t key = pair_key(left.id, symbols[static_cast<std::size_t>(left.after)].id);
      if (const auto found = merges_.find(key); found != merges_.end())
        candidates.push({found->second.rank, at, key, found->second.id});
    };
    for (std::int32_t i = 0; i < count; ++i) offer(i);
    while (!candidates.empty()) {
      const Candidate best = candidates.top();
      candidates.pop();
      Symbol& left = symbols[static_cast<std::size_t>(best.at)];
      if (left.is_merged || left.after < 0) continue;
      Symbol& right = symbols[static_cast<std::size_t>(left.after)];
      if (pair_key(left.id, right.id) != best.key) continue;  // one of them was joined since
      left.id = best.id;
      right.is_merged = true;
      left.after = right.after;
      if (left.after >= 0) symbols[static_cast<std::size_t>(left.after)].before = best.at;
      offer(best.at);
      if (left.before >= 0) offer(left.before);
    }
    for (const Symbol& symbol : symbols)
      if (!symbol.is_merged) result.push_back(symbol.id);
  }

  std::int32_t size_ = 0;
  std::int32_t end_of_text_ = -1;
  std::array<std::int32_t, 256> bytes_{};
  std::unordered_map<std::uint64_t, Merge> merges_;
  TokenTable whole_;  ///< pieces that are one token, by their bytes
};

std::vector<std::string> read_merges(const fs::path& file) {
  const std::string text =
      read_text_file(file, "tokenizer ", "; it belongs to the vocab.json beside it");
  std::vector<std::string> merges;
  LineReader lines(text);
  for (std::string_view line; lines.next(line);)
    if (!line.empty() && !line.starts_with("#version")) merges.emplace_back(line);
  return merges;
}

/// What a tokenizer.json may say and GPT-2's does not would change ids without a word.
void expect_like_gpt2(const nlohmann::json& root, const std::string& origin) {
  const auto expect = [&](std::string_view pointer, const nlohmann::json& value) {
    const nlohmann::json given = value_at(root, pointer);
    const bool is_unset = given.is_null() || given == "";
    if (given == value || (is_unset && !value.is_string())) return;
    throw Error(ErrorKind::kData, origin + ": " + std::string(pointer) + " is " +
                                      given.dump().substr(0, 80) + ", GPT-2's is " + value.dump() +
                                      "; other byte-pair encodings are not read");
  };
  expect("/normalizer", nullptr);
  expect("/pre_tokenizer/type", "ByteLevel");
  expect("/pre_tokenizer/add_prefix_space", false);
  expect("/pre_tokenizer/use_regex", true);
  expect("/model/dropout", nullptr);
  expect("/model/continuing_subword_prefix", nullptr);
  expect("/model/end_of_word_suffix", nullptr);
  expect("/model/byte_fallback", false);
  expect("/model/ignore_merges", false);
}

std::unique_ptr<Tokenizer> open_tokenizer_json(const fs::path& file) {
  const nlohmann::json root = read_tokenizer_json(file);
  const std::string origin = file.string();
  const nlohmann::json merge_list = value_at(root, "/model/merges");
  if (value_at(root, "/model/type") != "BPE" || !merge_list.is_array())
    throw Error(ErrorKind::kData, origin + ": no model of type BPE with vocab and merges");
  expect_like_gpt2(root, origin);
  std::vector<std::string> merges;
  for (const auto& merge : merge_list) {  // "a b", or ["a", "b"] in files of 2024 and later
    const bool is_pair =
        merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string();
    if (!is_pair && !merge.is_string())
      throw Error(ErrorKind::kData, origin + ": merge " + std::to_string(merges.size() + 1) +
                                        " is neither \"a b\" nor [\"a\", \"b\"]");
    merges.push_back(is_pair ? merge[0].get<std::string>() + ' ' + merge[1].get<std::string>()
                             : merge.get<std::string>());
  }
  return std::make_unique<BytePairs>(read_token_table(value_at(root, "/model/vocab"), origin),
                                     merges, origin);
}

/// A vocab.json with merges.txt beside it, a tokenizer.json, or a folder with either.
std::unique_ptr<Tokenizer> open_bpe(const fs::path& given) {
  std::error_code ignored;
  fs::path file = given;
  if (fs::is_directory(given, ignored))
    file = given / (fs::exists(given / "vocab.json", ignored) ? "vocab.json" : "tokenizer.json");
  if (file.filename() == "tokenizer.json") return open_tokenizer_json(file);
  if (const fs::path config = file.parent_path() / "tokenizer_config.json";
      fs::exists(config, ignored) &&
      value_at(read_tokenizer_json(config), "/add_prefix_space") == true)
    throw Error(ErrorKind::kData, config.string() +
                                      ": /add_prefix_space is true, GPT-2's is false; other "
                                      "byte-pair encodings are not read");
  return std::make_unique<BytePairs>(read_token_table(read_tokenizer_json(file), file.string()),
                                     read_merges(file.parent_path() / "merges.txt"), file.string());
}

const TokenizerRegistrar kBpe{{"bpe",
                               "GPT-2's byte-level BPE; --vocab names its vocab.json (merges.txt "
                               "beside it), a tokenizer.json or their folder",
                               open_bpe}};

}  // namespace
}  // namespace tersor::datasets

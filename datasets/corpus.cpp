// SPDX-License-Identifier: Apache-2.0
#include "datasets/corpus.hpp"

#include <algorithm>
#include <limits>

#include "common/error.hpp"
#include "common/mapped_file.hpp"
#include "datasets/text/content_hash.hpp"
#include "datasets/text/text_file.hpp"

namespace tersor::datasets {
namespace {

constexpr std::size_t kLongestLine = std::size_t{16} << 20;
constexpr std::string_view kBlanks = " \t\r\n\f\v";

bool is_blank(std::string_view line) {
  return line.find_first_not_of(kBlanks) == std::string_view::npos;
}

const FileFact& file_of(const DatasetInfo& info, SplitName split) {
  const auto fact = std::find_if(info.files.begin(), info.files.end(),
                                 [&](const FileFact& file) { return file.split == split; });
  TERSOR_CHECK(fact != info.files.end(), info.name + " has no file for this split");
  return *fact;
}

/// Gives the lines with their numbers to `use` and adds them to the hash.
void for_each_line(const DatasetInfo& info, const std::filesystem::path& root, SplitName split,
                   TokenStream& stream, const LineUse& use) {
  const std::int64_t most = all_lines(info, split);
  ContentHash hash;
  std::uint64_t number = 0;
  info.lines(info, root, split, [&](std::string_view line) {
    hash.add_number(number);
    hash.add_text(line);
    return use(line) && static_cast<std::int64_t>(++number) != most;
  });
  stream.content_hash = hash.digest();
}

void read_token_ids(const DatasetInfo& info, const std::filesystem::path& root, SplitName split,
                    std::int64_t max_tokens, TokenStream& stream) {
  info.tokens(info, root, split, [&](std::span<const std::int32_t> ids) {
    stream.ids.insert(stream.ids.end(), ids.begin(), ids.end());
    return max_tokens == 0 || static_cast<std::int64_t>(stream.ids.size()) < max_tokens;
  });
  if (max_tokens > 0 && static_cast<std::int64_t>(stream.ids.size()) > max_tokens)
    stream.ids.resize(static_cast<std::size_t>(max_tokens));
  ContentHash hash;
  for (const std::int32_t id : stream.ids) {
    hash.add_number(static_cast<std::uint32_t>(id));
    stream.vocabulary = std::max(stream.vocabulary, id + 1);
  }
  stream.content_hash = hash.digest();
}

void expect_limit(const DatasetInfo& info, std::int64_t max_tokens) {
  if (info.content == Content::kRows)
    throw Error(ErrorKind::kUsage,
                info.name + " has rows with labels and no running text for a language model");
  if (max_tokens < 0)
    throw Error(ErrorKind::kUsage, info.name + ": " + std::to_string(max_tokens) +
                                       " tokens asked for; give 0 (all) or a positive number");
}

void expect_tokens(const DatasetInfo& info, SplitName split, const TokenStream& stream) {
  if (stream.ids.empty())
    throw Error(ErrorKind::kData,
                info.name + ": the " + std::string(to_string(split)) + " split has no tokens");
}

}  // namespace

decltype(DatasetInfo::lines) file_lines() {
  return [](const DatasetInfo& info, const std::filesystem::path& root, SplitName split,
            const LineUse& use) {
    const FileFact& fact = file_of(info, split);
    const std::filesystem::path path = root / fact.path;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
      throw Error(ErrorKind::kMissing, info.name + ": " + path.string() + " is not there; " +
                                           available(info, root).remedy);
    const MappedFile file(path);
    std::string_view rest(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    std::int64_t number = 0;
    const auto fail = [&](const std::string& what) {
      throw Error(ErrorKind::kData,
                  info.name + ": " + path.string() + ":" + std::to_string(number) + ": " + what);
    };
    while (!rest.empty()) {
      ++number;
      const std::size_t end = rest.substr(0, kLongestLine).find('\n');
      const bool is_last = end == std::string_view::npos && rest.size() <= kLongestLine;
      if (end == std::string_view::npos && !is_last)
        fail("a line of more than 16 MiB; running text has lines");
      const std::string_view line = rest.substr(0, is_last ? rest.size() : end + 1);
      if (const std::size_t bad = first_invalid_utf8(line); bad != std::string_view::npos)
        fail("byte " + std::to_string(bad + 1) + " of the line is not valid UTF-8");
      if (is_last && number < fact.rows)
        fail("the last line has no newline and the published file has " +
             std::to_string(fact.rows) + " lines: cut short? (end an excerpt with a newline)");
      if (!use(line)) return;
      rest.remove_prefix(line.size());
    }
  };
}

std::int64_t all_lines(const DatasetInfo& info, SplitName split) {
  return split == SplitName::kTrain ? info.all_lines : info.all_lines / 16;
}

std::int64_t count_lines(const DatasetInfo& info, const std::filesystem::path& data_root,
                         SplitName split) {
  const std::int64_t most = all_lines(info, split);
  std::int64_t count = 0;
  info.lines(info, data_root, split, [&](std::string_view) { return ++count != most; });
  return count;
}

TokenStream read_stream(const DatasetInfo& info, const std::filesystem::path& data_root,
                        SplitName split, const Tokenizer* tokenizer, std::int64_t max_tokens) {
  expect_limit(info, max_tokens);
  TokenStream stream;
  if (info.content == Content::kTokens) {
    read_token_ids(info, data_root, split, max_tokens, stream);
    expect_tokens(info, split, stream);
    return stream;
  }
  TERSOR_CHECK(tokenizer != nullptr, info.name + " is text and needs a tokenizer");
  stream.vocabulary = tokenizer->vocabulary_size();
  const auto most = max_tokens == 0 ? std::numeric_limits<std::size_t>::max()
                                    : static_cast<std::size_t>(max_tokens);
  // A generated corpus goes on until there are as many tokens as asked for.
  DatasetInfo endless = info;
  if (max_tokens > 0) endless.all_lines = 0;
  for_each_line(endless, data_root, split, stream, [&](std::string_view line) {
    const bool is_left_out = is_blank(line) && line != "\n" && line != "\r\n";
    if (is_left_out) return true;
    const std::vector<std::int32_t> ids = tokenizer->encode(line);
    const std::size_t count = std::min(ids.size(), most - stream.ids.size());
    stream.ids.insert(stream.ids.end(), ids.begin(),
                      ids.begin() + static_cast<std::ptrdiff_t>(count));
    return stream.ids.size() < most;
  });
  expect_tokens(info, split, stream);
  return stream;
}

TokenStream read_sentences(const DatasetInfo& info, const std::filesystem::path& data_root,
                           SplitName split, const Tokenizer& tokenizer, std::int64_t max_tokens) {
  expect_limit(info, max_tokens);
  if (info.content == Content::kTokens)
    throw Error(ErrorKind::kUsage,
                info.name + " holds token ids, which do not tell where sentences end; give text");
  TokenStream stream;
  stream.vocabulary = tokenizer.vocabulary_size();
  DatasetInfo endless = info;
  if (max_tokens > 0) endless.all_lines = 0;
  bool is_new_document = true;
  for_each_line(endless, data_root, split, stream, [&](std::string_view line) {
    if (is_blank(line)) is_new_document = true;
    for (const std::string_view sentence : sentences_of(line)) {
      const auto begin = static_cast<std::int64_t>(stream.ids.size());
      if (max_tokens > 0 && begin >= max_tokens) return false;
      const std::vector<std::int32_t> ids = tokenizer.encode(sentence);
      if (ids.empty()) continue;
      if (is_new_document)
        stream.documents.push_back(static_cast<std::int64_t>(stream.sentences.size()));
      is_new_document = false;
      stream.sentences.push_back(begin);
      stream.ids.insert(stream.ids.end(), ids.begin(), ids.end());
    }
    return true;
  });
  expect_tokens(info, split, stream);
  return stream;
}

std::vector<std::string_view> sentences_of(std::string_view line) {
  const auto is_end = [&](std::size_t i, bool stands_alone) {
    const bool is_mark = line[i] == '.' || line[i] == '!' || line[i] == '?';
    return is_mark && i + 1 < line.size() && kBlanks.find(line[i + 1]) != std::string_view::npos &&
           (!stands_alone || (i > 0 && line[i - 1] == ' '));
  };
  bool stands_alone = false;
  for (std::size_t i = 0; i < line.size(); ++i) stands_alone = stands_alone || is_end(i, true);
  std::vector<std::string_view> sentences;
  const auto add = [&](std::string_view text) {
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return;
    sentences.push_back(text.substr(first, text.find_last_not_of(kBlanks) + 1 - first));
  };
  std::size_t begin = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!is_end(i, stands_alone)) continue;
    add(line.substr(begin, i + 1 - begin));
    begin = i + 1;
  }
  add(line.substr(begin));
  return sentences;
}

}  // namespace tersor::datasets

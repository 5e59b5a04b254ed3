// SPDX-License-Identifier: Apache-2.0
#include "datasets/dataset.hpp"

#include <bit>
#include <cstdlib>
#include <memory>

#include "common/error.hpp"
#include "datasets/corpus.hpp"
#include "datasets/corpus_file.hpp"
#include "datasets/text/content_hash.hpp"

namespace tersor::datasets {
namespace {

std::uint64_t hash_of(const std::vector<Example>& examples) {
  ContentHash hash;
  for (const Example& example : examples) {
    hash.add_number(static_cast<std::uint64_t>(example.row));
    hash.add_number(std::bit_cast<std::uint32_t>(example.label));
    hash.add_text(example.text_a);
    hash.add_text(example.text_b);
  }
  return hash.digest();
}

std::vector<Example> read_lines(const DatasetInfo& info, const std::filesystem::path& data_root,
                                SplitName split, std::int64_t max_rows) {
  if (!info.lines)
    throw Error(ErrorKind::kUsage, info.name + " holds token ids and has no rows of text");
  std::vector<Example> examples;
  const std::int64_t most = max_rows == 0 ? all_lines(info, split) : max_rows;
  info.lines(info, data_root, split, [&](std::string_view line) {
    while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
    const auto row = static_cast<std::int64_t>(examples.size());
    examples.push_back({.text_a = std::string(line), .text_b = "", .label = 0, .row = row});
    return row + 1 != most;
  });
  return examples;
}

}  // namespace

std::string_view to_string(SplitName split) {
  if (split == SplitName::kTest) return "test";
  return split == SplitName::kTrain ? "train" : "dev";
}

std::string DatasetInfo::mistake() const {
  const bool has_reader = content == Content::kRows   ? read != nullptr
                          : content == Content::kText ? lines != nullptr
                                                      : tokens != nullptr;
  if (!has_reader) return "has no reader";
  return metrics.empty() ? "has no metric" : "";
}

std::vector<const DatasetInfo*> all_datasets() {
  std::vector<const DatasetInfo*> result;
  for (const auto& [name, info] : Registry<DatasetInfo>::instance().entries())
    result.push_back(&info);
  return result;
}

const DatasetInfo& find_dataset(std::string_view name) {
  if (is_corpus_file(name)) return corpus_file(name);
  return Registry<DatasetInfo>::instance().find(name);
}

Split load(const DatasetInfo& info, const std::filesystem::path& data_root, SplitName split,
           std::int64_t max_rows) {
  if (max_rows < 0)
    throw Error(ErrorKind::kUsage, info.name + ": " + std::to_string(max_rows) +
                                       " rows asked for; give 0 (all) or a positive number");
  Split result;
  result.examples = info.read ? info.read(info, data_root, split, max_rows)
                              : read_lines(info, data_root, split, max_rows);
  if (result.examples.empty())
    throw Error(ErrorKind::kData,
                info.name + ": the " + std::string(to_string(split)) + " split has no rows");
  result.content_hash = hash_of(result.examples);
  return result;
}

Availability available(const DatasetInfo& info, const std::filesystem::path& data_root) {
  Availability result;
  for (const FileFact& file : info.files) {
    std::error_code ignored;
    const bool is_found = !data_root.empty() || std::filesystem::path(file.path).is_absolute();
    if (!is_found || !std::filesystem::is_regular_file(data_root / file.path, ignored))
      result.missing.push_back((data_root / file.path).string());
  }
  result.available = result.missing.empty();
  if (result.available) return result;
  if (is_corpus_file(info.name)) {
    result.remedy = "give an absolute path, or one below the data folder (--data FOLDER)";
    return result;
  }
  if (!info.fetched_as.empty())
    result.remedy =
        "scripts/fetch " + info.fetched_as + " gets it, for --data ~/.cache/tersor/data; or ";
  result.remedy += "get " + info.url + ", put the files at FOLDER/" + info.files.front().path +
                   " and so on, and give --data FOLDER or set TERSOR_DATA";
  return result;
}

std::unique_ptr<Tokenizer> make_tokenizer(const DatasetInfo& info,
                                          const std::filesystem::path& vocab_file,
                                          const Split& train) {
  if (!vocab_file.empty()) return open_tokenizer(vocab_file);
  if (!info.vocabulary.empty()) return make_wordpiece(info.vocabulary, info.name + "'s vocabulary");
  std::vector<std::string_view> texts;
  for (const Example& example : train.examples) {
    texts.emplace_back(example.text_a);
    texts.emplace_back(example.text_b);
  }
  return make_wordpiece(build_vocabulary(texts), "vocabulary built from " + info.name);
}

std::filesystem::path find_data_root(const std::string& given) {
  if (!given.empty()) return given;
  const char* variable = std::getenv("TERSOR_DATA");
  return variable != nullptr ? variable : "";
}

}  // namespace tersor::datasets

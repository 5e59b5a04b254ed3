// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "common/error.hpp"
#include "common/files.hpp"
#include "common/hash.hpp"
#include "common/standard_output.hpp"
#include "datasets/corpus.hpp"
#include "datasets/dataset.hpp"
#include "datasets/tokenizers/tokenizer.hpp"
#include "harness/cli/command.hpp"

namespace tersor::harness {
namespace {

using datasets::DatasetInfo;
using datasets::FileFact;
using datasets::SplitName;

/// What there is of one split: rows that load, and how the file compares with the published one.
struct SplitState {
  std::string name;
  std::int64_t rows = -1;  // -1: cannot be read
  std::string state;       // embedded, known copy, other copy, unchecked (no hash is known),
                           // missing, malformed
  std::string problem;
};

SplitState inspect(const DatasetInfo& info, const std::filesystem::path& root, SplitName split) {
  SplitState result{std::string(to_string(split)), -1, "embedded", ""};
  const FileFact* fact = nullptr;
  for (const FileFact& file : info.files)
    if (file.split == split) fact = &file;
  try {
    if (fact != nullptr && root.empty()) throw Error(ErrorKind::kMissing, fact->path);
    result.rows = info.content == datasets::Content::kText
                      ? count_lines(info, root, split)
                      : static_cast<std::int64_t>(load(info, root, split).examples.size());
    if (fact == nullptr) return result;
    if (fact->sha256.empty())
      result.state = "unchecked";
    else
      result.state =
          sha256_hex(read_file(root / fact->path)) == fact->sha256 ? "known copy" : "other copy";
    if (result.state == "other copy")
      result.problem = info.name + ": " + (root / fact->path).string() +
                       " is not the copy whose SHA-256 is known (its rows are used as they are)";
  } catch (const Error& error) {
    result.state = error.kind() == ErrorKind::kMissing ? "missing" : "malformed";
    result.problem = result.state == "missing" && fact != nullptr
                         ? info.name + ": " + (root / fact->path).string() + " is missing"
                         : error.what();
  }
  return result;
}

const char* task_of(const DatasetInfo& info) {
  if (info.content != datasets::Content::kRows) return "language model";
  return info.classes == 0 ? "regression" : "classification";
}

nlohmann::ordered_json describe(const DatasetInfo& info, const std::filesystem::path& root) {
  nlohmann::ordered_json entry = {{"name", info.name},
                                  {"title", info.title},
                                  {"task", task_of(info)},
                                  {"classes", info.classes},
                                  {"pairs", info.pairs},
                                  {"metrics", info.metrics},
                                  {"best_accuracy", nullptr},
                                  {"best_perplexity", nullptr},
                                  {"source", info.source},
                                  {"url", info.url},
                                  {"licence", info.licence},
                                  {"subset_rule", info.subset_rule},
                                  {"splits", nlohmann::ordered_json::object()}};
  if (info.best_accuracy) entry["best_accuracy"] = *info.best_accuracy;
  if (info.best_perplexity) entry["best_perplexity"] = *info.best_perplexity;
  bool is_usable = true;
  for (const SplitName split : {SplitName::kTrain, SplitName::kDev}) {
    const SplitState state = inspect(info, root, split);
    is_usable = is_usable && state.rows >= 0;
    nlohmann::ordered_json item = {{"rows", nullptr}, {"published_rows", nullptr}};
    if (state.rows >= 0) item["rows"] = state.rows;
    for (const FileFact& file : info.files)
      if (file.split == split) {
        item["published_rows"] = file.rows;
        item["path"] = file.path;
      }
    item["state"] = state.state;
    item["problem"] = state.problem;
    entry["splits"][state.name] = item;
  }
  entry["available"] = is_usable;
  entry["remedy"] = available(info, root).remedy;
  return entry;
}

std::string size_text(const nlohmann::ordered_json& split) {
  if (!split["rows"].is_null()) return std::to_string(split["rows"].get<std::int64_t>());
  return split["state"] == "missing" ? "missing" : "broken";
}

void print_table(const nlohmann::ordered_json& entries) {
  print_text("%-15s %8s %8s  %-20s %s\n", "name", "train", "dev", "metrics", "what");
  for (const auto& entry : entries) {
    std::string metrics;
    for (const auto& metric : entry["metrics"])
      metrics += (metrics.empty() ? "" : ", ") + metric.get<std::string>();
    std::string what = entry["title"].get<std::string>();
    if (!entry["best_accuracy"].is_null())
      what += " (best accuracy " + entry["best_accuracy"].dump() + ")";
    if (!entry["best_perplexity"].is_null())
      what += " (best perplexity " + entry["best_perplexity"].dump() + ")";
    print_text("%-15s %8s %8s  %-20s %s\n", entry["name"].get<std::string>().c_str(),
               size_text(entry["splits"]["train"]).c_str(),
               size_text(entry["splits"]["dev"]).c_str(), metrics.c_str(), what.c_str());
  }
  for (const auto& entry : entries) {
    const auto name = entry["name"].get<std::string>();
    for (const auto& split : entry["splits"])
      if (const auto problem = split["problem"].get<std::string>(); !problem.empty())
        print_text("%s\n", problem.c_str());
    if (const auto remedy = entry["remedy"].get<std::string>(); !remedy.empty())
      print_text("%s: %s\n", name.c_str(), remedy.c_str());
  }
}

struct ListCommand {
  std::string data;
  bool is_json = false;

  void run() const {
    const std::filesystem::path root = datasets::find_data_root(data);
    std::error_code ignored;
    if (!root.empty() && !std::filesystem::is_directory(root, ignored))
      throw Error(ErrorKind::kMissing, "data folder " + root.string() +
                                           " is not there; give --data FOLDER (the one that holds "
                                           "glue/) or set TERSOR_DATA");
    nlohmann::ordered_json entries = nlohmann::ordered_json::array();
    for (const DatasetInfo* info : datasets::all_datasets())
      entries.push_back(describe(*info, root));
    if (is_json)
      print_json(entries);
    else
      print_table(entries);
  }
};

constexpr std::size_t kLongestLine = std::size_t{1} << 20;

/// The next line; false at the end. Throws Error(kData) where it is longer than a text of a data
/// set may be, so that what has no lines does not fill the memory.
bool read_line(std::istream& in, std::string& line) {
  line.clear();
  for (int c = in.get(); c != std::istream::traits_type::eof(); c = in.get()) {
    if (c == '\n') return true;
    if (line.size() == kLongestLine)
      throw Error(ErrorKind::kData, "a line of standard input has more than " +
                                        std::to_string(kLongestLine) + " bytes");
    line += static_cast<char>(c);
  }
  return !line.empty();
}

struct TokensCommand {
  std::string tokenizer = "wordpiece";
  std::string vocab;

  void run() const {
    const auto chosen = datasets::make_named_tokenizer(tokenizer, vocab);
    std::string text;
    while (read_line(std::cin, text)) {
      if (text.ends_with('\r')) text.pop_back();
      print_json(nlohmann::json(chosen->encode(text)), -1);
    }
  }
};

void add_list(CLI::App& data) {
  auto command = std::make_shared<ListCommand>();
  CLI::App* list =
      data.add_subcommand("list", "Data sets, their rows and metrics, and what is missing");
  list->add_option("--data", command->data, "folder that holds glue/ (default: TERSOR_DATA)");
  list->add_flag("--json", command->is_json, "all facts, as JSON");
  list->footer(
      "Examples:\n"
      "  tersor data list\n"
      "  tersor data list --data ~/.cache/tersor/data --json");
  list->callback([command] { command->run(); });
}

void add_tokens(CLI::App& data) {
  auto command = std::make_shared<TokensCommand>();
  CLI::App* tokens = data.add_subcommand(
      "tokens", "Lines of standard input to JSON arrays of token ids, without special tokens");
  tokens->add_option("--tokenizer", command->tokenizer, "kind of tokenizer")->capture_default_str();
  tokens->add_option("--vocab", command->vocab, "its vocabulary, e.g. vocab.txt")->required();
  tokens->footer(
      "Examples:\n"
      "  echo \"Don't stop\" | tersor data tokens --vocab "
      "~/.cache/tersor/models/minilm-l6/vocab.txt\n"
      "  tersor data tokens --tokenizer wordpiece --vocab vocab.txt < lines.txt > ids.jsonl");
  tokens->callback([command] { command->run(); });
}

const CommandRegistrar kData(60, "data", [](CLI::App& app) {
  CLI::App* data = app.add_subcommand("data", "Look at data sets and tokenizers");
  data->require_subcommand(1);
  add_list(*data);
  add_tokens(*data);
  data->footer(
      "Examples:\n"
      "  tersor data list --data ~/data\n"
      "  echo \"Don't stop\" | tersor data tokens --tokenizer wordpiece --vocab vocab.txt");
});

}  // namespace
}  // namespace tersor::harness

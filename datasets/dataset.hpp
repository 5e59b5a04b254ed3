// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/registry.hpp"
#include "datasets/tokenizers/tokenizer.hpp"

namespace tersor::datasets {

enum class SplitName : std::uint8_t { kTrain, kDev, kTest };
/// "train", "dev", "test". A corpus' validation file is its dev split; cells use train and dev.
std::string_view to_string(SplitName split);

/// One sentence or sentence pair. Texts are UTF-8 as the source has them, without case folding.
struct Example {
  std::string text_a;
  std::string text_b;    ///< empty where the set has single sentences (DatasetInfo::pairs)
  float label = 0;       ///< class index, or the score of a regression
  std::int64_t row = 0;  ///< row of the source from 0, header not counted: the sample's identity
};

/// What load() read, in source order.
struct Split {
  std::vector<Example> examples;
  /// XXH64 over every row: row (i64), label (f32), then length (u64) and bytes of both texts, all
  /// little-endian.
  std::uint64_t content_hash = 0;
};

/// A file that a set needs, relative to the data root.
struct FileFact {
  SplitName split = SplitName::kTrain;
  std::string path;       ///< e.g. "glue/SST-2/train.tsv"
  std::int64_t rows = 0;  ///< rows of the published file, header not counted
  /// Of the published file, hex; copies that differ are read, but said to differ. Empty: none is
  /// known.
  std::string sha256;
};

/// What the samples of a set are made of.
enum class Content : std::uint8_t {
  kRows,    ///< one or two texts and a label each: classification, regression
  kText,    ///< running text, line by line: language models
  kTokens,  ///< running text as token ids, of a vocabulary that the file does not name
};

/// Takes a line with its newline, or a run of token ids; false: no more is wanted.
using LineUse = std::function<bool(std::string_view line)>;
using TokenUse = std::function<bool(std::span<const std::int32_t> ids)>;

/// The manifest of a data set. One object per folder of datasets/.
struct DatasetInfo {
  static constexpr std::string_view kKind = "data set";
  std::string name;    ///< e.g. "sst2"; the folder's name
  std::string title;   ///< what it is, one line
  std::string source;  ///< paper or origin
  std::string url;     ///< where a user gets the files; empty: embedded, nothing to get
  std::string licence;
  std::string subset_rule;              ///< which rows are used, stored beside results
  bool pairs = false;                   ///< sentence pairs
  int classes = 0;                      ///< number of classes; 0: regression of one score
  std::vector<std::string> metrics;     ///< names in metrics/metric.hpp, the primary one first
  std::optional<double> best_accuracy;  ///< what no model can pass in expectation, where known
  /// exp of the entropy per token: the same for language models. Where known.
  std::optional<double> best_perplexity{};
  std::vector<FileFact> files;  ///< empty: embedded
  std::string fetched_as{};     ///< what scripts/fetch calls it; empty: it gets no such set
  /// Own vocabulary, one token a line of a vocab.txt, [PAD] [UNK] [CLS] [SEP] [MASK] first; empty:
  /// the set has none and needs a vocab.txt or build_vocabulary() (tokenizers/tokenizer.hpp).
  std::vector<std::string> vocabulary;
  /// Reads at most `max_rows` rows (0: all). Called by load(); a corpus has none.
  std::function<std::vector<Example>(const DatasetInfo&, const std::filesystem::path& data_root,
                                     SplitName, std::int64_t max_rows)>
      read{};
  Content content = Content::kRows;
  /// kText: gives the lines of a split in order until `use` has enough. Throws as load() does.
  std::function<void(const DatasetInfo&, const std::filesystem::path& data_root, SplitName,
                     const LineUse& use)>
      lines{};
  /// Of a generated corpus, whose lines never end: how many of train are all; a sixteenth of dev
  /// and test. 0: they end by themselves.
  std::int64_t all_lines = 0;
  /// kTokens: gives the ids of a split in order until `use` has enough. Throws as load() does.
  std::function<void(const DatasetInfo&, const std::filesystem::path& data_root, SplitName,
                     const TokenUse& use)>
      tokens{};

  bool embedded() const { return files.empty(); }
  /// Why the manifest cannot be used; empty: it can.
  std::string mistake() const;
};

/// Registers one set; put one object of this type at the end of datasets/NAME/NAME.cpp.
using DatasetRegistrar = Registrar<DatasetInfo>;

/// All sets, by name.
std::vector<const DatasetInfo*> all_datasets();
/// A registered set, or the corpus in a file: a name with a '/' or one that ends in .txt, .tokens,
/// .npy or .bin is its path, below the data root unless absolute (corpus_file.hpp). Throws
/// Error(kUsage) with the nearest name and the known ones.
const DatasetInfo& find_dataset(std::string_view name);

/// The first `max_rows` rows (0: all) of a split; of a corpus, its lines without their ends as rows
/// of one text and label 0 (Error(kUsage) where it holds token ids). `data_root` holds "glue/"; an
/// embedded set ignores it. Throws Error(kMissing) where a file is not there (with its path and
/// where to get it) and Error(kData) with file, line, column and what was expected.
Split load(const DatasetInfo& info, const std::filesystem::path& data_root, SplitName split,
           std::int64_t max_rows = 0);

/// Whether a set can be loaded, and if not, what is missing and where to get it.
struct Availability {
  bool available = false;
  std::vector<std::string> missing;  ///< full paths of absent files
  std::string remedy;                ///< empty where available
};
Availability available(const DatasetInfo& info, const std::filesystem::path& data_root);

/// The tokenizer of a job: `vocab_file` if not empty, else the set's own vocabulary, else one built
/// from `train`.
std::unique_ptr<Tokenizer> make_tokenizer(const DatasetInfo& info,
                                          const std::filesystem::path& vocab_file,
                                          const Split& train);

/// `given` if not empty, else the environment's TERSOR_DATA, else empty (embedded data only).
std::filesystem::path find_data_root(const std::string& given);

}  // namespace tersor::datasets

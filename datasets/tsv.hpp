// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"

namespace tersor::datasets {

/// Where a set's fields are in GLUE's own TSV: fields separated by tabs, no quoting (a field may
/// begin with a bare quote), UTF-8, an optional byte-order mark, LF or CRLF, last newline optional.
struct TsvLayout {
  std::vector<std::string> columns;  ///< names in file order, as published
  bool header = true;                ///< the first line names the columns, which may then be moved
  std::string text_a;                ///< column names
  std::string text_b;                ///< empty: single sentences
  std::string label;
  double lowest_label = 0;  ///< classes: 0 and classes - 1, whole numbers only
  double highest_label = 1;
  std::vector<std::string> labels{};  ///< names of the classes; empty: the labels are numbers
  bool skips_short_rows = false;      ///< rows with too few columns are left out, not refused
};

/// Reads a split's first `max_rows` rows (0: all). Throws Error(kMissing) and Error(kData) as
/// load() says. A last row without a newline counts, unless the file then has fewer rows than the
/// published one: such a file was cut short.
std::vector<Example> read_tsv(const DatasetInfo& info, const std::filesystem::path& data_root,
                              SplitName split, std::int64_t max_rows, const TsvLayout& layout);

/// DatasetInfo::read for a layout.
decltype(DatasetInfo::read) tsv_reader(TsvLayout layout);

}  // namespace tersor::datasets

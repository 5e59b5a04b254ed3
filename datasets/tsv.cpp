// SPDX-License-Identifier: Apache-2.0
#include "datasets/tsv.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "common/error.hpp"
#include "common/number.hpp"
#include "datasets/text/text_file.hpp"

namespace tersor::datasets {
namespace {

std::vector<std::string_view> split_fields(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t begin = 0;;) {
    const std::size_t tab = line.find('\t', begin);
    fields.push_back(line.substr(begin, tab - begin));
    if (tab == std::string_view::npos) return fields;
    begin = tab + 1;
  }
}

std::string shown(const std::vector<std::string>& columns) {
  std::string text;
  for (const std::string& column : columns) text += (text.empty() ? "" : "<TAB>") + column;
  return text;
}

/// Reads one file row by row; keeps the position for messages.
class Reader {
 public:
  Reader(const DatasetInfo& info, const TsvLayout& layout, std::filesystem::path file,
         const std::string& remedy)
      : info_(info),
        layout_(layout),
        file_(std::move(file)),
        lines_(file_, info.name + ": ", remedy) {
    if (layout_.header) {
      if (!lines_.next(line_)) fail(1, 0, "the file is empty");
      const std::vector<std::string_view> names = split_fields(line_);
      columns_.assign(names.begin(), names.end());
    } else {
      columns_.assign(layout_.columns.begin(), layout_.columns.end());
    }
    text_a_ = find_column(layout_.text_a);
    text_b_ = layout_.text_b.empty() ? text_a_ : find_column(layout_.text_b);
    label_ = find_column(layout_.label);
  }

  /// False at the end of the file.
  bool next(Example& example) {
    if (!lines_.next(line_)) return false;
    std::vector<std::string_view> fields = split_fields(line_);
    for (; layout_.skips_short_rows && fields.size() < columns_.size(); ++row_) {
      if (!lines_.next(line_)) return false;
      fields = split_fields(line_);
    }
    if (fields.size() != columns_.size())
      fail(lines_.number(), std::min(fields.size(), columns_.size()) + 1,
           std::to_string(fields.size()) + " columns where there must be " +
               std::to_string(columns_.size()) +
               (lines_.terminated() ? "" : " (the file ends in this line: cut short?)"));
    example.row = row_++;
    example.text_a = text(fields, text_a_);
    if (!layout_.text_b.empty()) example.text_b = text(fields, text_b_);
    example.label = label(fields[label_]);
    return true;
  }

  void check_not_cut(std::int64_t published_rows) {
    if (lines_.terminated() || row_ >= published_rows) return;
    fail(lines_.number(), 0,
         "the last line has no newline and the published file has " +
             std::to_string(published_rows) + " rows where this one has " + std::to_string(row_) +
             ": cut short? (end an excerpt of your own with a newline)");
  }

 private:
  [[noreturn]] void fail(std::int64_t line, std::size_t column, const std::string& what) const {
    std::string position = file_.string() + ":" + std::to_string(line) + ": ";
    if (column > 0) {
      position += "column " + std::to_string(column);
      if (column <= columns_.size()) position += " (" + columns_[column - 1] + ")";
      position += ": ";
    }
    throw Error(ErrorKind::kData,
                info_.name + ": " + position + what + "; expected " + shown(layout_.columns) +
                    ", tab-separated; the published file: " + info_.url,
                static_cast<int>(column));
  }

  std::size_t find_column(const std::string& name) const {
    const auto found = std::find(columns_.begin(), columns_.end(), name);
    if (found == columns_.end())
      fail(1, 0,
           "no column '" + name + "' in the header '" + std::string(line_.substr(0, 200)) + "'");
    return static_cast<std::size_t>(found - columns_.begin());
  }

  std::string text(const std::vector<std::string_view>& fields, std::size_t index) const {
    const std::string_view field = fields[index];
    if (const std::size_t bad = first_invalid_utf8(field); bad != std::string_view::npos)
      fail(lines_.number(), index + 1,
           "byte " + std::to_string(bad + 1) + " of the field is not valid UTF-8");
    return std::string(field);
  }

  float named_label(std::string_view field) const {
    const auto found = std::find(layout_.labels.begin(), layout_.labels.end(), field);
    if (found != layout_.labels.end()) return static_cast<float>(found - layout_.labels.begin());
    std::string names;
    for (const std::string& name : layout_.labels) names += (names.empty() ? "" : ", ") + name;
    fail(lines_.number(), label_ + 1,
         "label '" + std::string(field.substr(0, 80)) + "' is none of " + names);
  }

  float label(std::string_view field) const {
    if (!layout_.labels.empty()) return named_label(field);
    const auto value = parse_real(field);
    if (!value || (info_.classes != 0 && *value != std::floor(*value)) ||
        *value < layout_.lowest_label || *value > layout_.highest_label)
      fail(lines_.number(), label_ + 1,
           "label '" + std::string(field.substr(0, 80)) + "' is not a " +
               (info_.classes == 0 ? "number" : "whole number") + " from " +
               std::to_string(static_cast<int>(layout_.lowest_label)) + " to " +
               std::to_string(static_cast<int>(layout_.highest_label)));
    return static_cast<float>(*value);
  }

  const DatasetInfo& info_;
  const TsvLayout& layout_;
  std::filesystem::path file_;
  FileLines lines_;
  std::string_view line_;
  std::vector<std::string> columns_;
  std::size_t text_a_ = 0;
  std::size_t text_b_ = 0;
  std::size_t label_ = 0;
  std::int64_t row_ = 0;
};

}  // namespace

std::vector<Example> read_tsv(const DatasetInfo& info, const std::filesystem::path& data_root,
                              SplitName split, std::int64_t max_rows, const TsvLayout& layout) {
  const auto fact = std::find_if(info.files.begin(), info.files.end(),
                                 [&](const FileFact& file) { return file.split == split; });
  TERSOR_CHECK(fact != info.files.end(), info.name + " has no file for this split");
  if (const Availability state = available(info, data_root); data_root.empty())
    throw Error(ErrorKind::kMissing, info.name + ": no data folder given; " + state.remedy);
  const std::filesystem::path file = data_root / fact->path;
  Reader reader(info, layout, file,
                "; get " + info.url + " and put the file there (--data FOLDER)");
  std::vector<Example> examples;
  Example example;
  while ((max_rows == 0 || static_cast<std::int64_t>(examples.size()) < max_rows) &&
         reader.next(example))
    examples.push_back(example);
  if (max_rows == 0 || static_cast<std::int64_t>(examples.size()) < max_rows)
    reader.check_not_cut(fact->rows);
  return examples;
}

decltype(DatasetInfo::read) tsv_reader(TsvLayout layout) {
  return [layout = std::move(layout)](const DatasetInfo& info, const std::filesystem::path& root,
                                      SplitName split, std::int64_t max_rows) {
    return read_tsv(info, root, split, max_rows, layout);
  };
}

}  // namespace tersor::datasets

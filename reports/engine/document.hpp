// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "results/query/reader.hpp"

namespace tersor::reports {

/// How a table cell is drawn.
enum class Tone {
  kPlain,
  kReference,  ///< the row that ratios refer to
  kWarning,    ///< costs more than the reference
  kMissing     ///< no value; the text is the reason
};

struct Cell {
  std::string text;
  std::string note;  ///< second line, small: n, best, interval
  Tone tone = Tone::kPlain;
};

struct Column {
  std::string title;
  std::string group;  ///< neighbours of the same group share a heading above; may be empty
  bool is_text = false;
};

struct Row {
  std::vector<Cell> cells;  ///< one per column
  bool is_reference = false;
};

struct Table {
  std::string caption;
  std::vector<Column> columns;  ///< the first names the row
  std::vector<Row> rows;
  std::vector<std::string> notes;  ///< below the table
};

/// A Vega-Lite figure with its data inside. `svg` is filled in where it could be drawn.
struct Figure {
  std::string id;  ///< of its files: ID.vl.json, ID.svg
  std::string title;
  std::string caption;
  nlohmann::ordered_json specification;
  std::optional<std::string> svg;
};

struct Paragraph {
  std::string text;
  bool is_warning = false;
};

using Block = std::variant<Paragraph, Table, Figure>;

struct CsvFile {
  std::string name;  ///< "accuracy.csv"
  results::QueryResult content;
};

struct Section {
  std::string id;  ///< anchor
  std::string title;
  std::vector<Block> blocks;
  std::vector<CsvFile> files;
};

struct Document {
  std::string title;
  std::string subtitle;
  std::vector<Section> sections;
  std::vector<std::string> footer;
};

/// A line of text that a page or a terminal shows and does not obey: printable(), newlines and tabs
/// as spaces.
std::string printable_line(std::string_view text);
/// Makes every text of the document such a line, those inside figures too; files stay as they are.
/// write_report calls it before anything is written: the one place that does.
void make_printable(Document& document);
/// Adds notes below the section's last table; where it has none, they have nothing to explain.
void add_notes(Section& section, std::vector<std::string> notes);

/// Both escape markup in all texts; `...` becomes code.
std::string to_html(const Document& document);
std::string to_markdown(const Document& document);

}  // namespace tersor::reports

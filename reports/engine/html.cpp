// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <kainjow/mustache.hpp>
#include <string>

#include "common/error.hpp"
#include "reports/engine/context.hpp"
#include "reports/engine/document.hpp"

// The page is templates/*.mustache, which escape what they are given unless they say {{{...}}}. A
// name is looked up in the enclosing objects too, so every object here has all of its names.
namespace tersor::reports {
namespace {

using kainjow::mustache::data;
using kainjow::mustache::list;
using kainjow::mustache::object;

/// Without the last newline, so that a partial can be used inside a line.
std::string template_text(const std::string& name) {
  std::string text(embedded_file("engine/templates/" + name + ".mustache"));
  text.pop_back();
  return text;
}

/// Pieces for the template `span`: text between two backticks is code.
list rich(const std::string& text) {
  list spans;
  const auto add = [&](bool is_code, std::size_t begin, std::size_t end) {
    if (end > begin)
      spans.push_back(object{{"is_code", is_code}, {"text", text.substr(begin, end - begin)}});
  };
  std::size_t begin = 0;
  while (true) {
    const std::size_t open = text.find('`', begin);
    const std::size_t close = open == std::string::npos ? open : text.find('`', open + 1);
    if (close == std::string::npos) break;
    add(false, begin, open);
    add(true, open + 1, close);
    begin = close + 1;
  }
  add(false, begin, text.size());
  return spans;
}

list rich_lines(const std::vector<std::string>& lines) {
  list all;
  for (const std::string& line : lines) all.push_back(object{{"text", rich(line)}});
  return all;
}

bool starts_group(const Table& table, std::size_t i) {
  return i > 0 && !table.columns[i].group.empty() &&
         table.columns[i].group != table.columns[i - 1].group;
}

/// Headings that neighbouring columns share; none where no column has one.
list groups_of(const Table& table) {
  list groups;
  bool is_any_named = false;
  for (std::size_t i = 0; i < table.columns.size();) {
    const std::string& title = table.columns[i].group;
    std::size_t stop = i + 1;
    while (stop < table.columns.size() && table.columns[stop].group == title) ++stop;
    groups.push_back(object{
        {"colspan", std::to_string(stop - i)}, {"is_named", !title.empty()}, {"title", title}});
    is_any_named = is_any_named || !title.empty();
    i = stop;
  }
  return is_any_named ? groups : list{};
}

class Classes {
 public:
  void add(const char* name) { text_ += (text_.empty() ? "" : " ") + std::string(name); }
  void write_to(object& out) const {
    out["has_class"] = !text_.empty();
    out["class"] = text_;
  }

 private:
  std::string text_;
};

list columns_of(const Table& table) {
  list columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    Classes classes;
    if (i == 0 || table.columns[i].is_text) classes.add("text");
    if (starts_group(table, i)) classes.add("first-of-group");
    object column{{"title", table.columns[i].title}};
    classes.write_to(column);
    columns.push_back(column);
  }
  return columns;
}

/// Columns that a reason may take: its own and the empty missing ones of its group after it.
std::size_t span_of(const Table& table, const Row& row, std::size_t i) {
  std::size_t stop = i + 1;
  if (row.cells[i].tone != Tone::kMissing || row.cells[i].text.empty()) return 1;
  while (stop < row.cells.size() && row.cells[stop].tone == Tone::kMissing &&
         row.cells[stop].text.empty() && !starts_group(table, stop))
    ++stop;
  return stop - i;
}

object cell_of(const Table& table, const Row& row, std::size_t i, std::size_t span) {
  constexpr std::size_t kLongText = 40;
  const Cell& cell = row.cells[i];
  Classes classes;
  if (table.columns[i].is_text) classes.add(cell.text.size() > kLongText ? "text wide" : "text");
  if (cell.tone == Tone::kWarning) classes.add("warning");
  if (cell.tone == Tone::kMissing) classes.add("missing");
  if (starts_group(table, i)) classes.add("first-of-group");
  object made{{"is_spanning", span > 1},
              {"colspan", std::to_string(span)},
              {"text", rich(cell.text)},
              {"has_note", !cell.note.empty()},
              {"note", rich(cell.note)}};
  classes.write_to(made);
  return made;
}

object row_of(const Table& table, const Row& row) {
  list cells;
  for (std::size_t i = 1; i < row.cells.size();) {
    const std::size_t span = span_of(table, row, i);
    cells.push_back(cell_of(table, row, i, span));
    i += span;
  }
  return {{"is_reference", row.is_reference}, {"name", row.cells.at(0).text}, {"cells", cells}};
}

object data_of(const Table& table) {
  const list groups = groups_of(table);
  list rows;
  for (const Row& row : table.rows) rows.push_back(row_of(table, row));
  return {{"has_caption", !table.caption.empty()}, {"caption", rich(table.caption)},
          {"has_groups", !groups.empty()},         {"groups", groups},
          {"columns", columns_of(table)},          {"rows", rows},
          {"has_notes", !table.notes.empty()},     {"notes", rich_lines(table.notes)}};
}

object data_of(const Figure& figure) {
  return {{"id", figure.id},
          {"title", rich(figure.title)},
          {"is_drawn", figure.svg.has_value()},
          {"svg", figure.svg.value_or("")},
          {"caption", rich(figure.caption)}};
}

object data_of(const Paragraph& paragraph) {
  return {{"is_warning", paragraph.is_warning}, {"text", rich(paragraph.text)}};
}

object data_of(const Block& block) {
  object made{{"paragraph", false}, {"table", false}, {"figure", false}};
  if (const auto* paragraph = std::get_if<Paragraph>(&block))
    made["paragraph"] = data_of(*paragraph);
  if (const auto* table = std::get_if<Table>(&block)) made["table"] = data_of(*table);
  if (const auto* figure = std::get_if<Figure>(&block)) made["figure"] = data_of(*figure);
  return made;
}

object data_of(const Section& section) {
  list blocks;
  list files;
  for (const Block& block : section.blocks) blocks.push_back(data_of(block));
  for (const CsvFile& file : section.files) files.push_back(object{{"name", file.name}});
  return {{"id", section.id}, {"title", section.title}, {"blocks", blocks}, {"files", files}};
}

}  // namespace

std::string to_html(const Document& document) {
  list sections;
  for (const Section& section : document.sections) sections.push_back(data_of(section));
  const object page{{"title", document.title},
                    {"subtitle", rich(document.subtitle)},
                    {"style", std::string(embedded_file("engine/style.css"))},
                    {"sections", sections},
                    {"footer", rich_lines(document.footer)},
                    {"span", template_text("span")},
                    {"table_template", template_text("table")},
                    {"figure_template", template_text("figure")}};
  kainjow::mustache::mustache whole(std::string(embedded_file("engine/templates/page.mustache")));
  std::string html = whole.render(page);
  TERSOR_CHECK(whole.is_valid(), "page.mustache: " + whole.error_message());
  return html;
}

}  // namespace tersor::reports

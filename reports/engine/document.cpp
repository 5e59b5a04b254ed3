// SPDX-License-Identifier: Apache-2.0
#include "reports/engine/document.hpp"

#include <iterator>

#include "common/printable.hpp"

namespace tersor::reports {
namespace {

template <typename... Texts>
void make_lines(Texts&... texts) {
  ((texts = printable_line(texts)), ...);
}

void make_printable(Table& table) {
  make_lines(table.caption);
  for (Column& column : table.columns) make_lines(column.title, column.group);
  for (Row& row : table.rows)
    for (Cell& cell : row.cells) make_lines(cell.text, cell.note);
  for (std::string& note : table.notes) make_lines(note);
}

void make_printable(nlohmann::ordered_json& value) {
  if (value.is_string())
    value = printable_line(value.get_ref<const std::string&>());
  else if (value.is_structured())
    for (nlohmann::ordered_json& part : value) make_printable(part);
}

void make_printable(Figure& figure) {
  make_lines(figure.title, figure.caption);
  make_printable(figure.specification);
}

void make_printable(Paragraph& paragraph) { make_lines(paragraph.text); }

}  // namespace

std::string printable_line(std::string_view text) {
  std::string line = printable(text);
  for (char& c : line)
    if (c == '\n' || c == '\t') c = ' ';
  return line;
}

void make_printable(Document& document) {
  make_lines(document.title, document.subtitle);
  for (Section& section : document.sections) {
    make_lines(section.title);
    for (Block& block : section.blocks)
      std::visit([](auto& content) { make_printable(content); }, block);
  }
  for (std::string& line : document.footer) make_lines(line);
}

void add_notes(Section& section, std::vector<std::string> notes) {
  for (auto block = section.blocks.rbegin(); block != section.blocks.rend(); ++block)
    if (auto* table = std::get_if<Table>(&*block)) {
      table->notes.insert(table->notes.end(), std::make_move_iterator(notes.begin()),
                          std::make_move_iterator(notes.end()));
      return;
    }
}

}  // namespace tersor::reports

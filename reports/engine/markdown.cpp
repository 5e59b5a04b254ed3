// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "reports/engine/document.hpp"

namespace tersor::reports {
namespace {

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '*' || c == '_' || c == '<' || c == '[') safe += '\\';
    safe += c == '\n' ? ' ' : c;
  }
  return safe;
}

/// Text whose `...` stays code.
std::string rich(const std::string& text) {
  std::string out;
  std::size_t begin = 0;
  bool is_code = false;
  while (begin <= text.size()) {
    const std::size_t stop = text.find('`', begin);
    const std::string part = text.substr(begin, stop - begin);
    out += is_code ? part : escaped(part);
    if (stop == std::string::npos) break;
    out += '`';
    is_code = !is_code;
    begin = stop + 1;
  }
  return out;
}

std::string code(const std::string& text) {
  if (text.empty()) return "";
  std::string plain;
  for (const char c : text) {
    if (c == '`') continue;
    if (c == '|') plain += '\\';
    plain += c == '\n' ? ' ' : c;
  }
  return "`" + plain + "`";
}

std::string markdown_of(const Table& table) {
  std::string text;
  if (!table.caption.empty()) text += "**" + rich(table.caption) + "**\n\n";
  text += "|";
  for (const Column& column : table.columns)
    text += " " +
            (column.group.empty() ? escaped(column.title)
                                  : escaped(column.group) + ": " + escaped(column.title)) +
            " |";
  text += "\n|";
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    text += i == 0 || table.columns[i].is_text ? " --- |" : " ---: |";
  text += "\n";
  for (const Row& row : table.rows) {
    text += "|";
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const Cell& cell = row.cells[i];
      std::string shown = i == 0 ? code(cell.text) : rich(cell.text);
      if (cell.tone == Tone::kMissing && !shown.empty()) shown = "*" + shown + "*";
      if (cell.tone == Tone::kWarning) shown = "**" + shown + "**";
      if (!cell.note.empty()) shown += " (" + rich(cell.note) + ")";
      text += " " + shown + " |";
    }
    text += "\n";
  }
  for (const std::string& note : table.notes) text += "\n- " + rich(note);
  return text + (table.notes.empty() ? "\n" : "\n\n");
}

std::string markdown_of(const Figure& figure) {
  const std::string title = "**" + rich(figure.title) + "**\n\n";
  if (figure.svg)
    return title + "![" + escaped(figure.title) + "](" + figure.id + ".svg)\n\n" +
           rich(figure.caption) + "\n\n";
  return title + "Not drawn; `" + figure.id + ".vl.json` holds the figure. " +
         rich(figure.caption) + "\n\n";
}

std::string markdown_of(const Paragraph& paragraph) {
  return (paragraph.is_warning ? "> **Warning:** " : "") + rich(paragraph.text) + "\n\n";
}

}  // namespace

std::string to_markdown(const Document& document) {
  std::string text = "# " + escaped(document.title) + "\n" + rich(document.subtitle) + "\n\n";
  for (const Section& section : document.sections) {
    text += "## " + escaped(section.title) + "\n\n";
    for (const Block& block : section.blocks)
      text += std::visit([](const auto& content) { return markdown_of(content); }, block);
    for (const CsvFile& file : section.files)
      text += "Numbers at full precision: [" + file.name + "](" + file.name + ")\n\n";
  }
  text += "---\n\n";
  for (const std::string& line : document.footer) text += rich(line) + "\n\n";
  text.pop_back();
  return text;
}

}  // namespace tersor::reports

// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>

#include "reports/engine/document.hpp"

namespace tersor::reports {
namespace {

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '*' || c == '_' || c == '<' || c == '[' || c == '`')
      safe += '\\';
    safe += c;
  }
  return safe;
}

/// Inside a table's row a bar ends the cell, in code too.
enum class Inside { kParagraph, kTable };

/// Text whose `...` stays code. Every run of backticks that it writes is a single one, so that no
/// text can begin or end code elsewhere.
std::string rich(std::string_view text, Inside inside = Inside::kParagraph) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = text.find('`');
    const std::size_t close = open == std::string_view::npos ? open : text.find('`', open + 1);
    if (close == std::string_view::npos) break;
    if (open == 0 && out.ends_with('`')) out += ' ';
    out += escaped(text.substr(0, open));
    const std::string_view code = text.substr(open + 1, close - open - 1);
    if (!code.empty()) out += '`';
    for (const char c : code) {
      if (c == '|' && inside == Inside::kTable) out += '\\';
      out += c;
    }
    if (!code.empty()) out += '`';
    text.remove_prefix(close + 1);
  }
  return out + escaped(text);
}

std::string code(const std::string& text) {
  if (text.empty()) return "";
  std::string plain;
  for (const char c : text) {
    if (c == '`') continue;
    if (c == '|') plain += '\\';
    plain += c;
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
      std::string shown = i == 0 ? code(cell.text) : rich(cell.text, Inside::kTable);
      if (cell.tone == Tone::kMissing && !shown.empty()) shown = "*" + shown + "*";
      if (cell.tone == Tone::kWarning) shown = "**" + shown + "**";
      if (!cell.note.empty()) shown += " (" + rich(cell.note, Inside::kTable) + ")";
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

// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "reports/engine/context.hpp"
#include "reports/engine/document.hpp"

namespace tersor::reports {
namespace {

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      case '\'': safe += "&#39;"; break;
      default: safe += c;
    }
  }
  return safe;
}

/// Escaped, with `...` as code.
std::string rich(const std::string& text) {
  const std::string safe = escaped(text);
  std::string html;
  bool is_code = false;
  for (const char c : safe) {
    if (c != '`') {
      html += c;
      continue;
    }
    html += is_code ? "</code>" : "<code>";
    is_code = !is_code;
  }
  return is_code ? html + "</code>" : html;
}

bool starts_group(const Table& table, std::size_t i) {
  return i > 0 && !table.columns[i].group.empty() &&
         table.columns[i].group != table.columns[i - 1].group;
}

std::string head_of(const Table& table) {
  bool has_groups = false;
  for (const Column& column : table.columns) has_groups = has_groups || !column.group.empty();
  std::string html = "<thead>\n";
  if (has_groups) {
    html += "<tr>";
    for (std::size_t i = 0; i < table.columns.size();) {
      std::size_t stop = i + 1;
      while (stop < table.columns.size() && table.columns[stop].group == table.columns[i].group)
        ++stop;
      const std::string& group = table.columns[i].group;
      html += "<th colspan=\"" + std::to_string(stop - i) + "\"" +
              (group.empty() ? "" : " class=\"span\"") + ">" + escaped(group) + "</th>";
      i = stop;
    }
    html += "</tr>\n";
  }
  html += "<tr>";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::string names = i == 0 || table.columns[i].is_text ? "text" : "";
    if (starts_group(table, i)) names += names.empty() ? "first-of-group" : " first-of-group";
    html += "<th scope=\"col\"" + (names.empty() ? std::string() : " class=\"" + names + "\"") +
            ">" + escaped(table.columns[i].title) + "</th>";
  }
  return html + "</tr>\n</thead>\n";
}

/// Columns that a reason may spread over: its own and the empty missing ones of its group after it.
std::size_t span_of(const Table& table, const Row& row, std::size_t i) {
  std::size_t stop = i + 1;
  if (row.cells[i].tone != Tone::kMissing || row.cells[i].text.empty()) return 1;
  while (stop < row.cells.size() && row.cells[stop].tone == Tone::kMissing &&
         row.cells[stop].text.empty() && !starts_group(table, stop))
    ++stop;
  return stop - i;
}

std::string cell_of(const Table& table, std::size_t i, const Cell& cell, std::size_t span) {
  if (i == 0) return "<th scope=\"row\">" + escaped(cell.text) + "</th>";
  constexpr std::size_t kLongText = 40;
  std::string names;
  const auto add = [&](const char* name) {
    names += (names.empty() ? "" : " ") + std::string(name);
  };
  if (table.columns[i].is_text) add(cell.text.size() > kLongText ? "text wide" : "text");
  if (cell.tone == Tone::kWarning) add("warning");
  if (cell.tone == Tone::kMissing) add("missing");
  if (starts_group(table, i)) add("first-of-group");
  std::string html = "<td";
  if (span > 1) html += " colspan=\"" + std::to_string(span) + "\"";
  if (!names.empty()) html += " class=\"" + names + "\"";
  html += ">" + rich(cell.text);
  if (!cell.note.empty()) html += "<small>" + rich(cell.note) + "</small>";
  return html + "</td>";
}

std::string cells_of(const Table& table, const Row& row) {
  std::string html;
  for (std::size_t i = 0; i < row.cells.size();) {
    const std::size_t span = span_of(table, row, i);
    html += cell_of(table, i, row.cells[i], span);
    i += span;
  }
  return html;
}

std::string html_of(const Table& table) {
  std::string html = "<figure class=\"table\">\n";
  if (!table.caption.empty()) html += "<figcaption>" + rich(table.caption) + "</figcaption>\n";
  html += "<table>\n" + head_of(table) + "<tbody>\n";
  for (const Row& row : table.rows) {
    html += row.is_reference ? "<tr class=\"reference\">" : "<tr>";
    html += cells_of(table, row) + "</tr>\n";
  }
  html += "</tbody>\n</table>\n";
  if (!table.notes.empty()) {
    html += "<ul class=\"notes\">\n";
    for (const std::string& note : table.notes) html += "<li>" + rich(note) + "</li>\n";
    html += "</ul>\n";
  }
  return html + "</figure>\n";
}

std::string html_of(const Figure& figure) {
  std::string html = "<figure class=\"chart\" id=\"" + escaped(figure.id) + "\">\n<figcaption>" +
                     rich(figure.title) + "</figcaption>\n";
  if (figure.svg)
    html += *figure.svg + "\n";
  else
    html += "<p>Not drawn here; <code>" + escaped(figure.id) +
            ".vl.json</code> beside this page holds the figure for any Vega-Lite viewer.</p>\n";
  return html + "<p class=\"caption\">" + rich(figure.caption) + "</p>\n</figure>\n";
}

std::string html_of(const Paragraph& paragraph) {
  return std::string("<p") + (paragraph.is_warning ? " class=\"warning\"" : "") + ">" +
         rich(paragraph.text) + "</p>\n";
}

}  // namespace

std::string to_html(const Document& document) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      escaped(document.title) + "</title>\n<style>\n" +
      std::string(embedded_file("engine/style.css")) + "</style>\n</head>\n<body>\n<main>\n<h1>" +
      escaped(document.title) + "</h1>\n<p class=\"subtitle\">" + rich(document.subtitle) +
      "</p>\n<nav aria-label=\"Contents\">\n";
  for (const Section& section : document.sections)
    html += "<a href=\"#" + escaped(section.id) + "\">" + escaped(section.title) + "</a>\n";
  html += "</nav>\n";
  for (const Section& section : document.sections) {
    html +=
        "<section id=\"" + escaped(section.id) + "\">\n<h2>" + escaped(section.title) + "</h2>\n";
    for (const Block& block : section.blocks)
      html += std::visit([](const auto& content) { return html_of(content); }, block);
    for (const CsvFile& file : section.files)
      html += "<p><a href=\"" + escaped(file.name) + "\">" + escaped(file.name) +
              "</a>: the numbers at full precision</p>\n";
    html += "</section>\n";
  }
  html += "<footer>\n";
  for (const std::string& line : document.footer) html += "<p>" + rich(line) + "</p>\n";
  return html + "</footer>\n</main>\n</body>\n</html>\n";
}

}  // namespace tersor::reports

// SPDX-License-Identifier: Apache-2.0
#include "results/query/format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "common/error.hpp"
#include "common/hex.hpp"

namespace tersor::results {
namespace {

/// Code points, which is near enough to columns for what the database holds.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string without_control(std::string text) {
  std::string shown;
  for (const char c : text) {
    if (c == '\n')
      shown += "\\n";
    else if (c == '\t')
      shown += ' ';
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      shown += '?';
    else
      shown += c;
  }
  return shown;
}

std::string for_people(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) return short_number(*real);
  if (const auto* text = std::get_if<std::string>(&value)) return without_control(*text);
  if (const auto* blob = std::get_if<Blob>(&value))
    return std::string("<").append(std::to_string(blob->bytes.size())).append(" bytes>");
  return "";
}

bool is_number(const Value& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

/// Columns of numbers (and NULLs) are right-aligned.
std::vector<bool> numeric_columns(const QueryResult& result) {
  std::vector<bool> numeric(result.columns.size());
  for (std::size_t i = 0; i < numeric.size(); ++i) {
    const bool any = std::any_of(result.rows.begin(), result.rows.end(),
                                 [i](const auto& row) { return is_number(row[i]); });
    numeric[i] = any && std::all_of(result.rows.begin(), result.rows.end(), [i](const auto& row) {
                   return is_number(row[i]) || is_null(row[i]);
                 });
  }
  return numeric;
}

void write_table(std::ostream& out, const QueryResult& result) {
  const std::vector<bool> numeric = numeric_columns(result);
  std::vector<std::vector<std::string>> lines{{}};
  for (const std::string& name : result.columns) lines[0].push_back(without_control(name));
  for (const auto& row : result.rows) {
    lines.emplace_back();
    for (const Value& value : row) lines.back().push_back(for_people(value));
  }
  std::vector<std::size_t> widths(result.columns.size());
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], width_of(line[i]));
  for (std::size_t number = 0; number < lines.size(); ++number) {
    std::string text;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string gap(widths[i] - width_of(lines[number][i]), ' ');
      if (i > 0) text += "  ";
      text += numeric[i] ? gap + lines[number][i] : lines[number][i] + gap;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out << text << '\n';
    if (number > 0) continue;
    std::string rule;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      rule.append(i > 0 ? 2 : 0, ' ');
      rule.append(widths[i], '-');
    }
    out << rule << '\n';
  }
}

void write_markdown(std::ostream& out, const QueryResult& result) {
  const std::vector<bool> numeric = numeric_columns(result);
  const auto escaped = [](const std::string& text) {
    std::string shown;
    for (const char c : text) {
      if (c == '|' || c == '\\') shown += '\\';
      shown += c;
    }
    return shown;
  };
  out << '|';
  for (const std::string& name : result.columns)
    out << ' ' << escaped(without_control(name)) << " |";
  out << "\n|";
  for (const bool is_right : numeric) out << (is_right ? " ---: |" : " --- |");
  out << '\n';
  for (const auto& row : result.rows) {
    out << '|';
    for (const Value& value : row) out << ' ' << escaped(for_people(value)) << " |";
    out << '\n';
  }
}

void write_csv(std::ostream& out, const QueryResult& result) {
  for (std::size_t i = 0; i < result.columns.size(); ++i)
    out << (i > 0 ? "," : "") << csv_field(result.columns[i]);
  out << '\n';
  for (const auto& row : result.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out << ',';
      if (const auto* integer = std::get_if<std::int64_t>(&row[i]))
        out << *integer;
      else if (const auto* real = std::get_if<double>(&row[i]))
        out << exact_number(*real);
      else if (const auto* text = std::get_if<std::string>(&row[i]))
        out << (text->empty() ? "\"\"" : csv_field(*text));
      else if (const auto* blob = std::get_if<Blob>(&row[i]))
        out << hex(std::as_bytes(std::span(blob->bytes)));
    }
    out << '\n';
  }
}

nlohmann::ordered_json json_of(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* real = std::get_if<double>(&value)) {
    if (std::isinf(*real)) return *real > 0 ? "Infinity" : "-Infinity";
    return *real;
  }
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* blob = std::get_if<Blob>(&value))
    return hex(std::as_bytes(std::span(blob->bytes)));
  return nullptr;
}

void write_json(std::ostream& out, const QueryResult& result) {
  out << '[';
  for (std::size_t number = 0; number < result.rows.size(); ++number) {
    nlohmann::ordered_json row = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < result.columns.size(); ++i)
      row[result.columns[i]] = json_of(result.rows[number][i]);
    out << (number > 0 ? ",\n " : "\n ")
        << row.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }
  out << (result.rows.empty() ? "]\n" : "\n]\n");
}

}  // namespace

Format parse_format(std::string_view name) {
  if (name == "table") return Format::kTable;
  if (name == "csv") return Format::kCsv;
  if (name == "json") return Format::kJson;
  if (name == "md") return Format::kMarkdown;
  throw Error(ErrorKind::kUsage,
              "format '" + std::string(name) + "' is none of table, csv, json, md");
}

std::string exact_number(double value) {
  std::array<char, 64> text{};
  const double size = std::fabs(value);
  const bool is_plain = size == 0 || (size >= 1e-5 && size < 1e15);
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value,
                    is_plain ? std::chars_format::fixed : std::chars_format::scientific);
  return {text.data(), end};
}

std::string short_number(double value) {
  std::array<char, 32> text{};
  const bool is_large = std::fabs(value) >= 1e6 && std::fabs(value) < 1e15;  // ns and bytes
  std::snprintf(text.data(), text.size(), is_large ? "%.0f" : "%.6g", value);
  return text.data();
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

void write_result(std::ostream& out, const QueryResult& result, Format format) {
  switch (format) {
    case Format::kTable: write_table(out, result); break;
    case Format::kCsv: write_csv(out, result); break;
    case Format::kJson: write_json(out, result); break;
    case Format::kMarkdown: write_markdown(out, result); break;
  }
}

}  // namespace tersor::results

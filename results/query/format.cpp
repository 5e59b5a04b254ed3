// SPDX-License-Identifier: Apache-2.0
#include "results/query/format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "common/error.hpp"
#include "common/hex.hpp"
#include "common/printable.hpp"

namespace tersor::results {
namespace {

/// Code points, which is near enough to columns for what the database holds.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

/// On one line, and nothing that a terminal would obey.
std::string without_control(std::string_view text) {
  std::string shown;
  for (const char c : printable(text)) {
    if (c == '\n')
      shown += "\\n";
    else
      shown += c == '\t' ? ' ' : c;
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
      if (c == '|' || c == '\\' || c == '`' || c == '<') shown += '\\';
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

/// Text that a spreadsheet would compute, as text.
std::string guarded(const std::string& text) {
  const bool is_formula =
      !text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
  return is_formula ? "'" + text : text;
}

/// Writes rows as they come.
class RowWriter : public RowSink {
 public:
  explicit RowWriter(std::ostream& out) : out_(out) {}
  virtual void end() = 0;

 protected:
  std::ostream& out_;
};

class CsvWriter : public RowWriter {
 public:
  CsvWriter(std::ostream& out, bool is_guarded) : RowWriter(out), is_guarded_(is_guarded) {}

  void begin(const std::vector<std::string>& columns) override {
    for (std::size_t i = 0; i < columns.size(); ++i) out_ << (i > 0 ? "," : "") << cell(columns[i]);
    out_ << '\n';
  }
  void row(std::vector<Value>&& values) override {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out_ << ',';
      if (const auto* integer = std::get_if<std::int64_t>(&values[i]))
        out_ << *integer;
      else if (const auto* real = std::get_if<double>(&values[i]))
        out_ << exact_number(*real);
      else if (const auto* text = std::get_if<std::string>(&values[i]))
        out_ << (text->empty() ? "\"\"" : cell(*text));
      else if (const auto* blob = std::get_if<Blob>(&values[i]))
        out_ << hex(std::as_bytes(std::span(blob->bytes)));
    }
    out_ << '\n';
  }
  void end() override {}

 private:
  std::string cell(const std::string& text) const {
    return csv_field(is_guarded_ ? guarded(text) : text);
  }

  bool is_guarded_;
};

class JsonWriter : public RowWriter {
 public:
  using RowWriter::RowWriter;

  void begin(const std::vector<std::string>& columns) override {
    columns_ = columns;
    out_ << '[';
  }
  void row(std::vector<Value>&& values) override {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < columns_.size(); ++i) object[columns_[i]] = json_of(values[i]);
    out_ << (is_first_ ? "\n " : ",\n ")
         << object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    is_first_ = false;
  }
  void end() override { out_ << (is_first_ ? "]\n" : "\n]\n"); }

 private:
  std::vector<std::string> columns_;
  bool is_first_ = true;
};

/// Null for the formats that must know all rows before they write one.
std::unique_ptr<RowWriter> row_writer(std::ostream& out, Format format) {
  switch (format) {
    case Format::kCsv: return std::make_unique<CsvWriter>(out, false);
    case Format::kSheet: return std::make_unique<CsvWriter>(out, true);
    case Format::kJson: return std::make_unique<JsonWriter>(out);
    case Format::kTable:
    case Format::kMarkdown: break;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> format_names() { return {"table", "csv", "sheet", "json", "md"}; }

Format parse_format(std::string_view name) {
  if (name == "table") return Format::kTable;
  if (name == "csv") return Format::kCsv;
  if (name == "sheet") return Format::kSheet;
  if (name == "json") return Format::kJson;
  if (name == "md") return Format::kMarkdown;
  throw Error(ErrorKind::kUsage,
              "format '" + std::string(name) + "' is none of table, csv, sheet, json, md");
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
  if (const auto writer = row_writer(out, format)) {
    writer->begin(result.columns);
    for (const auto& row : result.rows) writer->row(std::vector<Value>(row));
    writer->end();
  } else if (format == Format::kTable) {
    write_table(out, result);
  } else {
    write_markdown(out, result);
  }
}

bool write_query(std::ostream& out, Reader& reader, const std::string& sql,
                 const QueryLimits& limits, Format format) {
  if (const auto writer = row_writer(out, format)) {
    const bool is_cut = reader.stream(sql, *writer, limits);
    writer->end();
    return is_cut;
  }
  const QueryResult result = reader.query(sql, limits);
  write_result(out, result, format);
  return result.is_cut;
}

}  // namespace tersor::results

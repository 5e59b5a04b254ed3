// SPDX-License-Identifier: Apache-2.0
#include "reports/engine/context.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "common/error.hpp"
#include "common/json_parse.hpp"

namespace tersor::reports {

// Made by CMake: this room's files, and those of TERSOR_EXTRA_REPORTS.
std::vector<std::pair<std::string_view, std::string_view>> report_files();
std::vector<std::pair<std::string_view, std::string_view>> extra_report_files();

namespace {

using nlohmann::json;

int kind_order(const std::string& kind) {
  constexpr std::array<std::string_view, 4> kKinds{"measured", "shaped", "emulated", "modelled"};
  return static_cast<int>(std::find(kKinds.begin(), kKinds.end(), kind) - kKinds.begin());
}

std::string axis_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// At one rank there is nothing to send: codecs work only where the cell asks for it.
bool has_codecs_off(const Group& group, const json& config) {
  const auto loopback = config.find("loopback");
  return group.tp < 2 && (loopback == config.end() || *loopback != true);
}

/// Axes in which the groups of one data set and hardware differ, as "layers=last:3".
void add_details(std::vector<Group>& groups, const std::map<std::string, json>& configs) {
  for (Group& group : groups) {
    const json& own = configs.at(group.hash);
    if (has_codecs_off(group, own)) group.detail = "one rank, codecs off";
    std::set<std::string> differing;
    for (const Group& other : groups) {
      const bool is_rival = other.dataset == group.dataset && other.hardware == group.hardware &&
                            other.kind == group.kind && other.model == group.model;
      if (!is_rival) continue;
      const json& theirs = configs.at(other.hash);
      for (const auto& [axis, value] : own.items())
        if (axis != "compressor" && theirs.contains(axis) && theirs.at(axis) != value)
          differing.insert(axis);
    }
    for (const std::string& axis : differing)
      group.detail += (group.detail.empty() ? "" : ", ") + axis + "=" + axis_text(own.at(axis));
  }
}

/// A spec with the parameter that is its strength; `params` has all parameters with their values.
std::string titled(const std::string& spec, const std::string& strength, const json& params) {
  const auto found = params.find(strength);
  if (found == params.end() || found->is_null() || found->is_structured()) return spec;
  if (spec.find(strength + "=") != std::string::npos) return spec;
  const std::string said = strength + "=" + axis_text(*found);
  const auto open = spec.find('(');
  if (open == std::string::npos) return spec + "(" + said + ")";
  return spec.substr(0, open + 1) + said + "," + spec.substr(open + 1);
}

}  // namespace

std::string Group::short_label() const {
  return dataset + " \xc2\xb7 " + hardware + (detail.empty() ? "" : " \xc2\xb7 " + detail);
}

std::string Group::label() const {
  return dataset + " on " + hardware + " (" + kind + (detail.empty() ? "" : ", " + detail) + ")";
}

std::string Panel::label() const {
  return model + ", " + stage + ", " + kind + (kind == "emulated" ? " shards" : "");
}

namespace {

/// JSON of a row; damaged text is the database's fault, and where it is belongs to the message.
json json_of(const results::Reader& reader, const std::string& place, const std::string& text) {
  return parse_json<json>(text, reader.path().string() + ": " + place, 1, ErrorKind::kDatabase);
}

/// Views read JSON too, and SQLite says "malformed JSON" without saying where.
void expect_whole(Context& context) {
  const results::QueryResult damaged = context.query("engine/damaged.sql");
  if (damaged.rows.empty()) return;
  const RowView row(damaged, 0);
  throw Error(ErrorKind::kDatabase,
              context.reader().path().string() + ": table " + row.text("place") + ", row " +
                  row.text("id") + ": " + row.text("name") +
                  " is no JSON object; the file is damaged or was changed by hand: restore it, or "
                  "delete that row's runs");
}

}  // namespace

Context::Context(results::Reader& reader) : reader_(reader) {
  expect_whole(*this);
  const results::QueryResult rows = query("engine/cells.sql");
  std::map<std::string, json> configs;
  std::map<std::string, std::size_t> index;  // into groups_, by hash
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const RowView row(rows, i);
    const std::string hash = row.text("group_hash");
    if (index.emplace(hash, groups_.size()).second) {
      Group group;
      group.hash = hash;
      group.dataset = row.text("dataset");
      group.hardware = row.text("hardware");
      group.kind = row.text("kind");
      group.model = row.text("model");
      group.stage = row.text("stage");
      group.tp = row.integer("tp");
      groups_.push_back(group);
      configs[hash] = json_of(reader, "table cell, row " + row.text("cell_id") + ", config",
                              row.text("config"));
    }
    CellInfo cell{row.integer("cell_id"), row.text("codec"),       row.integer("seeds"),
                  row.integer("ok"),      row.integer("diverged"), row.text("reason")};
    auto& cells = groups_[index.at(hash)].cells;
    const auto found = cells.find(cell.codec);
    if (found == cells.end() || cell.ok > 0 || found->second.ok == 0) cells[cell.codec] = cell;
  }
  add_details(groups_, configs);
  const results::QueryResult codecs = query("engine/codecs.sql");
  for (std::size_t i = 0; i < codecs.rows.size(); ++i) {
    const RowView row(codecs, i);
    const json params =
        json_of(reader, "table codec, row " + row.text("id") + ", params", row.text("params"));
    const std::string spec = row.text("spec");
    titles_[spec] = titled(spec, row.text("strength"), params);
    if (row.integer("is_reference") != 1) continue;
    references_.insert(spec);
    reference_title_ = titles_[spec];
    reference_name_ = row.text("name");
  }
}

std::string Context::title(const std::string& codec) const {
  // "SPEC; SITE = SPEC": the first one names the row.
  const auto stop = codec.find("; ");
  const auto found = titles_.find(codec.substr(0, stop));
  if (found == titles_.end()) return codec;
  return found->second + (stop == std::string::npos ? "" : codec.substr(stop));
}

std::vector<Panel> Context::panels() const {
  std::vector<Panel> panels;
  for (const Group& group : groups_) {
    const auto found = std::find_if(panels.begin(), panels.end(), [&](const Panel& panel) {
      return panel.kind == group.kind && panel.model == group.model && panel.stage == group.stage;
    });
    if (found == panels.end())
      panels.push_back({group.kind, group.model, group.stage, {&group}});
    else
      found->groups.push_back(&group);
  }
  std::stable_sort(panels.begin(), panels.end(), [](const Panel& a, const Panel& b) {
    return kind_order(a.kind) < kind_order(b.kind);
  });
  return panels;
}

std::vector<std::string> Context::codecs(const std::vector<const Group*>& groups) const {
  std::map<std::string, std::int64_t> first;
  for (const Group* group : groups)
    for (const auto& [codec, cell] : group->cells) {
      const auto found = first.find(codec);
      if (found == first.end() || cell.id < found->second) first[codec] = cell.id;
    }
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [codec, id] : first)
    order.emplace_back(codec == "none" ? -2 : is_reference(codec) ? -1 : id, codec);
  std::sort(order.begin(), order.end());
  std::vector<std::string> codecs;
  for (const auto& [id, codec] : order) codecs.push_back(codec);
  return codecs;
}

results::QueryResult Context::query(std::string_view file) {
  return reader_.query(std::string(embedded_file(file)));
}

std::string_view embedded_file(std::string_view path) {
  for (const auto& files : {report_files(), extra_report_files()})
    for (const auto& [name, text] : files)
      if (name == path) return text;
  throw Error(ErrorKind::kInternal, "reports/" + std::string(path) + " is not part of the program");
}

bool Context::is_reference(const std::string& codec) const { return references_.contains(codec); }

bool Context::is_baseline(const std::string& codec) const {
  return codec == "none" || is_reference(codec);
}

const CellInfo* Context::reference_of(const Group& group) const {
  for (const auto& [codec, cell] : group.cells)
    if (is_reference(codec)) return &cell;
  return nullptr;
}

std::string missing_reason(const Group& group, const std::string& codec) {
  const auto found = group.cells.find(codec);
  if (found == group.cells.end() || found->second.seeds == 0) return "not run";
  if (found->second.reason.empty()) return "no value";
  return found->second.reason;
}

const results::Value& RowView::value(const std::string& column) const {
  return result_.rows.at(row_).at(result_.column(column));
}

std::string RowView::text(const std::string& column) const {
  const results::Value& found = value(column);
  if (const auto* text = std::get_if<std::string>(&found)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&found)) return std::to_string(*integer);
  return "";
}

std::int64_t RowView::integer(const std::string& column) const {
  const results::Value& found = value(column);
  if (const auto* integer = std::get_if<std::int64_t>(&found)) return *integer;
  return 0;
}

std::optional<double> RowView::number(const std::string& column) const {
  const results::Value& found = value(column);
  if (const auto* integer = std::get_if<std::int64_t>(&found)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&found)) return *real;
  return std::nullopt;
}

}  // namespace tersor::reports

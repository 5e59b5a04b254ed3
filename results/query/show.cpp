// SPDX-License-Identifier: Apache-2.0
#include "results/query/show.hpp"

#include <algorithm>
#include <set>

#include "common/error.hpp"
#include "common/nearest.hpp"
#include "protocol/fields.hpp"
#include "results/query/where.hpp"

namespace tersor::results {
namespace {

struct View {
  const char* name;
  const char* table;
  const char* order;
  std::vector<std::string> columns;  ///< for people, in this order
};

const std::vector<View>& views() {
  static const std::vector<View> list{
      {"runs",
       "v_run",
       "run_id",
       {"run_id", "codec", "hardware", "kind", "dataset", "model", "layers", "seed", "attempt",
        "status", "cause", "reason", "steps", "wall_s", "started_at"}},
      {"accuracy",
       "v_accuracy",
       "dataset, model, hardware, group_hash, cell_id, inference DESC, is_primary DESC, metric, "
       "split",
       {"codec", "hardware", "kind", "dataset", "model", "layers", "metric", "inference", "mean",
        "sd", "n", "undefined_n", "ci_low", "ci_high", "best_mean", "epoch", "rows", "diverged_n",
        "not_ok_n"}},
      {"speed",
       "v_speed",
       "dataset, model, hardware, group_hash, cell_id",
       {"codec", "hardware", "kind", "dataset", "model", "layers", "step_ms_mean", "step_ms_sd",
        "n", "forward_ms_mean", "backward_ms_mean", "optimizer_ms_mean", "encode_ms_mean",
        "transfer_ms_mean", "decode_ms_mean", "samples_per_second"}},
      {"traffic",
       "v_traffic",
       "dataset, model, hardware, group_hash, cell_id, phase DESC, direction DESC, site, "
       "collective, spec",
       {"codec",
        "hardware",
        "kind",
        "dataset",
        "model",
        "phase",
        "direction",
        "site",
        "collective",
        "spec",
        "n",
        "calls_per_rank",
        "raw_bytes_per_call_mean",
        "payload_bytes_per_call_mean",
        "payload_bytes_per_call_sd",
        "metadata_bytes_per_call_mean",
        "sent_bytes_per_call_mean",
        "ratio",
        "sent_bytes_per_step_mean",
        "encode_us_per_call_mean",
        "transfer_us_per_call_mean",
        "decode_us_per_call_mean"}}};
  return list;
}

/// What is shown to people only where the rows differ in it: fields of the cell that no profile
/// sets.
const std::vector<std::string>& quiet_columns() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"sweep", "split"};
    for (const protocol::Field& field : protocol::fields())
      if (field.object.empty()) all.push_back(field.column);
    return all;
  }();
  return names;
}

bool differs(const QueryResult& result, std::size_t column) {
  return std::any_of(result.rows.begin(), result.rows.end(),
                     [&](const auto& row) { return row[column] != result.rows.front()[column]; });
}

/// The views are the file's own, and a flipped bit may be in their text.
void expect_columns(const QueryResult& all, const View& view) {
  for (const std::string& name : view.columns)
    if (std::find(all.columns.begin(), all.columns.end(), name) == all.columns.end())
      throw Error(ErrorKind::kDatabase, std::string("view ") + view.table + " has no column '" +
                                            name +
                                            "': the database is damaged, or was changed by another "
                                            "program; restore a copy");
}

QueryResult for_people(const QueryResult& all, const View& view) {
  expect_columns(all, view);
  std::vector<std::string> chosen;
  for (const std::string& name : view.columns) {
    chosen.push_back(name);
    if (name != "model") continue;
    for (const std::string& axis : quiet_columns()) {
      const bool is_there =
          std::find(all.columns.begin(), all.columns.end(), axis) != all.columns.end();
      const bool is_listed =
          std::find(view.columns.begin(), view.columns.end(), axis) != view.columns.end();
      if (is_there && !is_listed && differs(all, all.column(axis))) chosen.push_back(axis);
    }
  }
  QueryResult result;
  result.is_cut = all.is_cut;
  result.columns = chosen;
  for (const auto& row : all.rows) {
    std::vector<Value> shown;
    for (const std::string& name : chosen) shown.push_back(row[all.column(name)]);
    result.rows.push_back(std::move(shown));
  }
  return result;
}

std::vector<std::string> columns_of(Reader& reader, const char* table) {
  std::vector<std::string> names;
  for (const auto& row :
       reader.query("SELECT name FROM pragma_table_info(?1)", {}, {std::string(table)}).rows)
    names.push_back(std::get<std::string>(row[0]));
  return names;
}

}  // namespace

std::vector<std::string> show_names() {
  std::vector<std::string> names;
  for (const View& view : views()) names.emplace_back(view.name);
  return names;
}

QueryResult show(Reader& reader, std::string_view name, const ShowOptions& options) {
  const auto view = std::find_if(views().begin(), views().end(),
                                 [&](const View& known) { return known.name == name; });
  if (view == views().end())
    throw Error(ErrorKind::kUsage, "nothing to show under '" + std::string(name) + "'" +
                                       known_names_hint(name, show_names()));
  std::string sql = std::string("SELECT * FROM ") + view->table;
  if (!options.where.empty()) {
    check_expression(options.where, columns_of(reader, view->table));
    sql += " WHERE (\n" + options.where + "\n)";
  }
  const QueryResult all = reader.query(sql + " ORDER BY " + view->order, options.limits);
  return options.is_complete ? all : for_people(all, *view);
}

}  // namespace tersor::results

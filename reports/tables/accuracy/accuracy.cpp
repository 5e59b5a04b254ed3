// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>
#include <tuple>

#include "common/statistics.hpp"
#include "reports/engine/numbers.hpp"
#include "reports/engine/pivot.hpp"
#include "reports/engine/registry.hpp"

namespace tersor::reports {
namespace {

constexpr int kDecimals = 1;  // of values times 100: one row of SST-2's dev set is 0.11

struct Value {
  std::string metric;
  std::optional<double> mean;  ///< none: undefined on every seed
  std::optional<double> sd;
  std::int64_t n = 0;
  std::int64_t undefined = 0;  ///< ok seeds on which the metric has no value
  double best = 0;
  std::int64_t epochs = 0;
};

/// Primary metric by cell and inference.
using Values = std::map<std::pair<std::int64_t, std::string>, Value>;

Values read_values(const results::QueryResult& rows) {
  Values values;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const RowView row(rows, i);
    const auto mean = row.number("mean");
    if (row.integer("is_primary") != 1) continue;
    values[{row.integer("cell_id"), row.text("inference")}] = {
        row.text("metric"),         mean,
        row.number("sd"),           row.integer("n"),
        row.integer("undefined_n"), row.number("best_mean").value_or(mean.value_or(0)),
        row.integer("epoch")};
  }
  return values;
}

Cell cell_of(const Value& value, std::int64_t diverged) {
  Cell cell;
  cell.note = count_text(value.n, diverged, value.undefined);
  if (!value.mean) {
    cell.text = "undefined";
    return cell;
  }
  cell.text = with_deviation(100 * *value.mean,
                             value.sd ? std::optional(100 * *value.sd) : std::nullopt, kDecimals);
  if (value.epochs > 1) cell.note = "best " + fixed(100 * value.best, kDecimals) + ", " + cell.note;
  return cell;
}

std::string metric_of(const Group& group, const Values& values) {
  for (const auto& [codec, cell] : group.cells)
    for (const char* inference : {"on", "off"})
      if (const auto found = values.find({cell.id, inference}); found != values.end())
        return found->second.metric;
  return "";
}

/// The best that can be had without looking at the input, and how far chance takes it.
struct Baseline {
  std::string rule;
  double value = 0;
  double chance = 0;  ///< one-sided limit of the 95 % interval, over rows drawn anew
};

/// By the metric's definition; none for metrics without such a rule. For accuracy and F1 the share
/// of a class has the deviation sqrt(p (1 - p) / rows); F1 of always giving class 1 is 2p / (1 +
/// p), its derivative 2 / (1 + p)^2. A correlation of unrelated lists has the variance 1 / (rows -
/// 1).
std::optional<Baseline> baseline_of(const std::string& metric, double majority, double positive,
                                    double rows) {
  const auto sampling = [&](double p) { return kNormal975 * std::sqrt(p * (1 - p) / rows); };
  if (metric == "accuracy")
    return Baseline{"always giving the most frequent class", majority,
                    majority + sampling(majority)};
  if (metric == "f1") {
    const double slope = 2 / ((1 + positive) * (1 + positive));
    const double f1 = 2 * positive / (1 + positive);
    return Baseline{"always giving class 1", f1, f1 + slope * sampling(positive)};
  }
  if (metric == "matthews" || metric == "pearson" || metric == "spearman") {
    if (rows < 2) return std::nullopt;
    return Baseline{"an answer that does not depend on the input", 0,
                    kNormal975 / std::sqrt(rows - 1)};
  }
  return std::nullopt;
}

std::map<std::int64_t, Baseline> read_baselines(const results::QueryResult& rows) {
  std::map<std::int64_t, Baseline> found;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const RowView row(rows, i);
    if (auto baseline = baseline_of(row.text("metric"), row.number("majority").value_or(0),
                                    row.number("positive").value_or(0),
                                    static_cast<double>(row.integer("rows"))))
      found[row.integer("cell_id")] = std::move(*baseline);
  }
  return found;
}

/// What to say of a group that learned nothing without compression; empty where it did.
std::string learned_nothing(const Group& group, const Values& values,
                            const std::map<std::int64_t, Baseline>& baselines) {
  const auto none = group.cells.find("none");
  if (none == group.cells.end()) return "";
  const auto value = values.find({none->second.id, "on"});
  const auto baseline = baselines.find(none->second.id);
  if (value == values.end() || baseline == baselines.end() || !value->second.mean) return "";
  const std::string& metric = value->second.metric;
  const double mean = *value->second.mean;
  const auto& [rule, share, chance] = baseline->second;
  if (mean > chance) return "";
  const bool is_share = metric == "accuracy";
  const auto shown = [&](double v) { return fixed(100 * v, kDecimals) + (is_share ? " %" : ""); };
  return group.label() + ": `none` reaches " + (is_share ? "" : metric + " \xc3\x97 100 = ") +
         shown(mean) + ", no better than " + rule + " (" + shown(share) +
         ", 95 % of chance up to " + shown(chance) +
         "). The model learned nothing, so the codecs' " + (is_share ? "accuracies" : "values") +
         " say nothing: train longer, or with another learning_rate or freeze.";
}

Section build(Context& context) {
  Section section;
  section.title = "Accuracy";
  results::QueryResult rows = context.query("tables/accuracy/query.sql");
  const Values values = read_values(rows);
  const auto baselines = read_baselines(context.query("tables/accuracy/baselines.sql"));
  for (const Panel& panel : context.panels()) {
    const auto columns = [&](const Group& group) -> std::vector<Column> {
      const std::string metric = metric_of(group, values);
      const std::string name = metric.empty()         ? "value"
                               : metric == "accuracy" ? "accuracy, %"
                                                      : metric + " \xc3\x97 100";
      return {{"on", name, false}, {"off", name, false}};
    };
    const auto cells = [&](const Group& group,
                           const std::string& codec) -> std::optional<std::vector<Cell>> {
      const auto cell = group.cells.find(codec);
      if (cell == group.cells.end()) return std::nullopt;
      std::vector<Cell> pair;
      bool has_any = false;
      for (const char* inference : {"on", "off"}) {
        const auto found = values.find({cell->second.id, inference});
        has_any = has_any || found != values.end();
        pair.push_back(found == values.end() ? Cell{"not evaluated", "", Tone::kMissing}
                                             : cell_of(found->second, cell->second.diverged));
      }
      if (!has_any) return std::nullopt;
      return pair;
    };
    std::vector<Table> tables = pivot(context, panel, columns, cells);
    for (Table& table : tables)
      table.caption = "Primary metric after the last epoch: " + panel.label();
    for (const Table& table : tables) section.blocks.emplace_back(table);
    for (const Group* group : panel.groups)
      if (std::string text = learned_nothing(*group, values, baselines); !text.empty())
        section.blocks.emplace_back(Paragraph{std::move(text), true});
  }
  if (section.blocks.empty()) return section;
  std::vector<std::string> notes{
      "on, off: compression during evaluation; training is compressed in both.",
      "The last epoch decides. Best: the best epoch on the same rows, so it is optimistic."};
  const results::QueryResult best = context.query("tables/accuracy/best.sql");
  for (std::size_t i = 0; i < best.rows.size(); ++i) {
    const RowView row(best, i);
    notes.push_back("Best possible accuracy on " + row.text("name") + ": " +
                    fixed(100 * row.number("best_accuracy").value_or(0), kDecimals) + " %.");
  }
  add_notes(section, std::move(notes));
  section.files.push_back({"accuracy.csv", std::move(rows)});
  return section;
}

const ItemRegistrar kAccuracy({20, "accuracy", build});

}  // namespace
}  // namespace tersor::reports

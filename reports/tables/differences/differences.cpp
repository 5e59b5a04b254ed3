// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "reports/engine/numbers.hpp"
#include "reports/engine/pivot.hpp"
#include "reports/engine/registry.hpp"
#include "results/stats/stats.hpp"

namespace tersor::reports {
namespace {

using results::PairedDifference;

constexpr double kLevel = 0.05;
/// Student's t of two seeds is 12.7: its interval leaves the metric's range.
constexpr std::int64_t kFewestSeeds = 3;
constexpr int kDecimals = 2;
constexpr const char* kDash = "\xe2\x80\x93";

struct Run {
  std::int64_t id = 0;
  std::optional<double> value;  ///< none where the metric is undefined
};
/// Runs of one cell and inference by seed.
using BySeed = std::map<std::string, Run>;
using Cells = std::map<std::pair<std::int64_t, std::string>, BySeed>;

struct Comparison {
  const Group* group = nullptr;
  std::string codec, inference, metric;
  PairedDifference difference;
  std::optional<Interval> over_rows;  ///< bootstrap over seeds and rows; accuracy only
  std::optional<double> adjusted_p;
  /// The smallest difference of this deviation that Holm's procedure would decide, the other codecs
  /// as they are.
  std::optional<double> decided_above;
  std::int64_t diverged = 0;
  std::int64_t undefined = 0;  ///< seeds on which the codec's or none's metric has no value
  std::size_t family = 1;      ///< comparisons that the correction counts
};

std::vector<double> doubles_of(const results::Value& value) {
  const auto* blob = std::get_if<results::Blob>(&value);
  if (!blob) return {};
  std::vector<double> numbers(blob->bytes.size() / sizeof(double));
  std::memcpy(numbers.data(), blob->bytes.data(), numbers.size() * sizeof(double));
  return numbers;
}

/// 1 where a row was predicted correctly, by run.
std::map<std::int64_t, std::vector<double>> correct_rows(Context& context, const Group& group) {
  const results::QueryResult rows =
      context.reader().query(std::string(embedded_file("tables/differences/predictions.sql")), {},
                             {results::Value(group.hash)});
  std::map<std::int64_t, std::vector<double>> correct;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const std::vector<double> predicted = doubles_of(rows.rows[i][rows.column("predictions")]);
    const std::vector<double> labels = doubles_of(rows.rows[i][rows.column("labels")]);
    if (predicted.size() != labels.size()) continue;
    std::vector<double> hits;
    for (std::size_t k = 0; k < labels.size(); ++k)
      hits.push_back(predicted[k] == labels[k] ? 1 : 0);
    correct[RowView(rows, i).integer("run_id")] = hits;
  }
  return correct;
}

std::optional<Interval> interval_over_rows(
    const std::vector<std::pair<std::int64_t, std::int64_t>>& pairs,
    const std::map<std::int64_t, std::vector<double>>& correct) {
  std::vector<std::vector<double>> differences;
  for (const auto& [with, without] : pairs) {
    const auto a = correct.find(with);
    const auto b = correct.find(without);
    if (a == correct.end() || b == correct.end() || a->second.size() != b->second.size())
      return std::nullopt;
    std::vector<double> difference;
    for (std::size_t i = 0; i < a->second.size(); ++i)
      difference.push_back(100 * (a->second[i] - b->second[i]));
    if (!differences.empty() && differences.front().size() != difference.size())
      return std::nullopt;
    differences.push_back(difference);
  }
  return results::crossed_bootstrap_interval(differences);
}

struct Pairs {
  std::vector<double> differences;                          ///< in points
  std::vector<std::pair<std::int64_t, std::int64_t>> runs;  ///< with and without the codec
  std::int64_t undefined = 0;
  double scale = 100;  ///< of the values, in points: 100, or the largest one
};

Pairs paired_by_seed(const BySeed& with, const BySeed& without) {
  Pairs pairs;
  for (const auto& [seed, run] : with) {
    const auto other = without.find(seed);
    if (other == without.end()) continue;
    if (!run.value || !other->second.value) {
      ++pairs.undefined;
      continue;
    }
    const double base = *other->second.value;
    pairs.differences.push_back(100 * (*run.value - base));
    pairs.runs.emplace_back(run.id, other->second.id);
    pairs.scale = std::max({pairs.scale, 100 * std::fabs(*run.value), 100 * std::fabs(base)});
  }
  return pairs;
}

std::vector<Comparison> compare_group(Context& context, const Group& group, const Cells& cells,
                                      const std::map<std::int64_t, std::string>& metrics) {
  const auto none = group.cells.find("none");
  if (none == group.cells.end()) return {};
  const auto correct = correct_rows(context, group);
  std::vector<Comparison> comparisons;
  for (const std::string& codec : context.codecs({&group})) {
    if (codec == "none") continue;
    const CellInfo& cell = group.cells.at(codec);
    for (const char* inference : {"on", "off"}) {
      const auto with = cells.find({cell.id, inference});
      const auto without = cells.find({none->second.id, inference});
      if (with == cells.end() || without == cells.end()) continue;
      Comparison c;
      c.group = &group;
      c.codec = codec;
      c.inference = inference;
      c.metric = metrics.at(cell.id);
      c.diverged = cell.diverged;
      const Pairs pairs = paired_by_seed(with->second, without->second);
      c.undefined = pairs.undefined;
      if (pairs.differences.empty() && pairs.undefined == 0) continue;
      c.difference = results::paired_difference(pairs.differences, pairs.scale);
      if (c.difference.n < kFewestSeeds) {
        c.difference.interval.reset();
        c.difference.bootstrap.reset();
        c.difference.p.reset();
      } else if (c.metric == "accuracy" && c.inference == "on") {
        c.over_rows = interval_over_rows(pairs.runs, correct);
      }
      comparisons.push_back(c);
    }
  }
  return comparisons;
}

/// Holm's correction over the codecs of one group, inference on.
void adjust(std::vector<Comparison>& comparisons) {
  std::vector<Comparison*> family;
  std::vector<double> p;
  for (Comparison& c : comparisons)
    if (c.inference == "on" && c.difference.p) {
      family.push_back(&c);
      p.push_back(*c.difference.p);
    }
  const std::vector<double> adjusted = results::holm_adjusted(p);
  for (std::size_t i = 0; i < family.size(); ++i) {
    family[i]->adjusted_p = adjusted[i];
    family[i]->family = family.size();
    const PairedDifference& d = family[i]->difference;
    const double n = static_cast<double>(d.n);
    const double limit = results::holm_limit(p, i, kLevel);
    family[i]->decided_above =
        results::student_t_quantile(1 - limit / 2, n - 1) * *d.sd / std::sqrt(n);
  }
}

std::string verdict_of(const Comparison& c) {
  std::string verdict;
  if (c.difference.n == 0)
    verdict = "undecided: no seed with a value on both sides";
  else if (c.difference.n == 1)
    verdict = "undecided: n = 1 decides nothing";
  else if (*c.difference.sd == 0)
    verdict =
        c.difference.mean == 0 ? "same value on every seed" : "undecided: no spread to judge by";
  else if (c.difference.n < kFewestSeeds)
    verdict = "undecided: too few seeds (n = " + std::to_string(c.difference.n) + ")";
  else if (*c.adjusted_p > kLevel && *c.difference.p <= kLevel)
    verdict = "undecided: its own interval leaves out 0, but not after the correction for " +
              std::to_string(c.family) + " codecs (n = " + std::to_string(c.difference.n) +
              " then decides only differences above " + fixed(*c.decided_above, kDecimals) + ")";
  else if (*c.adjusted_p > kLevel)
    verdict = "undecided: n = " + std::to_string(c.difference.n) +
              " decides only differences above " + fixed(*c.decided_above, kDecimals);
  else
    verdict = c.difference.mean < 0 ? "below none" : "above none";
  if (c.diverged > 0) verdict += "; " + std::to_string(c.diverged) + " diverged, not in the mean";
  if (c.undefined > 0)
    verdict += "; " + std::to_string(c.undefined) + " undefined, not in the mean";
  return verdict;
}

std::string interval_text(const std::optional<Interval>& interval) {
  if (!interval) return kDash;
  return "[" + with_sign(interval->low, kDecimals) + ", " + with_sign(interval->high, kDecimals) +
         "]";
}

std::string p_text(std::optional<double> p) {
  if (!p) return kDash;
  return *p < 0.001 ? "< 0.001" : fixed(*p, 3);
}

Cell change_cell(const PairedDifference& d) {
  if (d.n == 0) return {"undefined", "", Tone::kPlain};
  Cell cell{with_sign(d.mean, kDecimals), "", Tone::kPlain};
  if (d.sd) cell.text += " \xc2\xb1 " + fixed(*d.sd, kDecimals);
  if (d.interval)
    cell.note = interval_text(d.interval);
  else if (d.n > 1 && d.n < kFewestSeeds)
    cell.note = "too few seeds";
  return cell;
}

Table table_of(Context& context, const std::vector<Comparison>& comparisons) {
  const Comparison& first = comparisons.front();
  Table table;
  table.caption = "Change of " + first.metric + " against none, in points: " + first.group->label();
  const std::string on = "compression on at inference";
  const std::string off = "off";
  table.columns = {{"codec", "", true},     {"change", on, false}, {"seeds and rows", on, false},
                   {"p (Holm)", on, false}, {"n", on, false},      {"verdict", on, true},
                   {"change", off, false},  {"n", off, false}};
  std::map<std::string, Row> rows;
  std::vector<std::string> order;
  for (const Comparison& c : comparisons) {
    if (!rows.contains(c.codec)) {
      order.push_back(c.codec);
      Row row;
      row.is_reference = context.is_reference(c.codec);
      row.cells.resize(table.columns.size(), Cell{kDash, "", Tone::kPlain});
      row.cells[0].text = context.title(c.codec);
      rows[c.codec] = row;
    }
    std::vector<Cell>& cells = rows[c.codec].cells;
    const Cell change = change_cell(c.difference);
    const std::string n = std::to_string(c.difference.n);
    if (c.inference == "off") {
      cells[6] = change;
      cells[7].text = n;
      continue;
    }
    cells[1] = change;
    cells[2].text = interval_text(c.over_rows);
    cells[3].text = p_text(c.adjusted_p);
    cells[4].text = n;
    cells[5].text = verdict_of(c);
  }
  for (const std::string& codec : order) table.rows.push_back(rows[codec]);
  return table;
}

results::QueryResult csv_of(const std::vector<Comparison>& all) {
  using results::Value;
  results::QueryResult csv;
  csv.columns = {"codec",
                 "dataset",
                 "hardware",
                 "kind",
                 "model",
                 "detail",
                 "metric",
                 "inference",
                 "n",
                 "change_points",
                 "sd_points",
                 "ci_low_points",
                 "ci_high_points",
                 "bootstrap_low_points",
                 "bootstrap_high_points",
                 "seeds_and_rows_low_points",
                 "seeds_and_rows_high_points",
                 "p",
                 "p_holm",
                 "decided_above_points",
                 "diverged_n",
                 "undefined_n",
                 "verdict"};
  const auto number = [](const std::optional<double>& v) { return v ? Value(*v) : Value(); };
  const auto low = [](const std::optional<Interval>& i) { return i ? Value(i->low) : Value(); };
  const auto high = [](const std::optional<Interval>& i) { return i ? Value(i->high) : Value(); };
  for (const Comparison& c : all)
    csv.rows.push_back({c.codec,
                        c.group->dataset,
                        c.group->hardware,
                        c.group->kind,
                        c.group->model,
                        c.group->detail,
                        c.metric,
                        c.inference,
                        c.difference.n,
                        c.difference.n > 0 ? Value(c.difference.mean) : Value(),
                        number(c.difference.sd),
                        low(c.difference.interval),
                        high(c.difference.interval),
                        low(c.difference.bootstrap),
                        high(c.difference.bootstrap),
                        low(c.over_rows),
                        high(c.over_rows),
                        number(c.difference.p),
                        number(c.adjusted_p),
                        number(c.decided_above),
                        c.diverged,
                        c.undefined,
                        c.inference == "on" ? Value(verdict_of(c)) : Value()});
  return csv;
}

Section build(Context& context) {
  const results::QueryResult rows = context.query("tables/differences/query.sql");
  Cells cells;
  std::map<std::int64_t, std::string> metrics;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const RowView row(rows, i);
    cells[{row.integer("cell_id"), row.text("inference")}][row.text("seed")] = {
        row.integer("run_id"), row.number("value")};
    metrics[row.integer("cell_id")] = row.text("metric");
  }
  Section section;
  section.title = "Differences to none";
  std::vector<Comparison> all;
  for (const Panel& panel : context.panels())
    for (const Group* group : panel.groups) {
      std::vector<Comparison> comparisons = compare_group(context, *group, cells, metrics);
      if (comparisons.empty()) continue;
      adjust(comparisons);
      section.blocks.emplace_back(table_of(context, comparisons));
      all.insert(all.end(), comparisons.begin(), comparisons.end());
    }
  if (all.empty()) return section;
  add_notes(
      section,
      {"Paired by seed: codec minus `none` on the same seed (same initial weights, data order and "
       "dropout). In brackets: 95 % interval by Student's t over three seeds or more, not "
       "corrected.",
       "Seeds and rows: 95 % percentile bootstrap that draws seeds and evaluation rows anew; with "
       "so few seeds it is narrower than it should be, and decides nothing here.",
       "Verdict: paired t test, p corrected by Holm over the codecs of the table, 5 %; the "
       "difference "
       "that n seeds decide is what this correction asks of the codec. Undecided is not equal: the "
       "interval says what is still possible."});
  section.files.push_back({"differences.csv", csv_of(all)});
  return section;
}

const ItemRegistrar kDifferences({30, "differences", build});

}  // namespace
}  // namespace tersor::reports

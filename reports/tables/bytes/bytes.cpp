// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "reports/engine/numbers.hpp"
#include "reports/engine/pivot.hpp"
#include "reports/engine/registry.hpp"
#include "reports/engine/traffic.hpp"

namespace tersor::reports {
namespace {

using Summaries = std::map<std::pair<std::string, std::string>, TrafficSummary>;

/// Counts are exact; the formula may differ by rounding of odd buffers only.
constexpr double kLargestGap = 1e-3;
/// Sent bytes are compared with this slack, so that rounding does not warn.
constexpr double kSlack = 1 + 1e-9;

std::string times_text(double value) {
  const bool is_near_one = value != 1 && std::fabs(value - 1) < 0.005;
  return (is_near_one  ? fixed(value, 3)
          : value < 10 ? fixed(value, 2)
                       : significant(value)) +
         "\xc3\x97";
}

Cell sent_cell(const Context& context, const TrafficSummary& s, int p, const ByteUnit& unit) {
  Cell cell;
  if (std::isnan(s.sent_at.at(p))) return {"-", "nodes unknown", Tone::kPlain};
  cell.text = unit.text(s.sent_at.at(p)) + (p == s.ranks ? " \xe2\x80\xa2" : "");
  const double reference = s.reference_at.at(p);
  if (reference > 0)
    cell.note = times_text(s.sent_at.at(p) / reference) + " of " + context.reference_name();
  if (s.sent_at.at(p) > reference * kSlack) cell.tone = Tone::kWarning;
  return cell;
}

std::vector<Column> columns_of(const Group& group, const ByteUnit& unit) {
  const std::string messages = std::string("messages of a rank and step, ") + unit.name;
  const std::string sent = std::string("sent by a rank and step, ") + unit.name;
  std::vector<Column> columns{{"raw", messages, false},
                              {"payload", messages, false},
                              {"of it metadata", messages, false},
                              {"ratio", messages, false}};
  for (const int p : kShownRanks)
    columns.push_back(
        {"p = " + std::to_string(p) + (p == group.tp ? " \xe2\x80\xa2" : ""), sent, false});
  columns.push_back({"all sites", sent, false});
  return columns;
}

Table table_of(Context& context, const Panel& panel, const Group& group,
               const Summaries& summaries) {
  double largest = 0;
  for (const auto& [key, summary] : summaries)
    if (key.first == group.hash) largest = std::max(largest, summary.raw);
  const ByteUnit unit = byte_unit(largest);
  const auto cells = [&](const Group& of,
                         const std::string& codec) -> std::optional<std::vector<Cell>> {
    const auto found = summaries.find({of.hash, codec});
    if (found == summaries.end()) return std::nullopt;
    const TrafficSummary& s = found->second;
    std::string payload = unit.text(s.payload);
    if (s.payload_deviation && *s.payload_deviation > 0)
      payload += " \xc2\xb1 " + unit.text(*s.payload_deviation);
    std::vector<Cell> line{
        {unit.text(s.raw), "", Tone::kPlain},
        {payload, count_text(s.n), Tone::kPlain},
        {unit.text(s.metadata), "", Tone::kPlain},
        {s.payload > 0 ? times_text(s.raw / s.payload) : "\xe2\x80\x93", "", Tone::kPlain}};
    for (const int p : kShownRanks) line.push_back(sent_cell(context, s, p, unit));
    line.push_back({unit.text(s.sent_everywhere), "", Tone::kPlain});
    return line;
  };
  Table table = single_table(context, group, columns_of(group, unit), cells);
  table.caption = "Bytes: " + panel.model + ", " + group.label();
  return table;
}

/// Warnings in words, for readers of the Markdown: who sends more than the reference, and where.
std::vector<std::string> warnings_of(Context& context, const Summaries& summaries) {
  std::vector<std::string> warnings;
  for (const Group& group : context.groups())
    for (const std::string& codec : context.codecs({&group})) {
      const auto found = summaries.find({group.hash, codec});
      if (found == summaries.end() || context.is_baseline(codec)) continue;
      std::string where;
      for (const int p : kShownRanks)
        if (found->second.sent_at.at(p) > found->second.reference_at.at(p) * kSlack)
          where += (where.empty() ? "" : ", ") + std::to_string(p);
      if (!where.empty())
        warnings.push_back("`" + context.title(codec) + "` sends more than " +
                           context.reference_title() + " at p = " + where + " (" +
                           group.short_label() + ").");
      if (found->second.formula_gap > kLargestGap)
        warnings.push_back("`" + context.title(codec) + "` (" + group.short_label() +
                           "): the counted sent bytes differ from "
                           "the formula by " +
                           fixed(100 * found->second.formula_gap, 1) + " %.");
    }
  return warnings;
}

results::QueryResult csv_of(Context& context, const Summaries& summaries) {
  using results::Value;
  results::QueryResult csv;
  csv.columns = {"codec",
                 "dataset",
                 "hardware",
                 "kind",
                 "model",
                 "detail",
                 "measured_ranks",
                 "n",
                 "compared_raw_bytes_per_step",
                 "compared_payload_bytes_per_step",
                 "compared_payload_bytes_per_step_sd",
                 "compared_metadata_bytes_per_step",
                 "ratio",
                 "compared_sent_bytes_per_step"};
  for (const int p : kShownRanks) {
    csv.columns.push_back("compared_sent_bytes_per_step_p" + std::to_string(p));
    csv.columns.push_back("reference_compared_sent_bytes_per_step_p" + std::to_string(p));
  }
  csv.columns.emplace_back("sent_bytes_per_step");
  csv.columns.emplace_back("reason");
  for (const Group& group : context.groups())
    for (const std::string& codec : context.codecs({&group})) {
      std::vector<Value> row{codec,      group.dataset, group.hardware,
                             group.kind, group.model,   group.detail};
      const auto found = summaries.find({group.hash, codec});
      if (found == summaries.end()) {
        row.resize(csv.columns.size());
        row.back() = group.tp < 2 && group.cells.at(codec).ok > 0 ? "one rank: no messages"
                                                                  : missing_reason(group, codec);
        csv.rows.push_back(row);
        continue;
      }
      const TrafficSummary& s = found->second;
      row.insert(row.end(),
                 {std::int64_t{s.ranks}, s.n, s.raw, s.payload,
                  s.payload_deviation ? Value(*s.payload_deviation) : Value(), s.metadata,
                  s.payload > 0 ? Value(s.raw / s.payload) : Value(), s.sent});
      for (const int p : kShownRanks) {
        row.push_back(std::isnan(s.sent_at.at(p)) ? Value() : Value(s.sent_at.at(p)));
        row.emplace_back(s.reference_at.at(p));
      }
      row.emplace_back(s.sent_everywhere);
      row.emplace_back();
      csv.rows.push_back(row);
    }
  return csv;
}

Section build(Context& context) {
  Section section;
  section.title = "Bytes";
  const Summaries summaries = traffic_summaries(context);
  if (summaries.empty()) return section;
  for (const std::string& warning : warnings_of(context, summaries))
    section.blocks.emplace_back(Paragraph{warning, true});
  for (const Panel& panel : context.panels())
    for (const Group* group : panel.groups)
      if (group->tp > 1) section.blocks.emplace_back(table_of(context, panel, *group, summaries));
  const std::string& reference = context.reference_name();
  add_notes(
      section,
      {"Messages: at the sites that some codec of the table compresses, so that rows compare the "
       "same sites; means over training steps, uncompressed warm-up included. Ratio: raw / "
       "payload, "
       "payload with its metadata.",
       "Sent: wire bytes by the collective's algorithm (ring all-reduce 2(p\xe2\x88\x92"
       "1)/p of the buffer, all-gather p\xe2\x88\x92"
       "1 payloads). \xe2\x80\xa2 is the measured p and counted, the others are computed by the "
       "codec for that p. Of " +
           reference + ": " + context.reference_title() + " at the same sites, by formula.",
       "All sites: everything that a rank sends in a step, dense backward messages included, at "
       "the measured p."});
  section.files.push_back({"bytes.csv", csv_of(context, summaries)});
  return section;
}

const ItemRegistrar kBytes({60, "bytes", build});

}  // namespace
}  // namespace tersor::reports

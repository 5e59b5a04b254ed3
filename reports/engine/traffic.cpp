// SPDX-License-Identifier: Apache-2.0
#include "reports/engine/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "common/error.hpp"
#include "common/wire_bytes.hpp"
#include "results/stats/stats.hpp"

namespace tersor::reports {
namespace {

struct Flow {
  std::string site, site_name, direction, collective, dtype, spec;
  double raw = 0, payload = 0, metadata = 0, sent = 0;
  std::map<int, std::optional<double>> sent_at;  ///< by p, as the codec has it
  std::pair<std::string, std::string> site_key() const { return {site, site_name}; }
};

struct RunFlows {
  int ranks = 1;
  std::vector<Flow> flows;
};

using CellKey = std::pair<std::string, std::string>;               // group hash, codec
using Runs = std::map<CellKey, std::map<std::int64_t, RunFlows>>;  // by run id

Runs read_flows(Context& context) {
  const results::QueryResult rows = context.query("engine/traffic.sql");
  std::map<std::int64_t, bool> is_chosen;
  for (const Group& group : context.groups())
    for (const auto& [codec, cell] : group.cells) is_chosen[cell.id] = true;
  Runs runs;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const RowView row(rows, i);
    if (!is_chosen.contains(row.integer("cell_id"))) continue;
    RunFlows& run = runs[{row.text("group_hash"), row.text("codec")}][row.integer("run_id")];
    run.ranks = static_cast<int>(row.integer("tp"));
    run.flows.push_back({row.text("site"),
                         row.text("site_name"),
                         row.text("direction"),
                         row.text("collective"),
                         row.text("dtype"),
                         row.text("spec"),
                         row.number("raw_bytes").value_or(0),
                         row.number("payload_bytes").value_or(0),
                         row.number("metadata_bytes").value_or(0),
                         row.number("sent_bytes").value_or(0),
                         {}});
    for (const int p : kShownRanks)
      run.flows.back().sent_at[p] = row.number("sent_bytes_p" + std::to_string(p));
  }
  return runs;
}

/// Sites that some codec of the group compresses.
std::map<std::string, std::set<std::pair<std::string, std::string>>> compared_sites(
    const Runs& runs) {
  std::map<std::string, std::set<std::pair<std::string, std::string>>> sites;
  for (const auto& [key, by_run] : runs)
    for (const auto& [id, run] : by_run)
      for (const Flow& flow : run.flows)
        if (flow.spec != "none") sites[key.first].insert(flow.site_key());
  return sites;
}

double item_bytes(const std::string& dtype) {
  return dtype == "float16" || dtype == "bfloat16" ? 2 : 4;
}

/// The second round of a two-step sum: an all-gather beside an all-to-all of the same spec.
bool is_second_step(const RunFlows& run, const Flow& flow) {
  return flow.collective == "all_gather" &&
         std::any_of(run.flows.begin(), run.flows.end(), [&](const Flow& other) {
           return other.collective == "all_to_all" && other.site_key() == flow.site_key() &&
                  other.direction == flow.direction && other.spec == flow.spec;
         });
}

void add_flow(TrafficSummary& summary, const RunFlows& run, const Flow& flow) {
  const bool is_second = is_second_step(run, flow);
  summary.raw += flow.raw;
  summary.sent += flow.sent;
  // The payload of a message is that of its first round. Older runs recorded the second's too.
  if (!is_second) {
    summary.payload += flow.payload;
    summary.metadata += flow.metadata;
  }
  const double base = is_second ? flow.sent / (run.ranks - 1) : flow.payload;
  for (const int p : kShownRanks) {
    const double formula = sent_bytes(flow.collective, base, p, run.ranks, is_second);
    summary.sent_at[p] += p == run.ranks ? flow.sent : flow.sent_at.at(p).value_or(formula);
    summary.reference_at[p] +=
        sent_bytes("all_reduce", flow.raw / item_bytes(flow.dtype) * 2, p, run.ranks, false);
  }
  const double here = sent_bytes(flow.collective, base, run.ranks, run.ranks, is_second);
  if (here > 0)
    summary.formula_gap = std::max(summary.formula_gap, std::fabs(flow.sent - here) / here);
}

}  // namespace

double sent_bytes(const std::string& collective, double payload_bytes, int ranks,
                  int measured_ranks, bool second_of_two_steps) {
  if (collective.starts_with("node.") || collective.starts_with("nodes."))
    return std::numeric_limits<double>::quiet_NaN();
  if (collective == "all_reduce") return all_reduce_wire_bytes(payload_bytes, ranks);
  if (collective == "all_to_all") return all_to_all_wire_bytes(payload_bytes, ranks);
  if (collective == "all_gather")
    return all_gather_wire_bytes(
        second_of_two_steps ? payload_bytes * measured_ranks / ranks : payload_bytes, ranks);
  return payload_bytes;  // a send
}

std::map<CellKey, TrafficSummary> traffic_summaries(Context& context) {
  const Runs runs = read_flows(context);
  const auto sites = compared_sites(runs);
  std::map<CellKey, TrafficSummary> summaries;
  for (const auto& [key, by_run] : runs) {
    TrafficSummary sum;
    std::vector<double> payloads;
    const auto compared = sites.find(key.first);
    for (const auto& [id, run] : by_run) {
      const double before = sum.payload;
      for (const Flow& flow : run.flows) {
        sum.sent_everywhere += flow.sent;
        if (compared == sites.end() || compared->second.contains(flow.site_key()))
          add_flow(sum, run, flow);
      }
      sum.ranks = run.ranks;
      payloads.push_back(sum.payload - before);
    }
    sum.n = static_cast<std::int64_t>(by_run.size());
    const auto n = static_cast<double>(sum.n);
    for (double* total : {&sum.raw, &sum.payload, &sum.metadata, &sum.sent, &sum.sent_everywhere})
      *total /= n;
    for (auto* by_ranks : {&sum.sent_at, &sum.reference_at})
      for (auto& [p, total] : *by_ranks) total /= n;
    sum.payload_deviation = results::deviation_of(payloads);
    summaries[key] = sum;
  }
  return summaries;
}

}  // namespace tersor::reports

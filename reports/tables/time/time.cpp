// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "reports/engine/numbers.hpp"
#include "reports/engine/pivot.hpp"
#include "reports/engine/registry.hpp"

namespace tersor::reports {
namespace {

struct Time {
  double step_ms = 0;
  std::optional<double> sd;
  std::int64_t n = 0;
  std::optional<double> samples_per_second;
  double relative_iqr = 0;  ///< quartile distance of a run's steps / median, mean over runs
};
using Times = std::map<std::int64_t, Time>;

Times read_times(const results::QueryResult& rows) {
  Times times;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const RowView row(rows, i);
    if (const auto mean = row.number("step_ms_mean"))
      times[row.integer("cell_id")] = {*mean, row.number("step_ms_sd"), row.integer("n"),
                                       row.number("samples_per_second"),
                                       row.number("relative_iqr").value_or(0)};
  }
  return times;
}

/// Two pinned ranks on a quiet machine stay below a third of it.
constexpr double kQuiet = 0.15;

/// The machine did something else beside the run: its steps, or its seeds, are far apart.
bool is_noisy(const Time& time) {
  return time.relative_iqr > kQuiet || time.sd.value_or(0) > kQuiet * time.step_ms;
}

/// How many times faster than `base`: above 1 is faster.
Cell speed_up(const Times& times, const CellInfo* base, const Time& time) {
  if (!base || !times.contains(base->id)) return {"\xe2\x80\x93", "", Tone::kPlain};
  const Time& other = times.at(base->id);
  Cell cell{fixed(other.step_ms / time.step_ms, 2) + "\xc3\x97", "", Tone::kPlain};
  if (&other != &time && (is_noisy(time) || is_noisy(other))) {
    cell.tone = Tone::kWarning;
    cell.note = "not quiet";
  }
  return cell;
}

std::optional<Paragraph> noise_warning(Context& context, const Times& times) {
  std::string list;
  for (const Group& group : context.groups())
    for (const std::string& codec : context.codecs({&group})) {
      const auto time = times.find(group.cells.at(codec).id);
      if (time != times.end() && is_noisy(time->second))
        list +=
            (list.empty() ? "`" : ", `") + context.title(codec) + "` (" + group.short_label() + ")";
    }
  if (list.empty()) return std::nullopt;
  return Paragraph{"The machine was not quiet during " + list +
                       ": the middle half of a run's steps, or the deviation over seeds, is "
                       "more than " +
                       fixed(100 * kQuiet, 0) +
                       " % of the step. Ratios with these rows say nothing.",
                   true};
}

Section build(Context& context) {
  Section section;
  section.title = "Time per step";
  results::QueryResult rows = context.query("tables/time/query.sql");
  const Times times = read_times(rows);
  std::int64_t untimed = 0;
  for (const Panel& panel : context.panels()) {
    if (!panel.groups.front()->is_timed()) {
      for (const Group* group : panel.groups)
        for (const auto& [codec, cell] : group->cells) untimed += cell.ok > 0 ? 1 : 0;
      continue;
    }
    const auto columns = [&](const Group&) -> std::vector<Column> {
      return {{"step, ms", "", false},
              {"vs " + context.reference_name(), "", false},
              {"vs none", "", false},
              {"samples/s", "", false}};
    };
    const auto cells = [&](const Group& group,
                           const std::string& codec) -> std::optional<std::vector<Cell>> {
      const auto cell = group.cells.find(codec);
      if (cell == group.cells.end() || !times.contains(cell->second.id)) return std::nullopt;
      const Time& time = times.at(cell->second.id);
      const auto none = group.cells.find("none");
      const int decimals = time.step_ms < 100 ? 2 : 1;
      return std::vector<Cell>{
          {with_deviation(time.step_ms, time.sd, decimals),
           count_text(time.n) + ", IQR " + fixed(100 * time.relative_iqr, 0) + " %", Tone::kPlain},
          speed_up(times, context.reference_of(group), time),
          speed_up(times, none == group.cells.end() ? nullptr : &none->second, time),
          {time.samples_per_second ? significant(*time.samples_per_second) : "\xe2\x80\x93", "",
           Tone::kPlain}};
    };
    for (Table& table : pivot(context, panel, columns, cells)) {
      table.caption = "Training step: " + panel.label();
      section.blocks.emplace_back(table);
    }
  }
  if (!section.blocks.empty()) {
    if (const auto warning = noise_warning(context, times))
      section.blocks.insert(section.blocks.begin(), *warning);
    add_notes(section, {"A step counts as long as its slowest rank takes; a run is the median of "
                        "its steps without "
                        "first touch and without steps before compression starts. vs: how many "
                        "times faster, above "
                        "1 is faster. IQR: quartile distance of a run's steps, of the median.",
                        "Each run is a set of processes of its own: differences of a few percent "
                        "are placement and "
                        "clocks as well as codec."});
    section.files.push_back({"time.csv", std::move(rows)});
  }
  if (untimed > 0)
    section.blocks.emplace_back(
        Paragraph{std::to_string(untimed) + (untimed == 1 ? " cell is" : " cells are") +
                      " emulated or modelled: all shards share one process, so its times are no "
                      "throughput and are left out.",
                  false});
  return section;
}

const ItemRegistrar kTime({40, "time", build});

}  // namespace
}  // namespace tersor::reports

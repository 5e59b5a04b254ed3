// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "reports/engine/numbers.hpp"
#include "reports/engine/registry.hpp"
#include "reports/engine/traffic.hpp"
#include "reports/figures/accuracy_bytes/labels.hpp"

namespace tersor::reports {
namespace {

using nlohmann::ordered_json;

struct Point {
  std::string codec, title;
  double bytes = 0;
  double value = 0;  ///< times 100
  std::optional<double> sd;
  std::int64_t n = 0;
};

struct Series {
  std::string metric, inference;
  std::vector<Point> points;  ///< in the order of the tables
};

/// Mid tones, legible on white and on near black.
constexpr std::array<const char*, 8> kPalette{"#3b7dd8", "#d06a2c", "#2a9a70", "#b5539c",
                                              "#8468d6", "#ab841a", "#d04a5a", "#3f93a8"};
constexpr const char* kBaselineColor = "#7d8590";

struct Domain {
  double low = 0, high = 1;
};

Series read_series(Context& context, const Group& group, const results::QueryResult& rows,
                   const std::map<std::pair<std::string, std::string>, TrafficSummary>& traffic) {
  Series series;
  for (const std::string& codec : context.codecs({&group})) {
    const auto bytes = traffic.find({group.hash, codec});
    if (bytes == traffic.end() || bytes->second.sent <= 0) continue;
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
      const RowView row(rows, i);
      const auto mean = row.number("mean");
      if (row.integer("cell_id") != group.cells.at(codec).id || !mean || !std::isfinite(*mean))
        continue;
      Point point{codec, context.title(codec), bytes->second.sent, 100 * *mean,
                  {},    row.integer("n")};
      if (const auto sd = row.number("sd")) point.sd = 100 * *sd;
      series.metric = row.text("metric");
      series.inference = row.text("inference");
      series.points.push_back(point);
      break;  // the first row of a cell is the one with compression on, where there is one
    }
  }
  return series;
}

/// Bytes, logarithmic, with room for labels.
Domain bytes_domain(const std::vector<Point>& points) {
  double low = points.front().bytes;
  double high = low;
  for (const Point& p : points) {
    low = std::min(low, p.bytes);
    high = std::max(high, p.bytes);
  }
  const double room = std::pow(std::max(high / low, 4.0), 0.12);
  return {low / room, high * room * room};
}

Domain value_domain(const std::vector<Point>& points) {
  double low = points.front().value;
  double high = low;
  for (const Point& p : points) {
    low = std::min(low, p.value - p.sd.value_or(0));
    high = std::max(high, p.value + p.sd.value_or(0));
  }
  const double room = std::max(0.12 * (high - low), 0.5);
  return {low - room, high + room};
}

/// 1, 2 and 5 times powers of ten.
std::vector<double> ticks_of(const Domain& x) {
  std::vector<double> ticks;
  for (double decade = std::pow(10, std::floor(std::log10(x.low))); decade <= x.high; decade *= 10)
    for (const double tick : {decade, 2 * decade, 5 * decade})
      if (tick >= x.low && tick <= x.high) ticks.push_back(tick);
  return ticks;
}

/// Points that no other one beats in both: fewest bytes first.
ordered_json front_of(std::vector<Point> points) {
  std::stable_sort(points.begin(), points.end(),
                   [](const Point& a, const Point& b) { return a.bytes < b.bytes; });
  ordered_json front = ordered_json::array();
  double best = -1e300;
  for (const Point& p : points) {
    if (p.value <= best) continue;
    best = p.value;
    front.push_back({{"bytes", p.bytes}, {"value", p.value}});
  }
  return front;
}

std::string color_of(const Context& context, const std::string& codec,
                     std::map<std::string, std::size_t>& families) {
  if (context.is_baseline(codec)) return kBaselineColor;
  const std::string name = codec.substr(0, codec.find('('));
  const std::size_t index = families.emplace(name, families.size()).first->second;
  return kPalette[index % kPalette.size()];
}

const char* word(Side side) {
  switch (side) {
    case Side::kRight: return "right";
    case Side::kLeft: return "left";
    case Side::kMiddle: return "middle";
  }
  return "right";
}

ordered_json point_data(const Context& context, const Series& series, const Domain& x,
                        const Domain& y, double width, double height) {
  const double decades = std::log(x.high / x.low);
  std::vector<LabelledPoint> labelled;
  const auto pixel_x = [&](double bytes) { return std::log(bytes / x.low) / decades * width; };
  const auto pixel_y = [&](double value) { return (y.high - value) / (y.high - y.low) * height; };
  for (const Point& p : series.points) {
    LabelledPoint point;
    point.x = pixel_x(p.bytes);
    point.y = pixel_y(p.value);
    point.low_y = pixel_y(p.value - p.sd.value_or(0));
    point.high_y = pixel_y(p.value + p.sd.value_or(0));
    point.label = p.title;
    labelled.push_back(point);
  }
  std::vector<Rule> rules;
  for (const Point& p : series.points)
    if (p.codec == "none") rules.push_back({0, width, pixel_y(p.value)});
  const ordered_json front = front_of(series.points);
  for (std::size_t i = 0; i + 1 < front.size(); ++i)
    rules.push_back({pixel_x(front[i]["bytes"].get<double>()),
                     pixel_x(front[i + 1]["bytes"].get<double>()),
                     pixel_y(front[i]["value"].get<double>())});
  place_labels(labelled, rules, width, height);
  ordered_json data = ordered_json::array();
  std::map<std::string, std::size_t> families;
  for (std::size_t i = 0; i < labelled.size(); ++i) {
    const Point& p = series.points[i];
    const LabelledPoint& point = labelled[i];
    ordered_json datum{{"label", point.label},
                       {"bytes", p.bytes},
                       {"value", p.value},
                       {"n", p.n},
                       {"color", color_of(context, p.codec, families)},
                       {"shape", context.is_baseline(p.codec) ? "diamond" : "circle"},
                       {"label_x", x.low * std::exp(point.label_x / width * decades)},
                       {"label_y", y.high - point.label_y / height * (y.high - y.low)},
                       {"side", word(point.side)},
                       {"is_displaced", point.is_displaced}};
    datum["low"] = p.sd ? ordered_json(p.value - *p.sd) : ordered_json(nullptr);
    datum["high"] = p.sd ? ordered_json(p.value + *p.sd) : ordered_json(nullptr);
    data.push_back(datum);
  }
  return data;
}

ordered_json specification_of(const Context& context, const Series& series, const Group& group) {
  ordered_json spec = ordered_json::parse(embedded_file("figures/accuracy_bytes/layout.vl.json"));
  const Domain x = bytes_domain(series.points);
  const Domain y = value_domain(series.points);
  auto& data = spec["datasets"];
  data["points"] =
      point_data(context, series, x, y, spec["width"].get<double>(), spec["height"].get<double>());
  data["front"] = front_of(series.points);
  for (const Point& p : series.points)
    if (p.codec == "none") data["baseline"].push_back({{"value", p.value}});
  const std::string unit = series.metric == "accuracy" ? "accuracy, %" : series.metric + " x 100";
  for (ordered_json& layer : spec["layer"]) {
    auto& encoding = layer["encoding"];
    if (encoding.contains("x")) {
      encoding["x"]["scale"] = {{"type", "log"}, {"domain", {x.low, x.high}}, {"nice", false}};
      encoding["x"]["axis"] = {{"format", "~s"}, {"values", ticks_of(x)}};
      encoding["x"]["title"] = "bytes that a rank sends in a training step, compared sites, p = " +
                               std::to_string(group.tp);
    }
    if (encoding.contains("y")) {
      encoding["y"]["scale"] = {{"domain", {y.low, y.high}}, {"nice", false}, {"zero", false}};
      encoding["y"]["title"] = unit;
    }
  }
  return spec;
}

std::string caption_of(const Series& series) {
  std::int64_t least = series.points.front().n;
  std::int64_t most = least;
  for (const Point& p : series.points) {
    least = std::min(least, p.n);
    most = std::max(most, p.n);
  }
  const std::string n =
      least == most ? std::to_string(least) : std::to_string(least) + " to " + std::to_string(most);
  return "Last epoch, compression " + series.inference +
         " at inference; mean over seeds (n = " + n +
         (most > 1 ? "), bars are \xc2\xb1 one standard deviation" : ")") +
         ". Dashed: none. The stepped line joins the rows that no other beats in both. Left and up "
         "is "
         "better; Differences says which of them the seeds can decide.";
}

Section build(Context& context) {
  Section section;
  section.title = "Accuracy against bytes";
  const results::QueryResult rows = context.query("figures/accuracy_bytes/query.sql");
  const auto traffic = traffic_summaries(context);
  int number = 0;
  for (const Panel& panel : context.panels())
    for (const Group* group : panel.groups) {
      const Series series = read_series(context, *group, rows, traffic);
      if (series.points.size() < 2) continue;
      Figure figure;
      figure.id = "accuracy_bytes_" + std::to_string(++number);
      figure.title = "Quality against volume: " + panel.model + ", " + group->label();
      figure.caption = caption_of(series);
      figure.specification = specification_of(context, series, *group);
      section.blocks.emplace_back(figure);
    }
  return section;
}

const ItemRegistrar kAccuracyBytes({10, "accuracy_bytes", build});

}  // namespace
}  // namespace tersor::reports

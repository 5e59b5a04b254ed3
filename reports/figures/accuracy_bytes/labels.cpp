// SPDX-License-Identifier: Apache-2.0
#include "reports/figures/accuracy_bytes/labels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace tersor::reports {
namespace {

constexpr double kCharacterWidth = 6.6;  // of a 12 px sans-serif, generous
constexpr double kLineHeight = 15;
constexpr double kGap = 10;   // from a point's middle to its label
constexpr double kNear = 20;  // a label further above or below gets a leader line

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  double overlap(const Box& other) const {
    const double w = std::min(right, other.right) - std::max(left, other.left);
    const double h = std::min(bottom, other.bottom) - std::max(top, other.top);
    return w > 0 && h > 0 ? w * h : 0;
  }
};

struct Place {
  double x = 0, y = 0;
  Side side = Side::kRight;
};

Box box_of(const LabelledPoint& p, const Place& place) {
  const double width = kCharacterWidth * static_cast<double>(p.label.size());
  const auto& [x, y, side] = place;
  const double left = side == Side::kRight ? x : side == Side::kLeft ? x - width : x - width / 2;
  return {left, y - kLineHeight / 2, left + width, y + kLineHeight / 2};
}

Box marker_of(const LabelledPoint& p) {
  constexpr double kRadius = 6;
  return {p.x - kRadius, std::min(p.high_y, p.y - kRadius), p.x + kRadius,
          std::max(p.low_y, p.y + kRadius)};
}

double outside(const Box& box, double width, double height) {
  return std::max(0.0, -box.left) + std::max(0.0, box.right - width) + std::max(0.0, -box.top) +
         std::max(0.0, box.bottom - height);
}

/// From a box to a point; 0 inside.
double distance(const Box& box, const LabelledPoint& p) {
  const double dx = std::max({box.left - p.x, 0.0, p.x - box.right});
  const double dy = std::max({box.top - p.y, 0.0, p.y - box.bottom});
  return std::hypot(dx, dy);
}

std::vector<Place> places_of(const LabelledPoint& p) {
  std::vector<Place> places;
  for (const double dy : {0.0, -14.0, 14.0, -26.0, 26.0, -40.0, 40.0, -56.0, 56.0, -74.0, 74.0})
    for (const Side side : {Side::kRight, Side::kLeft}) {
      const double dx = std::fabs(dy) > kNear ? kGap + 4 : kGap;
      places.push_back({side == Side::kRight ? p.x + dx : p.x - dx, p.y + dy, side});
    }
  constexpr double kAbove = kLineHeight / 2 + kGap;
  for (const double y : {std::min(p.high_y, p.y) - kAbove, std::max(p.low_y, p.y) + kAbove})
    places.push_back({p.x, y, Side::kMiddle});
  return places;
}

class Chart {
 public:
  Chart(std::vector<LabelledPoint>& points, const std::vector<Rule>& rules, double width,
        double height)
      : points_(points), rules_(rules), width_(width), height_(height), boxes_(points.size()) {}

  void place(std::size_t i) {
    LabelledPoint& p = points_[i];
    double best = std::numeric_limits<double>::infinity();
    Box chosen;
    for (const Place& place : places_of(p)) {
      const Box box = box_of(p, place);
      const double cost =
          std::fabs(place.y - p.y) + (place.side == Side::kRight ? 0 : 1) + cost_of(box, i);
      if (cost >= best) continue;
      best = cost;
      chosen = box;
      p.label_x = place.x;
      p.label_y = place.y;
      p.side = place.side;
      p.is_displaced = place.side != Side::kMiddle && std::fabs(place.y - p.y) > kNear;
    }
    boxes_[i] = chosen;
  }

 private:
  double cost_of(const Box& box, std::size_t own) const {
    constexpr double kOutsideCost = 1000;
    constexpr double kMargin = 6;  // by which the own point is the nearest
    double cost = kOutsideCost * outside(box, width_, height_);
    const double near = distance(box, points_[own]);
    for (std::size_t i = 0; i < points_.size(); ++i) {
      cost += 10 * box.overlap(marker_of(points_[i]));
      if (i == own) continue;
      if (boxes_[i]) cost += 20 * box.overlap(*boxes_[i]);
      cost += 30 * std::max(0.0, near + kMargin - distance(box, points_[i]));
    }
    for (const Rule& rule : rules_)
      cost += 0.3 * box.overlap({rule.left, rule.y - 2, rule.right, rule.y + 2});
    return cost;
  }

  std::vector<LabelledPoint>& points_;
  const std::vector<Rule>& rules_;
  double width_, height_;
  std::vector<std::optional<Box>> boxes_;  ///< of the labels placed so far
};

}  // namespace

void place_labels(std::vector<LabelledPoint>& points, const std::vector<Rule>& rules, double width,
                  double height) {
  constexpr int kRounds = 3;  // the first label is placed before it knows the others
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return points[a].y < points[b].y; });
  Chart chart(points, rules, width, height);
  for (int round = 0; round < kRounds; ++round)
    for (const std::size_t i : order) chart.place(i);
}

}  // namespace tersor::reports

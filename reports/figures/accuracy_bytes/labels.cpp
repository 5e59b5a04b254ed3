// SPDX-License-Identifier: Apache-2.0
#include "reports/figures/accuracy_bytes/labels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace tersor::reports {
namespace {

constexpr double kCharacterWidth = 6.6;  // of a 12 px sans-serif, generous
constexpr double kLineHeight = 15;
constexpr double kGap = 10;  // from a point's middle to its label

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  double overlap(const Box& other) const {
    const double w = std::min(right, other.right) - std::max(left, other.left);
    const double h = std::min(bottom, other.bottom) - std::max(top, other.top);
    return w > 0 && h > 0 ? w * h : 0;
  }
};

Box box_of(const LabelledPoint& p, double x, double y, bool is_right) {
  const double width = kCharacterWidth * static_cast<double>(p.label.size());
  const double left = is_right ? x : x - width;
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

}  // namespace

void place_labels(std::vector<LabelledPoint>& points, const std::vector<Rule>& rules, double width,
                  double height) {
  constexpr double kOutsideCost = 1000;
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return points[a].y < points[b].y; });
  std::vector<Box> taken;
  for (const std::size_t i : order) {
    LabelledPoint& p = points[i];
    double best = std::numeric_limits<double>::infinity();
    Box chosen;
    for (const double dy : {0.0, -14.0, 14.0, -26.0, 26.0, -40.0, 40.0, -56.0, 56.0, -74.0, 74.0})
      for (const bool is_right : {true, false}) {
        const double dx = std::fabs(dy) > 20 ? kGap + 4 : kGap;
        const double x = p.x + (is_right ? dx : -dx);
        const Box box = box_of(p, x, p.y + dy, is_right);
        double cost =
            std::fabs(dy) + (is_right ? 0 : 1) + kOutsideCost * outside(box, width, height);
        for (const Box& other : taken) cost += 20 * box.overlap(other);
        for (const LabelledPoint& other : points) cost += 10 * box.overlap(marker_of(other));
        for (const Rule& rule : rules)
          cost += 0.3 * box.overlap({rule.left, rule.y - 2, rule.right, rule.y + 2});
        if (cost >= best) continue;
        best = cost;
        chosen = box;
        p.label_x = x;
        p.label_y = p.y + dy;
        p.is_right = is_right;
        p.is_displaced = std::fabs(dy) > 20;
      }
    taken.push_back(chosen);
  }
}

}  // namespace tersor::reports

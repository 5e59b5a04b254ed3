// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace tersor::reports {

/// Where a label is from its point: beside it, or in the middle above or below.
enum class Side { kRight, kLeft, kMiddle };

/// A point of a chart in pixels from its upper left corner, and where its label goes.
struct LabelledPoint {
  double x = 0, y = 0;
  double low_y = 0, high_y = 0;  ///< ends of the error bar (equal to y: none)
  std::string label;
  // Filled in:
  double label_x = 0, label_y = 0;  ///< of the text's left end, right end or middle, by `side`
  Side side = Side::kRight;
  bool is_displaced = false;  ///< far enough for a leader line
};

/// A horizontal line that labels avoid where they can.
struct Rule {
  double left = 0, right = 0, y = 0;
};

/// Places each label near its point, nearer to it than to any other, so that labels overlap neither
/// each other nor points and error bars, inside a chart of this size. Deterministic.
void place_labels(std::vector<LabelledPoint>& points, const std::vector<Rule>& rules, double width,
                  double height);

}  // namespace tersor::reports

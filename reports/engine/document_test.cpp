// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>

#include "reports/engine/document.hpp"
#include "reports/engine/numbers.hpp"
#include "reports/figures/accuracy_bytes/labels.hpp"

namespace tersor::reports {
namespace {

using Catch::Contains;

TEST_CASE("labels keep apart from each other and inside the chart") {
  std::vector<LabelledPoint> points;
  for (int i = 0; i < 6; ++i) {
    LabelledPoint point;
    point.x = 390 + i;
    point.y = point.low_y = point.high_y = 100 + 3 * i;
    point.label = "quantize(bits=" + std::to_string(i) + ")";
    points.push_back(point);
  }
  place_labels(points, {{0, 500, 100}}, 500, 300);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double width = 6.6 * static_cast<double>(points[i].label.size());
    CHECK((points[i].is_right ? points[i].label_x + width : points[i].label_x) <= 500);
    CHECK((points[i].is_right ? points[i].label_x : points[i].label_x - width) >= 0);
    for (std::size_t k = 0; k < i; ++k)
      if (points[i].is_right == points[k].is_right)
        CHECK(std::abs(points[i].label_y - points[k].label_y) >= 10);
  }
}

TEST_CASE("numbers for people") {
  CHECK(fixed(-0.04, 1) == "0.0");
  CHECK(fixed(-1.25, 1) ==
        "\xe2\x88\x92"
        "1.2");
  CHECK(with_sign(0.5, 1) == "+0.5");
  CHECK(with_sign(0.001, 1) == "0.0");
  CHECK(with_deviation(81.33, 0.76, 1) == "81.3 \xc2\xb1 0.8");
  CHECK(with_deviation(81.33, std::nullopt, 1) == "81.3");
  CHECK(significant(12345) == "12345");
  CHECK(significant(1.23456) == "1.23");
  CHECK(significant(0.00123456) == "0.00123");
  CHECK(significant(1e-9) == "1e-09");
  CHECK(byte_unit(1.5e6).text(1'500'000) == "1500");
  CHECK(byte_unit(1.5e8).text(1.5e8) == "150");
  CHECK(std::string(byte_unit(5000).name) == "B");
}

TEST_CASE("escaping in HTML and Markdown") {
  Document document;
  document.title = "<b>";
  Section section;
  section.title = "T";
  Table table;
  table.columns = {{"codec", "", true}, {"a|b", "", false}};
  table.rows = {
      {{{"x<y&\"z\"", "", Tone::kPlain}, {"`code` * 1 | 2", "n_1", Tone::kPlain}}, false}};
  section.blocks.emplace_back(table);
  document.sections.push_back(section);
  const std::string page = to_html(document);
  CHECK_THAT(page, Contains("<th scope=\"row\">x&lt;y&amp;&quot;z&quot;</th>") &&
                       Contains("<td><code>code</code> * 1 | 2<small>n_1</small></td>") &&
                       Contains("<title>&lt;b&gt;</title>"));
  CHECK_THAT(to_markdown(document), Contains("| `x<y&\"z\"` | `code` \\* 1 \\| 2 (n\\_1) |") &&
                                        Contains("| codec | a\\|b |"));
}

}  // namespace
}  // namespace tersor::reports

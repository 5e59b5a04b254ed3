// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "reports/engine/document.hpp"
#include "reports/engine/numbers.hpp"
#include "reports/figures/accuracy_bytes/labels.hpp"

namespace tersor::reports {
namespace {

using Catch::Contains;

struct LabelBox {
  double left = 0, right = 0, top = 0, bottom = 0;
  explicit LabelBox(const LabelledPoint& p) {
    const double width = 6.6 * static_cast<double>(p.label.size());
    left = p.label_x - (p.side == Side::kLeft ? width : p.side == Side::kMiddle ? width / 2 : 0);
    right = left + width;
    top = p.label_y - 7.5;
    bottom = p.label_y + 7.5;
  }
  double distance(const LabelledPoint& p) const {
    return std::hypot(std::max({left - p.x, 0.0, p.x - right}),
                      std::max({top - p.y, 0.0, p.y - bottom}));
  }
};

LabelledPoint labelled(double x, double y, const std::string& label, double bar = 0) {
  LabelledPoint point;
  point.x = x;
  point.y = y;
  point.low_y = y + bar;
  point.high_y = y - bar;
  point.label = label;
  return point;
}

TEST_CASE("labels keep apart from each other and inside the chart") {
  std::vector<LabelledPoint> points;
  for (int i = 0; i < 6; ++i)
    points.push_back(labelled(390 + i, 100 + 3 * i, "quantize(bits=" + std::to_string(i) + ")"));
  place_labels(points, {{0, 500, 100}}, 500, 300);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const LabelBox box(points[i]);
    CHECK(box.right <= 500);
    CHECK(box.left >= 0);
    for (std::size_t k = 0; k < i; ++k) {
      const LabelBox other(points[k]);
      const bool is_apart = box.right <= other.left || other.right <= box.left ||
                            box.bottom <= other.top + 5 || other.bottom <= box.top + 5;
      CHECK(is_apart);
    }
  }
}

TEST_CASE("a label stands nearer to its point than to any other") {
  // Quickstart's points in pixels: four of them almost on the line of `none`.
  std::vector<LabelledPoint> points{labelled(625, 40, "none"),
                                    labelled(536, 40, "cast(format=bf16)"),
                                    labelled(448, 40, "quantize(bits=8)"),
                                    labelled(272, 38, "quantize(bits=2)"),
                                    labelled(66, 361, "topk(ratio=0.01)"),
                                    labelled(330, 354, "randk(ratio=0.1)"),
                                    labelled(359, 38, "autoencoder(dim=8)")};
  const auto check = [&] {
    place_labels(points, {{0, 760, 40}, {66, 272, 361}}, 760, 400);
    for (std::size_t i = 0; i < points.size(); ++i)
      for (std::size_t k = 0; k < points.size(); ++k) {
        INFO(points[i].label << " beside " << points[k].label);
        if (i != k)
          CHECK(LabelBox(points[i]).distance(points[k]) > LabelBox(points[i]).distance(points[i]));
      }
  };
  check();
  for (LabelledPoint& point : points) {
    point.low_y = point.y + 30;
    point.high_y = point.y - 30;
  }
  check();
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

TEST_CASE("no text becomes markup, wherever it is in the page") {
  const std::string bad = "<script>alert(1)</script> & '\"";
  Document document{bad, bad, {}, {bad}};
  Table table;
  table.caption = bad;
  table.columns = {{bad, "", true}, {bad, bad, true}, {bad, bad, false}};
  table.rows = {{{{bad, bad, Tone::kPlain},
                  {"`" + bad + "`", bad, Tone::kWarning},
                  {bad, "", Tone::kMissing}},
                 true}};
  table.notes = {bad};
  Figure figure;
  figure.id = figure.title = figure.caption = bad;
  document.sections = {{bad, bad, {Paragraph{bad, true}, table, figure}, {{bad, {}}}}};
  const std::string page = to_html(document);
  CHECK_THAT(page, !Contains("<script") && !Contains("& '"));
  std::size_t count = 0;
  for (auto at = page.find("&lt;script&gt;"); at != std::string::npos;
       at = page.find("&lt;script&gt;", at + 1))
    ++count;
  // Title and heading; subtitle; id, link and heading of the section; paragraph; caption, 2 groups
  // as one and 3 columns; row, 2 texts and a note; table's note; figure's id twice, title and
  // caption; file's name twice; footer.
  CHECK(count == 2 + 1 + 4 + 1 + 5 + 4 + 1 + 4 + 2 + 1);
}

TEST_CASE("the page of a small document is golden") {
  Table table;
  table.columns = {{"codec", "", true}, {"ms", "step", false}, {"ms", "rest", false}};
  table.rows = {
      {{{"none", "", Tone::kPlain}, {"1", "n = 2", Tone::kPlain}, {"2 `x`", "", Tone::kWarning}},
       true},
      {{{"cast", "", Tone::kPlain}, {"not run", "", Tone::kMissing}, {"", "", Tone::kMissing}},
       false}};
  const Document document{
      "T", "S", {{"time", "Time", {Paragraph{"p", false}, table}, {{"time.csv", {}}}}}, {"F"}};
  const std::string page = to_html(document);
  CHECK(page.substr(page.find("<body>")) ==
        "<body>\n<main>\n<h1>T</h1>\n<p class=\"subtitle\">S</p>\n<nav aria-label=\"Contents\">\n"
        "<a href=\"#time\">Time</a>\n</nav>\n<section id=\"time\">\n<h2>Time</h2>\n<p>p</p>\n"
        "<figure class=\"table\">\n<table>\n<thead>\n"
        "<tr><th colspan=\"1\"></th><th colspan=\"1\" class=\"span\">step</th>"
        "<th colspan=\"1\" class=\"span\">rest</th></tr>\n"
        "<tr><th scope=\"col\" class=\"text\">codec</th><th scope=\"col\" "
        "class=\"first-of-group\">ms</th>"
        "<th scope=\"col\" class=\"first-of-group\">ms</th></tr>\n</thead>\n<tbody>\n"
        "<tr class=\"reference\"><th scope=\"row\">none</th><td class=\"first-of-group\">1<small>n "
        "= 2</small></td>"
        "<td class=\"warning first-of-group\">2 <code>x</code></td></tr>\n"
        "<tr><th scope=\"row\">cast</th><td class=\"missing first-of-group\">not run</td>"
        "<td class=\"missing first-of-group\"></td></tr>\n</tbody>\n</table>\n</figure>\n"
        "<p><a href=\"time.csv\">time.csv</a>: the numbers at full precision</p>\n</section>\n"
        "<footer>\n<p>F</p>\n</footer>\n</main>\n</body>\n</html>\n");
}

}  // namespace
}  // namespace tersor::reports

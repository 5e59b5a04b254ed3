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

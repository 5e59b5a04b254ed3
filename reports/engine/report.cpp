// SPDX-License-Identifier: Apache-2.0
#include "reports/engine/report.hpp"

#include <algorithm>
#include <span>
#include <sstream>

#include "common/error.hpp"
#include "common/files.hpp"
#include "reports/engine/context.hpp"
#include "reports/engine/draw.hpp"
#include "reports/engine/registry.hpp"
#include "results/query/format.hpp"

namespace tersor::reports {
namespace {

namespace fs = std::filesystem;

void make_folder(const fs::path& folder) {
  std::error_code code;
  if (fs::exists(folder, code) && !fs::is_directory(folder, code))
    throw Error(ErrorKind::kIo, folder.string() + ": is a file; --out names a folder");
  fs::create_directories(folder, code);
  if (code) throw Error(ErrorKind::kIo, folder.string() + ": cannot be made: " + code.message());
}

std::string plural(std::int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string subtitle_of(Context& context) {
  const results::QueryResult counts = context.query("engine/counts.sql");
  const RowView row(counts, 0);
  std::string text = plural(row.integer("cells"), "cell") + ", " +
                     plural(row.integer("runs"), "run") + " of a cell and seed, " +
                     std::to_string(row.integer("ok")) + " ok";
  if (row.integer("runs") > row.integer("ok")) text += " (the others: see Runs)";
  text +=
      ". Values are means over seeds, \xc2\xb1 is the standard deviation over seeds, n the "
      "number of seeds. Compare rows of one table; ratios are against " +
      context.reference_title() + ".";
  return text;
}

std::vector<std::string> footer_of(Context& context, const ReportOptions& options) {
  const std::string name = options.database.filename().string();
  std::vector<std::string> lines{"Made from " + name + " by `tersor report --db " + name +
                                 " --out " + options.folder.filename().string() +
                                 "`; every number can be asked for with `tersor query`."};
  const results::QueryResult code = context.query("engine/code.sql");
  for (std::size_t i = 0; i < code.rows.size(); ++i) {
    const RowView row(code, i);
    const std::string sha = row.text("git_sha");
    lines.push_back("Code: tersor " + row.text("version") +
                    (sha.empty() ? ", commit unknown" : ", commit `" + sha + "`") +
                    (row.text("diff_hash").empty() ? "" : " with uncommitted changes") + " (" +
                    plural(row.integer("runs"), "run") + ").");
  }
  return lines;
}

Document make_document(Context& context, const ReportOptions& options) {
  Document document;
  document.title = options.title;
  document.subtitle = subtitle_of(context);
  for (const Item& item : items()) {
    Section section = item.build(context);
    if (section.blocks.empty() && section.files.empty()) continue;
    section.id = item.name;
    document.sections.push_back(std::move(section));
  }
  document.footer = footer_of(context, options);
  make_printable(document);
  return document;
}

std::vector<Figure*> figures_of(Document& document) {
  std::vector<Figure*> figures;
  for (Section& section : document.sections)
    for (Block& block : section.blocks)
      if (auto* figure = std::get_if<Figure>(&block)) figures.push_back(figure);
  return figures;
}

/// In the page a figure takes the page's text colour; a separate file gets one that is legible on
/// white and on near black.
std::string standalone(std::string svg) {
  constexpr std::string_view kInherited = "currentColor";
  constexpr std::string_view kMiddle = "#6e7781";
  for (auto at = svg.find(kInherited); at != std::string::npos; at = svg.find(kInherited, at))
    svg.replace(at, kInherited.size(), kMiddle);
  return svg;
}

class Writer {
 public:
  Writer(fs::path folder, ReportResult& result) : folder_(std::move(folder)), result_(result) {}

  void write(const std::string& name, const std::string& text) {
    write_file(folder_ / name, std::as_bytes(std::span(text)));
    result_.files.push_back(name);
  }

 private:
  fs::path folder_;
  ReportResult& result_;
};

}  // namespace

ReportResult write_report(const ReportOptions& options) {
  results::Reader reader(options.database);
  Context context(reader);
  Document document = make_document(context, options);
  make_folder(options.folder);
  ReportResult result;
  const std::vector<Figure*> figures = figures_of(document);
  if (const std::string why = draw(figures); !why.empty())
    result.notices.push_back("figures are not drawn: " + why);
  for (const std::string& notice : result.notices)
    document.sections.front().blocks.insert(document.sections.front().blocks.begin(),
                                            Paragraph{printable_line(notice), true});
  Writer writer(options.folder, result);
  for (const Figure* figure : figures_of(document)) {
    writer.write(figure->id + ".vl.json", figure->specification.dump(1) + "\n");
    if (figure->svg) writer.write(figure->id + ".svg", standalone(*figure->svg) + "\n");
  }
  for (const Section& section : document.sections)
    for (const CsvFile& file : section.files) {
      std::ostringstream text;
      results::write_result(text, file.content, results::Format::kCsv);
      writer.write(file.name, text.str());
    }
  writer.write("report.md", to_markdown(document));
  writer.write("index.html", to_html(document));
  return result;
}

}  // namespace tersor::reports

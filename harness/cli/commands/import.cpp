// SPDX-License-Identifier: Apache-2.0
#include "results/ingest/import.hpp"
#include "common/standard_output.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "harness/cli/command.hpp"

namespace tersor::harness {
namespace {

struct ImportCommand {
  std::vector<std::string> files;
  std::string db;

  void run() const {
    for (const std::string& file : files) {
      const results::ImportResult result = results::import_file(db, file);
      const std::string fits = result.fits == 0
                                   ? ""
                                   : "; left out: " + std::to_string(result.fits) +
                                         " fits of complexity, which are no measurements";
      print_text("%s: %s, %lld cases: %lld ok, %lld failed, %lld skipped%s%s\n", file.c_str(),
                 result.kind.c_str(), static_cast<long long>(result.cases),
                 static_cast<long long>(result.ok), static_cast<long long>(result.failed),
                 static_cast<long long>(result.skipped), fits.c_str(),
                 result.was_there ? "; it was imported before" : "");
    }
  }
};

const CommandRegistrar kImport(65, "import", [](CLI::App& app) {
  auto command = std::make_shared<ImportCommand>();
  CLI::App* import =
      app.add_subcommand("import", "Store measurements of codecs alone in a results database");
  import
      ->add_option(
          "files", command->files,
          "JSON of scripts/gpu-check or of tersor-bench (docs/imported-files.md); -: standard "
          "input")
      ->required()
      ->check(refuse_empty)
      ->transform(input_path);
  import->add_option("--db", command->db, "results database; created where there is none")
      ->required()
      ->check(refuse_empty);
  import->footer(
      "The same file is stored once. Rows: table imported_case, view v_imported.\n"
      "Examples:\n"
      "  tersor-bench --benchmark_out=bench.json --benchmark_out_format=json\n"
      "  tersor import bench.json --db results.db\n"
      "  tersor query \"SELECT spec, median FROM v_imported WHERE quantity = 'memcpy_ratio'\" --db "
      "results.db");
  import->callback([command] { command->run();
});
});

}  // namespace
}  // namespace tersor::harness

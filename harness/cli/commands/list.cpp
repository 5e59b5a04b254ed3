// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "common/standard_output.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/tools/listing.hpp"
#include "harness/cli/command.hpp"
#include "protocol/field_listing.hpp"

namespace tersor::harness {
namespace {

using nlohmann::ordered_json;

void print_codecs() {
  for (const auto& [name, info] : compressors::registered_codecs()) {
    print_text("%s\n    %s\n    source: %s\n", compressors::signature(info).c_str(),
               info.summary.c_str(), info.source.c_str());
    if (!info.plugin.empty()) print_text("    prototype: from %s\n", info.plugin.c_str());
    for (const compressors::Parameter& p : info.parameters)
      print_text("    %-10s %-32s %s\n", p.name.c_str(), compressors::values_of(p).c_str(),
                 p.meaning.c_str());
    print_text("\n");
  }
  for (const auto& [name, preset] : compressors::registered_presets())
    print_text("%s = %s\n    %s\n", name.c_str(), preset.spec.c_str(), preset.meaning.c_str());
}

/// Presets; those that depend on the message are written out for one where it is given.
struct PresetsCommand {
  std::vector<std::int64_t> dims;
  std::string dtype = "float32";
  bool as_json = false;

  std::string spec_of(const std::string& name, const compressors::Preset& preset) const {
    if (dims.empty() && preset.spec_for) return preset.spec;
    const Shape shape = dims.empty() ? Shape{} : Shape{dims[0], dims[1], dims[2]};
    return compressors::canonical_spec(
        compressors::expand_presets(name, shape, parse_dtype(dtype)));
  }

  void run() const {
    if (!dims.empty() && *std::min_element(dims.begin(), dims.end()) < 1)
      throw Error(ErrorKind::kUsage, "--shape: sizes must be at least 1");
    ordered_json rows = ordered_json::array();
    for (const auto& [name, preset] : compressors::registered_presets())
      rows.push_back({{"name", name},
                      {"spec", spec_of(name, preset)},
                      {"depends_on_message", bool(preset.spec_for)},
                      {"meaning", preset.meaning},
                      {"source", preset.source}});
    if (as_json) {
      print_json(rows);
      return;
    }
    for (const auto& row : rows)
      print_text("%-14s %s\n%14s %s (%s)\n", row["name"].get<std::string>().c_str(),
                 row["spec"].get<std::string>().c_str(), "",
                 row["meaning"].get<std::string>().c_str(),
                 row["source"].get<std::string>().c_str());
  }
};

void setup_presets(CLI::App& list) {
  auto command = std::make_shared<PresetsCommand>();
  CLI::App* app = list.add_subcommand("presets", "Names that stand for specs, such as T1");
  app->add_option("--shape", command->dims, "samples,tokens,hidden of the message")
      ->delimiter(',')
      ->expected(3);
  app->add_option("--dtype", command->dtype, "float32, float16 or bfloat16");
  app->add_flag("--json", command->as_json, "JSON");
  app->footer(
      "Without --shape, presets that depend on the message show their rule.\n"
      "Example:\n"
      "  tersor list presets --shape 8,128,1024 --dtype float16");
  app->callback([command] { command->run(); });
}

void setup_fields(CLI::App& list) {
  CLI::App* app = list.add_subcommand(
      "fields", "Fields of a cell: what a matrix file sets, and what --filter names");
  auto make = std::make_shared<std::string (*)()>(protocol::fields_text);
  app->add_flag_callback(
      "--markdown", [make] { *make = protocol::fields_page; }, "docs/cell-fields.md");
  app->add_flag_callback(
      "--json", [make] { *make = [] { return protocol::fields_json().dump(2) + "\n"; }; }, "JSON");
  app->footer(
      "Example:\n"
      "  tersor list fields --json | jq '.[].field'");
  app->callback([make] { print_text("%s", (*make)().c_str()); });
}

const CommandRegistrar registrar(70, "list", [](CLI::App& root) {
  CLI::App* list = root.add_subcommand("list", "List what this build has");
  list->require_subcommand(1);
  CLI::App* codecs = list->add_subcommand("codecs", "Codecs, parameters, presets");
  setup_presets(*list);
  setup_fields(*list);
  auto format = std::make_shared<std::string>("text");
  codecs->add_flag_callback(
      "--markdown", [format] { *format = "markdown"; }, "a Markdown table");
  codecs->add_flag_callback(
      "--json", [format] { *format = "json"; }, "JSON, with properties");
  codecs->footer(
      "Examples:\n"
      "  tersor list codecs\n"
      "  tersor list codecs --json | jq '.codecs[].signature'");
  list->footer(
      "Example:\n"
      "  tersor list codecs");
  codecs->callback([format] {
    if (*format == "json")
      print_json(compressors::list_codecs());
    else if (*format == "markdown")
      print_text("%s", compressors::markdown_table().c_str());
    else
      print_codecs();
  });
});

}  // namespace
}  // namespace tersor::harness

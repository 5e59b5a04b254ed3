// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "common/number.hpp"
#include "compressors/api/registry.hpp"
#include "harness/cli/command.hpp"

namespace tersor::harness {
namespace {

using compressors::CodecInfo;
using compressors::Parameter;
using nlohmann::ordered_json;

/// What a parameter takes: "1..8", "(0, 1]", "nearest|stochastic", "a codec".
std::string values_of(const Parameter& p) {
  if (p.kind == Parameter::Kind::kCodec) {
    std::string text = "a codec";
    for (const std::string& word : p.choices) text += "|" + word;
    return text;
  }
  if (!p.choices.empty()) {
    std::string text;
    for (const std::string& word : p.choices) text += (text.empty() ? "" : "|") + word;
    return text;
  }
  const std::string low = format_number(p.low);
  const std::string high = format_number(p.high);
  if (p.kind == Parameter::Kind::kReal)
    return (p.low_is_open ? "(" : "[") + low + ", " + high + "]";
  return low + ".." + high;
}

std::string signature(const CodecInfo& info) {
  std::string inside;
  for (const Parameter& p : info.parameters) {
    if (!inside.empty()) inside += ", ";
    if (p.kind == Parameter::Kind::kCodec && !p.default_text)
      inside += p.name == "codec" ? "C" : p.name;
    else
      inside += p.name + "=" + p.default_text.value_or("");
  }
  return inside.empty() ? info.name : info.name + "(" + inside + ")";
}

/// A spec of this codec that builds: its defaults, else its first example.
std::string buildable(const CodecInfo& info) {
  const bool has_defaults =
      std::all_of(info.parameters.begin(), info.parameters.end(),
                  [](const Parameter& p) { return p.default_text || p.is_optional; });
  if (has_defaults) return info.name;
  return info.examples.empty() ? "" : info.examples.front();
}

ordered_json parameter_json(const Parameter& p) {
  constexpr const char* kKinds[] = {"integer", "real", "choice", "boolean", "codec"};
  ordered_json json{{"name", p.name}, {"kind", kKinds[static_cast<int>(p.kind)]}};
  json["default"] = p.default_text ? ordered_json(*p.default_text) : ordered_json(nullptr);
  json["required"] = !p.default_text && !p.is_optional;
  json["values"] = values_of(p);
  json["meaning"] = p.meaning;
  return json;
}

ordered_json codec_json(const CodecInfo& info) {
  ordered_json json{
      {"name", info.name},       {"version", info.version}, {"signature", signature(info)},
      {"summary", info.summary}, {"source", info.source},   {"outermost", info.is_outermost}};
  json["parameters"] = ordered_json::array();
  for (const Parameter& p : info.parameters) json["parameters"].push_back(parameter_json(p));
  json["examples"] = info.examples;
  if (const std::string spec = buildable(info); !spec.empty())
    json["properties"] = compressors::describe(*compressors::make_codec(spec)).at("properties");
  return json;
}

std::string crossing(const CodecInfo& info) {
  const std::string spec = buildable(info);
  if (spec.empty()) return "";
  std::string text;
  for (const auto& word :
       compressors::describe(*compressors::make_codec(spec)).at("properties").at("exchange"))
    text += (text.empty() ? "" : ", ") + word.get<std::string>();
  return text;
}

void print_json() {
  ordered_json codecs = ordered_json::array();
  for (const auto& [name, info] : compressors::registered_codecs())
    codecs.push_back(codec_json(info));
  ordered_json presets = ordered_json::array();
  for (const auto& [name, preset] : compressors::registered_presets())
    presets.push_back({{"name", name}, {"spec", preset.spec}, {"meaning", preset.meaning}});
  std::printf("%s\n", ordered_json{{"codecs", codecs}, {"presets", presets}}.dump(2).c_str());
}

std::string escaped(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, 1, '\\');
  return text;
}

void print_markdown() {
  std::printf(
      "| codec (defaults) | what it does | crosses by | source |\n| --- | --- | --- | --- |\n");
  for (const auto& [name, info] : compressors::registered_codecs())
    std::printf("| `%s` | %s | %s | %s |\n", escaped(signature(info)).c_str(),
                escaped(info.summary).c_str(), crossing(info).c_str(),
                escaped(info.source).c_str());
  for (const auto& [name, preset] : compressors::registered_presets())
    std::printf("| `%s` = `%s` | %s | | preset |\n", name.c_str(), escaped(preset.spec).c_str(),
                escaped(preset.meaning).c_str());
}

void print_text() {
  for (const auto& [name, info] : compressors::registered_codecs()) {
    std::printf("%s\n    %s\n    source: %s\n", signature(info).c_str(), info.summary.c_str(),
                info.source.c_str());
    for (const Parameter& p : info.parameters)
      std::printf("    %-10s %-32s %s\n", p.name.c_str(), values_of(p).c_str(), p.meaning.c_str());
    std::printf("\n");
  }
  for (const auto& [name, preset] : compressors::registered_presets())
    std::printf("%s = %s\n    %s\n", name.c_str(), preset.spec.c_str(), preset.meaning.c_str());
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
      std::printf("%s\n", rows.dump(2).c_str());
      return;
    }
    for (const auto& row : rows)
      std::printf("%-14s %s\n%14s %s (%s)\n", row["name"].get<std::string>().c_str(),
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

const CommandRegistrar registrar(70, "list", [](CLI::App& root) {
  CLI::App* list = root.add_subcommand("list", "List what this build has");
  list->require_subcommand(1);
  CLI::App* codecs = list->add_subcommand("codecs", "Codecs, parameters, presets");
  setup_presets(*list);
  auto format = std::make_shared<std::string>("text");
  codecs->add_flag_callback(
      "--markdown", [format] { *format = "markdown"; }, "a Markdown table");
  codecs->add_flag_callback(
      "--json", [format] { *format = "json"; }, "JSON, with properties");
  codecs->footer(
      "Examples:\n"
      "  tersor list codecs\n"
      "  tersor list codecs --json | jq '.codecs[].signature'");
  codecs->callback([format] {
    if (*format == "json")
      print_json();
    else if (*format == "markdown")
      print_markdown();
    else
      print_text();
  });
});

}  // namespace
}  // namespace tersor::harness

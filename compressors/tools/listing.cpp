// SPDX-License-Identifier: Apache-2.0
#include "compressors/tools/listing.hpp"

#include <algorithm>

#include "common/number.hpp"

namespace tersor::compressors {

using nlohmann::ordered_json;

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

namespace {

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
  if (!info.plugin.empty()) json["prototype"] = info.plugin;
  json["parameters"] = ordered_json::array();
  for (const Parameter& p : info.parameters) json["parameters"].push_back(parameter_json(p));
  json["examples"] = info.examples;
  if (const std::string spec = buildable(info); !spec.empty())
    json["properties"] = describe(*make_codec(spec)).at("properties");
  return json;
}

std::string exchanges(const CodecInfo& info) {
  const std::string spec = buildable(info);
  if (spec.empty()) return "";
  std::string text;
  const nlohmann::json described = describe(*make_codec(spec));
  for (const auto& word : described.at("properties").at("exchange"))
    text += (text.empty() ? "" : ", ") + word.get<std::string>();
  return text;
}

std::string escaped(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, 1, '\\');
  return text;
}

}  // namespace

ordered_json list_codecs() {
  ordered_json codecs = ordered_json::array();
  for (const auto& [name, info] : registered_codecs()) codecs.push_back(codec_json(info));
  ordered_json presets = ordered_json::array();
  for (const auto& [name, preset] : registered_presets())
    presets.push_back({{"name", name}, {"spec", preset.spec}, {"meaning", preset.meaning}});
  return {{"codecs", codecs}, {"presets", presets}};
}

std::string markdown_table() {
  std::string table =
      "| codec (defaults) | what it does | exchange | source |\n| --- | --- | --- | --- |\n";
  for (const auto& [name, info] : registered_codecs()) {
    const std::string label = info.plugin.empty() ? "" : " (prototype, " + info.plugin + ")";
    table += "| `" + escaped(signature(info)) + "` | " + escaped(info.summary) + label + " | " +
             exchanges(info) + " | " + escaped(info.source) + " |\n";
  }
  return table;
}

}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#include "compressors/spec/registry.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "common/error.hpp"
#include "common/number.hpp"
#include "compressors/api/plugin.hpp"

namespace tersor::compressors {
namespace {

template <class Entry>
struct Table {
  std::map<std::string, Entry, std::less<>> entries;
  std::map<std::string, std::string> origins;
  std::string mistake;  ///< the first name that was registered twice

  void add(const std::string& name, Entry entry, const std::source_location& where) {
    const std::string origin = std::string(where.file_name()) + ":" + std::to_string(where.line());
    if (entries.try_emplace(name, std::move(entry)).second)
      origins[name] = origin;
    else if (mistake.empty())
      mistake = "'" + name + "' is registered twice: in " + origins[name] + " and in " + origin;
  }

  const auto& checked() const {
    if (!mistake.empty()) throw Error(ErrorKind::kInternal, mistake);
    return entries;
  }
};

// Function-local, so that they exist whenever a registrar of another file runs.
Table<CodecInfo>& codecs() {
  static Table<CodecInfo> table;
  return table;
}
Table<Preset>& presets() {
  static Table<Preset> table;
  return table;
}

Parameter named(std::string name, Parameter::Kind kind, std::string meaning) {
  Parameter parameter;
  parameter.name = std::move(name);
  parameter.kind = kind;
  parameter.meaning = std::move(meaning);
  return parameter;
}

}  // namespace

Parameter Parameter::integer(std::string name, std::optional<std::int64_t> default_value,
                             std::int64_t low, std::int64_t high, std::string meaning) {
  Parameter parameter = named(std::move(name), Kind::kInteger, std::move(meaning));
  if (default_value) parameter.default_text = std::to_string(*default_value);
  parameter.low = static_cast<double>(low);
  parameter.high = static_cast<double>(high);
  return parameter;
}

Parameter Parameter::real(std::string name, std::string default_text, double low, double high,
                          bool low_is_open, std::string meaning) {
  Parameter parameter = named(std::move(name), Kind::kReal, std::move(meaning));
  const auto value = parse_real(default_text);
  TERSOR_CHECK(value, "default '" + default_text + "' of " + parameter.name);
  parameter.default_text = format_number(*value);
  parameter.low = low;
  parameter.high = high;
  parameter.low_is_open = low_is_open;
  return parameter;
}

Parameter Parameter::choice(std::string name, std::vector<std::string> choices, std::string meaning,
                            std::string default_text) {
  Parameter parameter = named(std::move(name), Kind::kChoice, std::move(meaning));
  parameter.default_text = default_text.empty() ? choices.front() : std::move(default_text);
  parameter.choices = std::move(choices);
  return parameter;
}

Parameter Parameter::boolean(std::string name, bool default_value, std::string meaning) {
  Parameter parameter = named(std::move(name), Kind::kBoolean, std::move(meaning));
  parameter.default_text = default_value ? "true" : "false";
  parameter.choices = {"false", "true"};
  return parameter;
}

Parameter Parameter::codec(std::string name, std::string meaning) {
  return named(std::move(name), Kind::kCodec, std::move(meaning));
}

Parameter Parameter::optional_integer(std::string name, std::int64_t low, std::int64_t high,
                                      std::string meaning, std::string instead_of) {
  Parameter parameter = integer(std::move(name), std::nullopt, low, high, std::move(meaning));
  parameter.is_optional = true;
  parameter.instead_of = std::move(instead_of);
  return parameter;
}

CodecRegistrar::CodecRegistrar(CodecInfo info, std::source_location origin) {
  const std::string name = info.name;
  codecs().add(name, std::move(info), origin);
}

PresetRegistrar::PresetRegistrar(Preset preset, std::source_location origin) {
  const std::string name = preset.name;
  presets().add(name, std::move(preset), origin);
}

bool is_registered(std::string_view name) {
  return codecs().entries.contains(name) || presets().entries.contains(name);
}

const std::map<std::string, CodecInfo, std::less<>>& registered_codecs() {
  static const bool is_loaded = (load_plugins_of_environment(), true);
  TERSOR_CHECK(is_loaded, "plug-ins");
  const auto& entries = codecs().checked();
  if (entries.empty())
    throw Error(ErrorKind::kInternal,
                "no codec is registered: link tersor_compressors, not its plain archive");
  return entries;
}

std::vector<std::string> example_specs() {
  std::vector<std::string> specs;
  std::set<std::string> seen;
  for (const auto& [name, info] : registered_codecs()) {
    const bool has_defaults =
        std::all_of(info.parameters.begin(), info.parameters.end(),
                    [](const Parameter& p) { return p.default_text || p.is_optional; });
    std::vector<std::string> of_codec = info.examples;
    if (has_defaults) of_codec.insert(of_codec.begin(), name);
    TERSOR_CHECK(!of_codec.empty(), "codec '" + name + "' has no example");
    for (std::string& spec : of_codec)
      if (seen.insert(canonical_spec(spec)).second) specs.push_back(std::move(spec));
  }
  return specs;
}

const std::map<std::string, Preset, std::less<>>& registered_presets() {
  return presets().checked();
}

}  // namespace tersor::compressors

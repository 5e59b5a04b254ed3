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

bool is_registered(std::string_view name) {
  return Registry<CodecInfo>::instance().contains(name) ||
         Registry<Preset>::instance().contains(name);
}

const Registry<CodecInfo>::Entries& registered_codecs() {
  static const bool is_loaded = (load_plugins_of_environment(), true);
  TERSOR_CHECK(is_loaded, "plug-ins");
  const auto& entries = Registry<CodecInfo>::instance().entries();
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

const Registry<Preset>::Entries& registered_presets() {
  return Registry<Preset>::instance().entries();
}

}  // namespace tersor::compressors

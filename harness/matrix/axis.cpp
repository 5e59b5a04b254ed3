// SPDX-License-Identifier: Apache-2.0
#include "harness/matrix/axis.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "common/error.hpp"
#include "common/nearest.hpp"
#include "compressors/api/codec.hpp"
#include "compressors/spec/grammar.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/spec/sweep.hpp"
#include "compressors/spec/tensor_site.hpp"
#include "datasets/dataset.hpp"
#include "harness/matrix/message_spec.hpp"
#include "harness/matrix/model_facts.hpp"
#include "protocol/fields.hpp"

namespace tersor::harness {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// Throws Error(kSpec) where the codec has no place at this kind of site.
void check_site(const std::string& site, const std::string& spec) {
  const auto codec = codec_of(spec);
  const std::string reason = compressors::refuses_site(site, *codec);
  if (!reason.empty()) throw Error(ErrorKind::kSpec, reason);
}

}  // namespace

std::string plain_text(const json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json sites_at(json compressor, int stages) {
  json& behind = compressor.at("pp");
  if (behind.is_null()) behind = stages > 1 ? compressor.at("tp") : json("none");
  return compressor;
}

std::string compressor_label(const std::map<std::string, std::string>& compressor) {
  std::string label = compressor.at("tp");
  for (const auto& [site, spec] : compressor)
    if (site != "tp" && spec != "none") label += " " + site + "=" + spec;
  return label;
}

const std::vector<std::string>& axis_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"seed"};
    all.insert(all.end(), protocol::cell_keys().begin(), protocol::cell_keys().end());
    return all;
  }();
  return names;
}

std::string unknown_key_hint(const std::string& key, const std::vector<std::string>& names) {
  static const std::map<std::string, std::string> kOtherWords{
      {"codec", "compressor"},        {"spec", "compressor"}, {"compression", "compressor"},
      {"lr", "learning_rate"},        {"data", "dataset"},    {"profile", "hardware"},
      {"batch_size", "micro_batch"},  {"seeds", "seed"},      {"tp", "hardware.tp"},
      {"sequence_length", "sequence"}};
  const auto meant = kOtherWords.find(key);
  if (meant == kOtherWords.end() ||
      std::find(names.begin(), names.end(), meant->second) == names.end())
    return known_names_hint(key, names);
  return known_names_hint(meant->second, names);
}

AxisReader::AxisReader(const JsonText& file, const HardwareProfiles& profiles)
    : file_(file), profiles_(profiles) {}

void AxisReader::add_preset(const std::string& name, const std::string& pointer) {
  const auto& given = file_.root().at(ordered_json::json_pointer(pointer));
  if (compressors::registered_codecs().count(name))
    file_.fail_at_key(pointer, "preset '" + name + "' would hide the codec of that name");
  const auto values = [&] {
    try {
      return read_compressor(given, pointer);
    } catch (const Error& error) {
      if (std::string_view(error.what()).starts_with(file_.origin())) throw;
      file_.fail(pointer, "preset '" + name + "': " + error.what());
    }
  }();
  if (values.size() != 1)
    file_.fail(pointer, "preset '" + name + "': a preset is one value; write sweeps in the matrix");
  presets_[name] = given;
}

void AxisReader::check_key(const std::string& key, const std::string& pointer) const {
  const auto& names = axis_names();
  if (std::find(names.begin(), names.end(), key) == names.end())
    file_.fail_at_key(pointer, "unknown key '" + key + "'" + unknown_key_hint(key, names));
}

std::uint64_t AxisReader::count(const std::string& key, const std::string& pointer) const {
  const auto& given = file_.root().at(ordered_json::json_pointer(pointer));
  const auto count_one = [&](const ordered_json& value) {
    if (key != "compressor") return std::uint64_t{1};
    if (value.is_string()) return compressors::count_sweep(value.get<std::string>());
    std::uint64_t product = 1;
    if (value.is_object())
      for (const auto& [site, spec] : value.items())
        if (spec.is_string())
          product = compressors::saturating_product(
              product, compressors::count_sweep(spec.get<std::string>()));
    return product;
  };
  if (!given.is_array()) return count_one(given);
  std::uint64_t sum = 0;
  for (const auto& value : given) sum = compressors::saturating_sum(sum, count_one(value));
  return sum;
}

Axis AxisReader::read(const std::string& key, const std::string& pointer) const {
  const auto& given = file_.root().at(ordered_json::json_pointer(pointer));
  Axis axis{key, {}};
  std::map<json, std::string> seen;
  const auto add = [&](const std::string& at) {
    for (AxisValue& value : read_one(key, at)) {
      const auto [found, is_new] =
          seen.emplace(key == "compressor" ? sites_at(value.value, 1) : value.value, at);
      if (!is_new)
        file_.fail(at, key + " '" + value.label + "' stands twice in " + pointer +
                           " (after presets, sweeps and defaults of the codec): first at line " +
                           std::to_string(file_.position(found->second).line));
      axis.values.push_back(std::move(value));
    }
  };
  if (!given.is_array()) {
    add(pointer);
  } else {
    if (given.empty()) file_.fail(pointer, key + ": an empty list stands for no cell at all");
    for (std::size_t i = 0; i < given.size(); ++i) add(JsonText::child(pointer, i));
  }
  return axis;
}

std::vector<AxisValue> AxisReader::read_one(const std::string& key,
                                            const std::string& pointer) const {
  const auto& given = file_.root().at(ordered_json::json_pointer(pointer));
  try {
    if (key == "compressor") return read_compressor(given, pointer);
    if (key == "seed") {
      if (!given.is_number_unsigned())
        file_.fail(pointer, "seed must be a whole number from 0 to 2^64 - 1, got " + given.dump());
      return {{given.get<std::uint64_t>(), given.dump()}};
    }
    if (key == "hardware") {
      protocol::Cell cell;
      cell.hardware = read_hardware(given, pointer);
      return {{protocol::all_values(cell).at("hardware"), cell.hardware.name}};
    }
    const protocol::Cell cell = protocol::cell_from_json(json{{key, json(given)}});
    if (key == "dataset" &&
        datasets::find_dataset(cell.data.name).content != datasets::Content::kRows)
      throw Error(ErrorKind::kUsage,
                  "data set '" + cell.data.name +
                      "' is running text for language models, and every task here is "
                      "classification or regression; tersor data list tells the sets");
    if (key == "model") (void)find_model(cell.model.name);
    const json value = protocol::all_values(cell).at(key);
    return {{value, plain_text(value)}};
  } catch (const Error& error) {
    if (std::string_view(error.what()).substr(0, file_.origin().size()) == file_.origin()) throw;
    file_.fail(pointer, error.what());
  }
}

protocol::Hardware AxisReader::read_hardware(const ordered_json& given,
                                             const std::string& pointer) const {
  if (given.is_string()) return find_profile(profiles_, given.get<std::string>()).config;
  if (!given.is_object())
    file_.fail(pointer,
               "hardware must be the name of a profile, or a grid on one: "
               R"({"base": "cpu", "tp": 2, "pp": 2})");
  const auto base = given.find("base");
  if (base == given.end() || !base->is_string())
    file_.fail(pointer, R"(a grid needs the name of a profile as its "base")");
  ordered_json changes = given;
  changes.erase("base");
  for (const auto& [key, value] : changes.items()) {
    try {
      (void)protocol::cell_from_json({{"hardware", {{key, value}}}});
    } catch (const Error& error) {
      file_.fail(JsonText::child(pointer, key), error.what());
    }
  }
  return grid_on(profiles_, base->get<std::string>(), json(changes));
}

std::vector<AxisValue> AxisReader::read_compressor(const ordered_json& given,
                                                   const std::string& pointer) const {
  if (given.is_string())
    if (const auto preset = presets_.find(given.get<std::string>()); preset != presets_.end())
      return read_compressor(*preset, pointer);
  // The product over the sites, the first site slowest.
  std::vector<json> products{json::object()};
  const auto specs_at = [&](const std::string& site, const ordered_json& spec,
                            const std::string& at) {
    auto specs = read_specs(spec, at);
    try {
      for (const std::string& one : specs) check_site(site, one);
    } catch (const Error& error) {
      file_.fail(at, error.what());
    }
    return specs;
  };
  const auto multiply = [&products](const std::string& site,
                                    const std::vector<std::string>& specs) {
    std::vector<json> next;
    for (const json& product : products) {
      for (const std::string& spec : specs) {
        next.push_back(product);
        next.back()[site] = spec;
      }
    }
    products = std::move(next);
  };
  if (given.is_object()) {
    (void)protocol::cell_from_json(json{{"compressor", json(given)}});  // sites and types
    for (const auto& [site, spec] : given.items()) {
      const std::string at = JsonText::child(pointer, site);
      multiply(site, specs_at(site, spec, at));
    }
  } else if (given.is_string()) {
    multiply("tp", specs_at("tp", given, pointer));
  }
  std::vector<AxisValue> values;
  for (const json& product : products) {
    const bool is_typed = given.is_object() || given.is_string();
    const protocol::Cell cell =
        protocol::cell_from_json(json{{"compressor", is_typed ? product : json(given)}});
    values.push_back(
        {protocol::all_values(cell).at("compressor"), compressor_label(cell.compression.codecs)});
    if (given.is_string()) values.back().value["pp"] = nullptr;
  }
  return values;
}

std::vector<std::string> AxisReader::read_specs(const ordered_json& given,
                                                const std::string& pointer) const {
  std::string text = given.get<std::string>();
  if (const auto preset = presets_.find(text); preset != presets_.end() && preset->is_string())
    text = preset->get<std::string>();
  std::vector<std::string> specs;
  try {
    for (const std::string& spec : compressors::expand_sweep(text, compressors::count_sweep(text)))
      specs.push_back(axis_spec(spec));
  } catch (const Error& error) {
    // A column of the spec is a column of the file where the text stands there as it is.
    const bool is_verbatim = text == given.get<std::string>() && text.find('{') == text.npos;
    file_.fail(pointer, error.what(), is_verbatim ? error.column() : 0);
  }
  return specs;
}

}  // namespace tersor::harness

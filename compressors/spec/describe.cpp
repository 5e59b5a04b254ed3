// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "compressors/spec/check_spec.hpp"
#include "compressors/spec/registry.hpp"

namespace tersor::compressors {
namespace {

const char* word(StateKind kind) {
  switch (kind) {
    case StateKind::kNone: return "none";
    case StateKind::kSite: return "site";
    case StateKind::kSample: return "sample";
  }
  return "none";
}

const char* word(Spread spread) {
  switch (spread) {
    case Spread::kElement: return "element";
    case Spread::kRow: return "row";
    case Spread::kTensor: return "tensor";
  }
  return "element";
}

const char* word(Exchange exchange) {
  switch (exchange) {
    case Exchange::kAllReduce: return "all-reduce";
    case Exchange::kGather: return "gather";
    case Exchange::kAllToAll: return "all-to-all";
  }
  return "gather";
}

nlohmann::json word(Strength::Stronger stronger) {
  switch (stronger) {
    case Strength::Stronger::kNone: return nullptr;
    case Strength::Stronger::kLower: return "lower";
    case Strength::Stronger::kHigher: return "higher";
  }
  return nullptr;
}

/// The declared parameter, or the one that was given instead of it.
nlohmann::json strength_in_force(const CheckedSpec& checked) {
  if (!checked.info->strength) return nullptr;
  const std::string& declared = checked.info->strength->parameter;
  for (const Parameter& parameter : checked.info->parameters)
    if (parameter.instead_of == declared && checked.arguments.is_given(parameter.name))
      return parameter.name;
  return declared;
}

nlohmann::json properties_json(const Codec& codec) {
  const Properties p = codec.properties();
  nlohmann::json json{{"summable", p.summable},
                      {"summable_tolerance", p.summable_tolerance},
                      {"unbiased", p.unbiased},
                      {"unbiased_range", p.unbiased_range},
                      {"contractive", static_cast<bool>(p.contraction)},
                      {"expansive", p.is_expansive},
                      {"error_bound_of_absmax", nullptr},
                      {"bit_exact", p.bit_exact},
                      {"tolerance", p.tolerance},
                      {"state", word(p.state)},
                      {"fixed_size", p.fixed_size},
                      {"lossless", p.lossless},
                      {"token_local", p.token_local},
                      {"sample_local", p.sample_local},
                      {"learned", p.learned},
                      {"nonfinite_spread", word(p.nonfinite_spread)},
                      {"rounds", codec.rounds()}};
  if (p.error_bound_of_absmax) json["error_bound_of_absmax"] = *p.error_bound_of_absmax;
  json["exchange"] = nlohmann::json::array();
  for (int round = 0; round < codec.rounds(); ++round)
    json["exchange"].push_back(word(codec.exchange(round)));
  return json;
}

}  // namespace

nlohmann::json describe(const Codec& codec) {
  const CheckedSpec checked = check_spec(codec.canonical());
  nlohmann::json params = nlohmann::json::object();
  nlohmann::json inner = nlohmann::json::array();
  std::string variant = "corrected";
  for (const Parameter& parameter : checked.info->parameters) {
    const std::string& name = parameter.name;
    switch (parameter.kind) {
      case Parameter::Kind::kInteger: {
        const auto value = checked.arguments.optional_integer(name);
        params[name] = value ? nlohmann::json(*value) : nlohmann::json(nullptr);
        break;
      }
      case Parameter::Kind::kReal: params[name] = checked.arguments.real(name); break;
      case Parameter::Kind::kBoolean: params[name] = checked.arguments.boolean(name); break;
      case Parameter::Kind::kChoice: params[name] = checked.arguments.choice(name); break;
      case Parameter::Kind::kCodec:
        params[name] = checked.arguments.choice(name);
        if (const auto wrapped = checked.arguments.codec(name)) inner.push_back(describe(*wrapped));
        break;
    }
    if (name == "variant") variant = checked.arguments.choice(name);
  }
  for (const Parameter& parameter : checked.info->parameters)
    if (!parameter.instead_of.empty() && !params[parameter.name].is_null())
      params[parameter.instead_of] = nullptr;  // its default is not in force
  nlohmann::json properties = properties_json(codec);
  if (!checked.info->plugin.empty()) properties["prototype"] = checked.info->plugin;
  return {{"name", checked.info->name},
          {"version", checked.info->version},
          {"variant", variant},
          {"spec", codec.canonical()},
          {"params", params},
          {"properties", properties},
          {"inner", inner},
          {"strength", strength_in_force(checked)},
          {"stronger", checked.info->strength ? word(checked.info->strength->stronger) : nullptr},
          {"is_reference", codec.canonical() == checked.info->reference}};
}

}  // namespace tersor::compressors

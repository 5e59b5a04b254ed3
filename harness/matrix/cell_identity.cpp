// SPDX-License-Identifier: Apache-2.0
#include "harness/matrix/cell_identity.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "compressors/spec/registry.hpp"

namespace tersor::harness {
namespace {

/// describe() of a spec; a matrix repeats few specs many times.
const nlohmann::json& facts_of(const std::string& spec) {
  static std::map<std::string, nlohmann::json> known;
  const auto found = known.find(spec);
  if (found != known.end()) return found->second;
  return known.emplace(spec, compressors::describe(*compressors::make_codec(spec))).first->second;
}

std::string versions_of(const nlohmann::json& facts) {
  std::string text =
      facts.at("name").get<std::string>() + " " + std::to_string(facts.at("version").get<int>());
  if (const auto inner = facts.find("inner"); inner != facts.end())
    for (const nlohmann::json& codec : *inner) text += " (" + versions_of(codec) + ")";
  return text;
}

}  // namespace

std::string codec_versions(const protocol::Cell& cell) {
  std::string text = "wire " + std::to_string(kWireVersion);
  for (const auto& [site, spec] : cell.compression.codecs)
    text += "; " + site + ": " + versions_of(facts_of(spec));
  return text;
}

std::string key_of(const protocol::Cell& cell) { return cell_key(cell, codec_versions(cell)); }

nlohmann::json codec_facts(const protocol::Cell& cell) {
  nlohmann::json facts = nlohmann::json::object();
  for (const auto& [site, spec] : cell.compression.codecs) facts[site] = facts_of(spec);
  return facts;
}

}  // namespace tersor::harness

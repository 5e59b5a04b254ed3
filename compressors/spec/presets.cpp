// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compressors/spec/grammar.hpp"
#include "compressors/spec/registry.hpp"

namespace tersor::compressors {
namespace {

const Preset* message_preset(const SpecNode& node) {
  const auto& presets = registered_presets();
  const auto found = presets.find(node.word);
  const bool is_preset = found != presets.end() && node.arguments.empty() && found->second.spec_for;
  return is_preset ? &found->second : nullptr;
}

bool has_message_preset(const SpecNode& node) {
  return message_preset(node) != nullptr ||
         std::any_of(node.arguments.begin(), node.arguments.end(),
                     [](const SpecArgument& a) { return has_message_preset(a.value); });
}

SpecNode expanded(const SpecNode& node, const Shape& shape, DType dtype) {
  if (const Preset* preset = message_preset(node))
    return parse_spec(preset->spec_for(shape, dtype));
  SpecNode out = node;
  for (SpecArgument& argument : out.arguments)
    argument.value = expanded(argument.value, shape, dtype);
  return out;
}

}  // namespace

bool depends_on_message(std::string_view spec) { return has_message_preset(parse_spec(spec)); }

std::string expand_presets(std::string_view spec, const Shape& shape, DType dtype) {
  const SpecNode node = parse_spec(spec);
  if (!has_message_preset(node)) return std::string(spec);
  return expanded(node, shape, dtype).text();
}

}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#include "compressors/spec/tensor_site.hpp"

#include <algorithm>
#include <vector>

#include "compressors/spec/grammar.hpp"
#include "compressors/spec/registry.hpp"

namespace tersor::compressors {
namespace {

/// The codecs of a spec from the outermost to the first one that sums a part of the channels; empty
/// where there is none.
std::vector<const CodecInfo*> way_to_part(const SpecNode& node) {
  const auto& codecs = registered_codecs();
  const auto found = codecs.find(node.word);
  if (found == codecs.end()) return {};  // a number or a word of a parameter
  const CodecInfo& info = found->second;
  if (info.sums_part_of_hidden) return {&info};
  for (const SpecArgument& argument : node.arguments) {
    std::vector<const CodecInfo*> way = way_to_part(argument.value);
    if (way.empty()) continue;
    way.insert(way.begin(), &info);
    return way;
  }
  return {};
}

/// The registered codecs that a site looks through.
std::string transparent_names() {
  std::string names;
  for (const auto& [name, info] : registered_codecs())
    if (info.is_transparent) names += (names.empty() ? "" : " or ") + name;
  return names;
}

/// Why a codec that sums a part of the channels is refused at the end of `way`; empty: it is not.
std::string refuses_part(const std::vector<const CodecInfo*>& way, bool is_gradient) {
  const std::string& part = way.back()->name;
  if (is_gradient)
    return part +
           " is used at 'tp'; its gradients are exchanged at 'tp.backward' in the same channels by "
           "themselves";
  // Through any other codec a rank would not get its own channels back.
  const auto refused = std::find_if(way.begin(), way.end() - 1,
                                    [](const CodecInfo* info) { return !info->is_transparent; });
  if (refused == way.end() - 1) return {};
  const std::string hint =
      (*refused)->is_outermost ? "" : ": write " + part + "(" + (*refused)->name + "(..))";
  return "at a site " + part + " is outermost or in a " + transparent_names() + hint;
}

}  // namespace

std::string refuses_tensor_site(std::string_view site, const Codec& codec) {
  const std::string name = codec.canonical();
  const bool is_gradient = site == "tp.backward";
  if (codec.properties().state == StateKind::kSample)
    return name + " has a state by sample and is for pipeline sites, not for '" +
           std::string(site) + "'";
  if (is_gradient && codec.learned())
    return name + ": a learned codec cannot be used at the gradient site '" + std::string(site) +
           "'; its gradients flow through the forward site";
  const auto way = way_to_part(parse_spec(name));
  const std::string reason = way.empty() ? "" : refuses_part(way, is_gradient);
  return reason.empty() ? "" : name + ": " + reason;
}

std::string refuses_pipeline_site(std::string_view site, const Codec& codec) {
  const std::string name = codec.canonical();
  const std::string at = " at the pipeline site '" + std::string(site) + "'";
  const bool has_parts = codec.exchange(0) == Exchange::kAllToAll;
  if (codec.learned()) return name + ": a learned codec is not built" + at + "; use one at 'tp'";
  if (has_parts || codec.topology().size() > 1)
    return name + " is an order of sums over ranks, and a message" + at +
           " has one sender; use the codec inside it";
  if (!way_to_part(parse_spec(name)).empty())
    return name + " leaves channels to the ranks of a sum, and a message" + at + " has one sender";
  return {};
}

std::string refuses_site(std::string_view site, const Codec& codec) {
  return site.starts_with("pp") ? refuses_pipeline_site(site, codec)
                                : refuses_tensor_site(site, codec);
}

std::string refuses_nodes(const Codec& codec, int ranks, int nodes) {
  if (nodes < 1 || ranks % nodes != 0)
    return "hardware.nodes " + std::to_string(nodes) + " does not divide tp " +
           std::to_string(ranks);
  const std::vector<TopologyStage> stages = codec.topology();
  const bool tells_nodes_apart =
      std::any_of(stages.begin(), stages.end(),
                  [](const TopologyStage& stage) { return stage.level != GroupLevel::kAll; });
  if (tells_nodes_apart && nodes == 1)
    return codec.canonical() +
           " needs hardware with several nodes, such as cpu-emulated-tp4-nodes2";
  return {};
}

}  // namespace tersor::compressors

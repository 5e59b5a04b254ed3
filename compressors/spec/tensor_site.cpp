// SPDX-License-Identifier: Apache-2.0
#include "compressors/spec/tensor_site.hpp"

#include <algorithm>

#include "compressors/spec/grammar.hpp"

namespace tersor::compressors {
namespace {

bool contains(const SpecNode& node, std::string_view name) {
  return node.word == name ||
         std::any_of(node.arguments.begin(), node.arguments.end(),
                     [&](const SpecArgument& a) { return contains(a.value, name); });
}

}  // namespace

std::string refuses_tensor_site(std::string_view site, const Codec& codec) {
  const std::string name = codec.canonical();
  const SpecNode node = parse_spec(name);
  const bool is_gradient = site == "tp.backward";
  if (codec.properties().state == StateKind::kSample)
    return name + " keeps what it sent by sample and stands at pipeline sites, not at '" +
           std::string(site) + "'";
  if (is_gradient && codec.learned())
    return name + ": a learned codec cannot stand at the gradient site '" + std::string(site) +
           "'; its gradients flow through the forward site";
  if (!contains(node, "partial")) return {};
  if (is_gradient)
    return name +
           ": partial stands at 'tp'; its gradients cross 'tp.backward' in the same "
           "channels by themselves";
  // Only outermost, or in a gate, does a rank get its own channels back.
  const SpecNode& inside = node.word == "gate" ? node.arguments.front().value : node;
  if (inside.word == "partial") return {};
  const std::string hint =
      inside.word == "hierarchical" ? "" : ": write partial(" + inside.word + "(..))";
  return name + ": at a site partial stands outermost or in a gate" + hint;
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

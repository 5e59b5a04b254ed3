// SPDX-License-Identifier: Apache-2.0
#include "harness/feasibility/feasibility.hpp"

#include "common/error.hpp"
#include "common/number.hpp"
#include "compressors/api/codec.hpp"
#include "compressors/spec/tensor_site.hpp"
#include "harness/matrix/model_facts.hpp"
#include "protocol/choices.hpp"

namespace tersor::harness {
namespace {

/// Why `layers` does not fit the model, or empty.
std::string judge_layers(const std::string& layers, const ModelFacts& model) {
  const auto too_many = [&](std::int64_t wanted) {
    return wanted > model.layers ? "layers '" + layers + "': " + model.name + " has " +
                                       std::to_string(model.layers) + " layers"
                                 : std::string();
  };
  const std::string_view text = layers;  // of a checked cell
  if (const auto colon = layers.find(':'); colon != std::string::npos)
    return too_many(*parse_whole_number(text.substr(colon + 1)));
  if (const auto dash = layers.find('-'); dash != std::string::npos)
    return too_many(*parse_whole_number(text.substr(dash + 1)) + 1);
  return {};
}

std::string judge_model(const protocol::Cell& cell) {
  const ModelFacts& model = find_model(cell.model.name);
  const int tp = cell.hardware.tp;
  if (model.heads % tp != 0 || model.hidden % tp != 0)
    return "tp " + std::to_string(tp) + " does not divide the " + std::to_string(model.heads) +
           " heads of " + model.name;
  if (model.positions > 0 && cell.data.sequence > model.positions)
    return "sequence " + std::to_string(cell.data.sequence) + ": " + model.name + " has " +
           std::to_string(model.positions) + " positions";
  try {
    (void)protocol::blocks_of_stages(cell.parallelism.partition, model.layers, cell.hardware.pp);
  } catch (const Error& error) {
    return model.name + ": " + error.what();
  }
  return judge_layers(cell.compression.layers, model);
}

std::string judge_data(const protocol::Cell& cell, const Resources& resources) {
  const std::string missing = missing_data(datasets::find_dataset(cell.data.name), resources);
  return missing.empty() ? "" : "data set '" + cell.data.name + "': " + missing;
}

std::string judge_sites(const protocol::Cell& cell) {
  for (const auto& [site, spec] : cell.compression.codecs)
    if ((site == "pp" || site == "pp.gradient") && spec != "none" && cell.hardware.pp == 1)
      return "site '" + site + "': there is no pipeline at pp 1";
  for (const auto& [site, spec] : cell.compression.codecs) {  // a bare spec stands for two
    const std::string reason = compressors::refuses_site(site, *compressors::make_codec(spec));
    if (!reason.empty()) return reason;
  }
  for (const char* site : {"tp", "tp.backward"}) {
    const auto codec = compressors::make_codec(cell.compression.codecs.at(site));
    const std::string reason =
        compressors::refuses_nodes(*codec, cell.hardware.tp, cell.hardware.nodes);
    if (!reason.empty()) return reason;
  }
  return {};
}

}  // namespace

Feasibility judge_hardware(const protocol::Hardware& hardware, const Machine& machine) {
  constexpr int kThreadsPerCore = 2;
  if (hardware.kind != "measured" && hardware.kind != "emulated")
    return {"hardware of kind '" + hardware.kind + "' is not built yet", ""};
  if (!hardware.link.empty()) return {"links (here '" + hardware.link + "') are not built yet", ""};
  if (hardware.device != "cpu")
    return {"device '" + hardware.device + "' is not built yet: ranks run on CPU cores", ""};
  if (hardware.processes() > 1 && !machine.network_problem.empty())
    return {"its ranks cannot meet: " + machine.network_problem, ""};
  const int needs = hardware.processes() * hardware.threads;
  const int has = machine.usable_cores();
  const std::string counts =
      std::to_string(needs) + " cores, this machine has " + std::to_string(has);
  if (needs > has * kThreadsPerCore) return {"needs " + counts, ""};
  if (needs > has)
    return {"", "oversubscribed: wants " + counts + "; its times are not comparable"};
  return {};
}

std::string missing_data(const datasets::DatasetInfo& info, const Resources& resources) {
  const auto found = datasets::available(info, resources.data_root);
  if (found.available) return {};
  std::string reason = "missing";
  if (resources.data_root.empty()) {
    reason = "no data root; give --data DIR or set TERSOR_DATA";
  } else {
    for (const std::string& file : found.missing) reason += " " + file;
  }
  return found.remedy.empty() ? reason : reason + "; " + found.remedy;
}

Feasibility judge_cell(const protocol::Cell& cell, const Machine& machine,
                       const Resources& resources) {
  Feasibility found = judge_hardware(cell.hardware, machine);
  const auto refuse = [&](const std::string& why) {
    if (found.why_not.empty()) found.why_not = why;
  };
  if (cell.training.stage != "finetune")
    refuse("stage '" + cell.training.stage + "' is not built yet");
  refuse(judge_sites(cell));
  refuse(judge_model(cell));
  refuse(judge_data(cell, resources));
  refuse(find_weights(cell.model.name, resources).problem);
  const auto behind = cell.compression.codecs.find("pp");
  const bool is_compressed =
      behind != cell.compression.codecs.end() && behind->second != "none";  // in a pipeline
  if (found.warning.empty() && cell.hardware.tp == 1 && !cell.compression.loopback &&
      cell.compression.codecs.at("tp") != "none" && !is_compressed)
    found.warning = "has one shard, so codecs are off (\"loopback\": true runs them)";
  return found;
}

}  // namespace tersor::harness

// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "common/build_info.hpp"
#include "common/error.hpp"
#include "common/process.hpp"
#include "common/standard_output.hpp"
#include "datasets/dataset.hpp"
#include "harness/cli/command.hpp"
#include "harness/feasibility/feasibility.hpp"
#include "harness/feasibility/resources.hpp"
#include "harness/hardware/machine.hpp"
#include "harness/hardware/profile.hpp"
#include "harness/launch/launcher.hpp"
#include "harness/matrix/model_facts.hpp"
#include "protocol/exit_code.hpp"
#include "reports/engine/draw.hpp"

namespace tersor::harness {
namespace {

using nlohmann::ordered_json;

struct DoctorOptions {
  std::string data, weights;
  std::filesystem::path profiles;
  bool is_json = false;
};

/// {"ok": bool, "detail": text}.
ordered_json finding(const std::string& problem, const std::string& detail) {
  return {{"ok", problem.empty()}, {"detail", problem.empty() ? detail : problem}};
}

ordered_json check_worker() {
  try {
    return finding("", find_worker().string());
  } catch (const Error& error) {
    return finding(error.what(), "");
  }
}

ordered_json check_hardware(const DoctorOptions& options, const Machine& machine) {
  ordered_json found = ordered_json::object();
  for (const auto& [name, profile] : load_profiles(options.profiles)) {
    const Feasibility can = judge_hardware(profile.config, machine);
    found[name] = finding(can.why_not, can.warning.empty() ? profile.description : can.warning);
  }
  return found;
}

ordered_json check_data(const Resources& resources) {
  ordered_json found = ordered_json::object();
  for (const auto* info : datasets::all_datasets()) {
    found[info->name] = finding(missing_data(*info, resources), info->title);
  }
  return found;
}

ordered_json check_models(const Resources& resources) {
  ordered_json found = ordered_json::object();
  for (const ModelFacts& model : all_models()) {
    const WeightFiles files = find_weights(model.name, resources);
    found[model.name] = finding(files.problem, files.weights.empty() ? "starts from random weights"
                                                                     : files.weights.string());
  }
  return found;
}

/// Figures are drawn by vl-convert, a Python module.
ordered_json check_figures() {
  ProcessSpec process;
  process.arguments = {reports::python_for_figures(), "-c", "import vl_convert"};
  try {
    (void)run_process(process, "", std::chrono::seconds(60));
    return finding("", process.arguments.front());
  } catch (const Error&) {
    return finding(process.arguments.front() +
                       " has no vl_convert; scripts/setup makes an environment, TERSOR_PYTHON "
                       "names another Python (reports lack figures)",
                   "");
  }
}

ordered_json examine(const DoctorOptions& options) {
  const Machine machine = probe_machine();
  const Resources resources = find_resources(options.data, options.weights);
  constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
  return {{"version", build_version()},
          {"machine",
           {{"host", machine.host},
            {"cpu", machine.cpu},
            {"cores", machine.usable_cores()},
            {"memory_gib", static_cast<double>(machine.memory_bytes) / kGibibyte},
            {"gpus", machine.gpus}}},
          {"worker", check_worker()},
          {"figures", check_figures()},
          {"hardware", check_hardware(options, machine)},
          {"data", check_data(resources)},
          {"models", check_models(resources)}};
}

void print_finding(const std::string& name, const ordered_json& value) {
  print_text("  %-4s %-18s %s\n", value.at("ok").get<bool>() ? "ok" : "no", name.c_str(),
             value.at("detail").get<std::string>().c_str());
}

void print(const ordered_json& found) {
  const auto& machine = found.at("machine");
  print_text("tersor %s on %s: %s, %d cores, %.1f GiB, %d GPUs\n",
             found.at("version").get<std::string>().c_str(),
             machine.at("host").get<std::string>().c_str(),
             machine.at("cpu").get<std::string>().c_str(), machine.at("cores").get<int>(),
             machine.at("memory_gib").get<double>(), machine.at("gpus").get<int>());
  print_text("programs\n");
  print_finding("tersor-worker", found.at("worker"));
  print_finding("figures", found.at("figures"));
  for (const char* group : {"hardware", "data", "models"}) {
    print_text("%s\n", group);
    for (const auto& [name, value] : found.at(group).items()) print_finding(name, value);
  }
}

const CommandRegistrar kDoctor(60, "doctor", [](CLI::App& app) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command = app.add_subcommand(
      "doctor", "Say what this machine can run, and what is missing for the rest.");
  command->footer(
      "Exit status: 0 where at least one hardware profile and the worker can be used, else 1.\n"
      "Example:\n  tersor doctor --data DIR\n");
  command->add_option("--data", options->data, "Folder that holds glue/ (default: $TERSOR_DATA)");
  command->add_option(
      "--weights", options->weights,
      "Folder of model.safetensors and vocab.txt (default: $TERSOR_WEIGHTS, else the "
      "cache)");
  command->add_option("--profiles", options->profiles, "Folder of own hardware profiles");
  command->add_flag("--json", options->is_json, "Print JSON");
  command->callback([options] {
    const ordered_json found = examine(*options);
    if (options->is_json) {
      print_json(found);
    } else {
      print(found);
    }
    bool can_run = false;
    for (const auto& [name, value] : found.at("hardware").items())
      can_run = can_run || value.at("ok").get<bool>();
    set_exit_status(can_run && found.at("worker").at("ok").get<bool>()
                        ? protocol::ProgramExit::kOk
                        : protocol::ProgramExit::kBadNews);
  });
});

}  // namespace
}  // namespace tersor::harness

// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command.hpp"

#include <CLI/CLI.hpp>
#include <map>
#include <utility>

#include "common/error.hpp"

namespace tersor::harness {
namespace {

using Commands = std::map<std::pair<int, std::string>, std::function<void(CLI::App&)>>;

Commands& commands() {
  static Commands instance;
  return instance;
}

int status = 0;

}  // namespace

CommandRegistrar::CommandRegistrar(int order, std::string name,
                                   std::function<void(CLI::App&)> setup) {
  const bool is_new = commands().emplace(std::pair(order, name), std::move(setup)).second;
  TERSOR_CHECK(is_new, "command '" + name + "' is registered twice");
}

void add_commands(CLI::App& app) {
  for (const auto& [key, setup] : commands()) setup(app);
}

void set_exit_status(int value) { status = value; }
int exit_status() { return status; }

}  // namespace tersor::harness

// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <map>
#include <system_error>
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

std::string refuse_negative(const std::string& text) {
  double value = 0;
  const auto end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  const bool is_number = result.ec == std::errc() && result.ptr == end;
  return is_number && value >= 0 ? "" : "'" + text + "' is no number of zero or more";
}

void set_exit_status(int value) { status = value; }
int exit_status() { return status; }

}  // namespace tersor::harness

// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <system_error>
#include <utility>

#include "common/error.hpp"
#include "common/files.hpp"
#include "common/number.hpp"

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

std::function<std::string(const std::string&)> refuse_outside(std::int64_t low, std::int64_t high) {
  return [low, high](const std::string& text) -> std::string {
    const auto value = parse_integer(text);
    if (value && *value >= low && *value <= high) return "";
    return "'" + text + "' is no whole number from " + std::to_string(low) + " to " +
           std::to_string(high);
  };
}

void check_output(const std::string& option, const std::filesystem::path& path,
                  std::initializer_list<std::string_view> extensions) {
  const std::string extension = path.extension().string();
  if (std::find(extensions.begin(), extensions.end(), extension) == extensions.end()) {
    std::string known;
    for (const std::string_view one : extensions)
      known += (known.empty() ? "" : " or ") + std::string(one);
    std::filesystem::path named = path;
    throw Error(ErrorKind::kUsage,
                option + " " + path.string() + ": " + known + " is written, not '" + extension +
                    "'; name it " +
                    named.replace_extension(std::string(*extensions.begin())).string());
  }
  expect_writable(path);
}

void refuse_overwriting(const std::string& option, const std::filesystem::path& output,
                        const std::string& input) {
  for (const std::string& file : {input, input.substr(0, input.rfind('#'))}) {
    std::error_code ignored;
    if (std::filesystem::equivalent(output, file, ignored))
      throw Error(ErrorKind::kUsage,
                  option + " " + output.string() + " is the input; name another file");
  }
}

void set_exit_status(int value) { status = value; }
int exit_status() { return status; }

}  // namespace tersor::harness

// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "common/error.hpp"
#include "common/files.hpp"
#include "common/number.hpp"
#include "common/standard_output.hpp"

namespace tersor::harness {
namespace {

int status = 0;

}  // namespace

void add_commands(CLI::App& app) {
  std::map<std::pair<int, std::string>, const Command*> in_order;
  for (const auto& [name, command] : Registry<Command>::instance().entries())
    in_order[{command.order, name}] = &command;
  for (const auto& [place, command] : in_order) command->setup(app);
}

std::string refuse_negative(const std::string& text) {
  const auto value = parse_real(text);
  return value && *value >= 0 ? "" : "'" + text + "' is no number of zero or more";
}

std::string refuse_empty(const std::string& text) {
  return text.empty() ? "the name of a file is empty" : "";
}

std::string input_path(const std::string& text) { return text == "-" ? "/dev/stdin" : text; }

void print_json(const nlohmann::ordered_json& value, int indent) {
  using nlohmann::ordered_json;
  print_data(value.dump(indent, ' ', false, ordered_json::error_handler_t::replace) + "\n");
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

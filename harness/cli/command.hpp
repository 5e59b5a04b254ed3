// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

#include "common/registry.hpp"

namespace CLI {
class App;
}

namespace tersor::harness {

/// One top-level command of `tersor`.
struct Command {
  static constexpr std::string_view kKind = "command";
  int order = 0;  ///< place in --help
  std::string name;
  /// Adds the subcommand (with its help and examples) to the app; its callback does the work,
  /// throws tersor::Error, and may set the exit status.
  std::function<void(CLI::App&)> setup;
};

/// Put one object of this type at the end of each harness/cli/commands/NAME.cpp; no list names the
/// commands.
class CommandRegistrar : Registrar<Command> {
 public:
  CommandRegistrar(int order, std::string name, std::function<void(CLI::App&)> setup,
                   std::source_location origin = std::source_location::current())
      : Registrar({order, std::move(name), std::move(setup)}, origin) {}
};

/// Adds every registered command to `app`, by order, then name.
void add_commands(CLI::App& app);

/// A check for options: why `text` is no number of zero or more, or nothing.
std::string refuse_negative(const std::string& text);

/// The same for what is no whole number from `low` to `high`.
std::function<std::string(const std::string&)> refuse_outside(std::int64_t low, std::int64_t high);

/// Refuses, before work begins, an output file that could not be written after it: throws
/// Error(kUsage) where its extension is none of `extensions` (the first is the one to recommend),
/// Error(kIo) where its folder is missing or does not let this user write.
void check_output(const std::string& option, const std::filesystem::path& path,
                  std::initializer_list<std::string_view> extensions);

/// A check for options that name a file: refuses the empty string.
std::string refuse_empty(const std::string& text);

/// "-" as the path of standard input; every other path as it is.
std::string input_path(const std::string& text);

/// Writes JSON and a newline to standard output; bytes that are no UTF-8 (of paths) as U+FFFD.
/// `indent` -1: on one line.
void print_json(const nlohmann::ordered_json& value, int indent = 2);

/// Throws Error(kUsage) where `output` is the file `input`, or the file of a tensor FILE#NAME.
void refuse_overwriting(const std::string& option, const std::filesystem::path& output,
                        const std::string& input);

/// Exit status of the program after a command that did not throw (default 0).
void set_exit_status(int status);
int exit_status();

}  // namespace tersor::harness

// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "common/build_info.hpp"
#include "common/error.hpp"
#include "common/log.hpp"
#include "common/nearest.hpp"
#include "common/printable.hpp"
#include "common/standard_output.hpp"
#include "harness/cli/command.hpp"
#include "protocol/exit_code.hpp"

namespace {

using tersor::protocol::ProgramExit;

constexpr const char* kAbout =
    "tersor: does compressing the messages of model-parallel training pay, with which codec, "
    "where, on which link,\n"
    "at what accuracy? Runs a matrix of real training jobs, stores every run in SQLite, and "
    "reports from it.";

constexpr const char* kExamples =
    "Examples:\n"
    "  tersor run matrices/quickstart.json --db results.db   run every cell that the database "
    "lacks\n"
    "  tersor show accuracy --db results.db                  accuracy by codec, mean over seeds\n"
    "  tersor report --db results.db --out report            HTML page, Markdown and CSV\n"
    "  tersor doctor                                         what this machine can run\n"
    "  tersor codec roundtrip 'topk(ratio=0.01)' x.npy       try a codec on your own activations\n"
    "  tersor list codecs                                    what there is, with parameters\n";

/// `tersor help [COMMAND]..` says what `tersor COMMAND.. --help` does.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

/// Throws where a word stands where a subcommand should and names none: CLI11 alone would say only
/// that a subcommand is required.
void refuse_unknown_command(const CLI::App& root, const std::vector<std::string>& words) {
  const CLI::App* app = &root;
  for (const std::string& word : words) {
    if (word.starts_with('-')) return;
    const auto subcommands = app->get_subcommands([](const CLI::App*) { return true; });
    if (subcommands.empty()) return;
    std::vector<std::string> names;
    const CLI::App* chosen = nullptr;
    for (const CLI::App* subcommand : subcommands) {
      names.push_back(subcommand->get_name());
      if (names.back() == word) chosen = subcommand;
    }
    if (chosen == nullptr) {
      const std::string of = app == &root ? "" : app->get_name() + ": ";
      throw tersor::Error(tersor::ErrorKind::kUsage, of + "unknown command '" + word + "'" +
                                                         tersor::known_names_hint(word, names));
    }
    app = chosen;
  }
}

/// Prints help, or what CLI11 says of the command line, words of which it repeats.
int exit_of(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out;
  std::ostringstream complaint;
  const int status = app.exit(error, out, complaint);
  tersor::print_data(out.str());
  tersor::finish_standard_output();
  std::fputs(tersor::printable(complaint.str()).c_str(), stderr);
  return status == 0 ? ProgramExit::kOk : ProgramExit::kBadInput;
}

/// Runs the command; its exit status.
int run(int argc, char** argv) {
  CLI::App app{kAbout, "tersor"};
  app.require_subcommand(1);
  app.set_version_flag("--version", [] { return "tersor " + tersor::build_version(); });
  app.get_formatter()->column_width(34);
  tersor::harness::add_commands(app);
  app.footer(kExamples);  // after the commands, which would take it over
  try {
    std::vector<std::string> words = words_of(argc, argv);
    refuse_unknown_command(app, words);
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return exit_of(app, error);
  }
  tersor::finish_standard_output();
  return tersor::harness::exit_status();
}

/// Without the log, which allocates.
void say_out_of_memory() {
  std::fputs(
      "tersor: out of memory: what was asked for needs more than this machine or its limits "
      "(ulimit -v) allow\n",
      stderr);
}

/// nlohmann/json allocates while it destroys a large value, so that memory that ran out in its
/// parser ends here.
[[noreturn]] void terminate() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    say_out_of_memory();
    std::_Exit(ProgramExit::kBadInput);
  } catch (...) {
    tersor::log_line(tersor::LogLevel::kError, "internal error: an exception that nothing caught");
  }
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(terminate);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of write() that names it
  tersor::hold_standard_descriptors();
  try {
    return run(argc, argv);
  } catch (const tersor::Error& error) {
    tersor::log_line(tersor::LogLevel::kError, error.what());
    return error.kind() == tersor::ErrorKind::kInternal ? ProgramExit::kDefect
                                                        : ProgramExit::kBadInput;
  } catch (const std::bad_alloc&) {
    say_out_of_memory();
    return ProgramExit::kBadInput;
  } catch (const std::system_error& error) {  // a folder that is gone, of std::filesystem
    tersor::log_line(tersor::LogLevel::kError, error.what());
    return ProgramExit::kBadInput;
  } catch (const std::exception& error) {
    tersor::log_line(tersor::LogLevel::kError, std::string("internal error: ") + error.what());
    return ProgramExit::kDefect;
  }
}

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "results/query/reader.hpp"

namespace tersor::harness::testing {

/// What a program printed, both streams together, and its exit status (128 + signal).
struct ProgramResult {
  int status = 0;
  std::string output;
  double cpu_seconds = 0;  ///< of the program alone
};

/// Runs a program to its end; TERSOR_DATA and TERSOR_WEIGHTS are empty unless given.
ProgramResult run_program(const std::vector<std::string>& arguments,
                          const std::map<std::string, std::string>& variables = {});

/// A folder of its own with a matrix and a database, for the real `tersor` and the fake worker.
class Workplace {
 public:
  Workplace();
  ~Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  std::filesystem::path write(const std::string& name, const std::string& text) const;
  /// A matrix of one cell on cpu-tp2 (or `hardware`) and these seeds.
  std::filesystem::path write_matrix(const std::string& seeds,
                                     const std::string& hardware = "\"cpu-tp2\"") const;

  /// `tersor run matrix.json --db results.db` and further arguments.
  ProgramResult run(const std::string& fake, const std::vector<std::string>& more = {}) const;
  /// The same in the background; returns the process id. Output goes to `log`.
  pid_t start(const std::string& fake, const std::vector<std::string>& more = {},
              std::map<std::string, std::string> variables = {}) const;
  /// Waits for a started program; 128 + signal where it was killed.
  static int wait(pid_t pid);

  /// Rows of one query, as text, cells joined by " | ".
  std::vector<std::string> query(const std::string& sql) const;
  /// Processes (zombies not counted) whose command line names this folder.
  std::vector<pid_t> processes() const;
  /// Fails the test where the condition does not come true within ten seconds.
  static void wait_for(const std::function<bool()>& condition, const std::string& what);
  /// True once a rank of a run in this folder has written a step.
  bool has_steps() const;

 private:
  std::vector<std::string> command(const std::vector<std::string>& more) const;
  std::filesystem::path folder_;
};

}  // namespace tersor::harness::testing

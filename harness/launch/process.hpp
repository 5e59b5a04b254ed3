// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace tersor::harness {

/// A child to start.
struct ProcessSpec {
  std::vector<std::string> arguments;                          ///< the first is the program's path
  std::vector<std::pair<std::string, std::string>> variables;  ///< on top of this process's own
  std::vector<int> cores;                                      ///< empty: where this process runs
  std::filesystem::path output;                                ///< standard output is appended here
  std::filesystem::path errors;                                ///< likewise standard error
  pid_t group = 0;  ///< process group to join; 0: a new one
};

/// Starts it: own process group, standard input empty, default signal handling, and SIGKILL as soon
/// as the thread that called this is gone, so that no child outlives a killed harness. Returns its
/// process id. Throws Error(kIo) with the step that failed (also where the program cannot be
/// executed).
pid_t start_process(const ProcessSpec& spec);

/// How a process ended.
struct ProcessEnd {
  int exit_code = 0;  ///< where signal is 0
  int signal = 0;     ///< what killed it; 0: it exited
  /// 128 + signal where it was killed.
  int status() const { return signal ? 128 + signal : exit_code; }
};

/// "exit status 1", "signal 9 (Killed)".
std::string to_string(const ProcessEnd& end);

}  // namespace tersor::harness

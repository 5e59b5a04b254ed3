// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tersor {

/// A child to start.
struct ProcessSpec {
  std::vector<std::string> arguments;  ///< the first: the program's path, or a name of the PATH
  std::vector<std::pair<std::string, std::string>> variables;  ///< on top of this process's own
  /// Variables of this process that the child does not get; all that begin with it where it ends in
  /// '*'.
  std::vector<std::string> dropped;
  std::vector<int> cores;        ///< empty: where this process runs
  std::filesystem::path output;  ///< standard output is appended here; empty: thrown away
  std::filesystem::path errors;  ///< likewise standard error
  int input_descriptor = -1;     ///< becomes standard input; -1: that is empty
  int output_descriptor = -1;    ///< becomes standard output, in place of `output`
  pid_t group = 0;               ///< process group to join; 0: a new one
};

/// Starts it: own process group, default signal handling, no descriptor of this process but the
/// three standard ones, and SIGKILL as soon as the thread that called this is gone, so that no
/// child outlives a killed program. Returns its process id. Throws Error(kIo) with the step that
/// failed (also where the program cannot be executed).
pid_t start_process(const ProcessSpec& spec);

/// How a process ended.
struct ProcessEnd {
  int exit_code = 0;  ///< where signal is 0
  int signal = 0;     ///< what killed it; 0: it exited
  /// 128 + signal where it was killed.
  int status() const { return signal ? 128 + signal : exit_code; }
};

/// How a child ended; nothing while it runs. It is not reaped: as long as it is a zombie, its
/// number, and that of the group that it leads, stay its own.
std::optional<ProcessEnd> poll_process(pid_t child);
/// Waits for a child's end and reaps it.
ProcessEnd wait_process(pid_t child);

/// Starts `spec` with `input` on its standard input and returns all that it writes to standard
/// output, whose descriptors are set here. Throws Error(kIo) where it cannot be started, does not
/// close its output within `limit` (it is killed then) or does not exit with 0.
std::string run_process(ProcessSpec spec, std::string_view input, std::chrono::seconds limit);

/// "exit status 1", "signal 9 (Killed)".
std::string to_string(const ProcessEnd& end);

}  // namespace tersor

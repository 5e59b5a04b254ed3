// SPDX-License-Identifier: Apache-2.0
#include "common/process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>

#include "common/error.hpp"
#include "common/system_reason.hpp"

extern char** environ;

namespace tersor {
namespace {

/// What the child tells through the pipe where it fails before exec.
struct Failure {
  const char* step = nullptr;  ///< a literal: the child is a copy of this process
  int error = 0;
};

/// Everything that the child needs, made before fork: between fork and exec nothing is allocated.
struct Prepared {
  std::vector<std::string> variables;
  std::vector<char*> arguments, environment;
  std::string program, output, errors;
  int input_descriptor = -1, output_descriptor = -1;
  cpu_set_t cores;
  bool is_pinned = false;
  pid_t group = 0;
  pid_t parent = 0;
  int report = -1;
};

/// The program's file: a name without a slash is looked up in PATH. Not execvpe, which gives what
/// is no program to the shell.
std::string file_of(const std::string& program) {
  const char* path = std::getenv("PATH");
  if (program.find('/') != std::string::npos || !path) return program;
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + program;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return program;
}

bool is_dropped(const ProcessSpec& spec, std::string_view name) {
  return std::any_of(spec.dropped.begin(), spec.dropped.end(), [&](std::string_view pattern) {
    if (!pattern.ends_with('*')) return name == pattern;
    return name.starts_with(pattern.substr(0, pattern.size() - 1));
  });
}

Prepared prepare(const ProcessSpec& spec) {
  Prepared p;
  std::map<std::string, std::string> merged;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (const auto equals = text.find('=');
        equals != std::string::npos && !is_dropped(spec, text.substr(0, equals)))
      merged[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : spec.variables) merged[name] = value;
  for (const auto& [name, value] : merged) p.variables.push_back(name + "=" + value);
  for (std::string& variable : p.variables) p.environment.push_back(variable.data());
  p.environment.push_back(nullptr);
  for (const std::string& argument : spec.arguments)
    p.arguments.push_back(const_cast<char*>(argument.c_str()));  // execve does not write to them
  p.arguments.push_back(nullptr);
  p.program = file_of(spec.arguments.at(0));
  p.output = spec.output.empty() ? "/dev/null" : spec.output.string();
  p.errors = spec.errors.empty() ? "/dev/null" : spec.errors.string();
  p.input_descriptor = spec.input_descriptor;
  p.output_descriptor = spec.output_descriptor;
  CPU_ZERO(&p.cores);
  for (const int core : spec.cores) CPU_SET(core, &p.cores);
  p.is_pinned = !spec.cores.empty();
  p.group = spec.group;
  p.parent = getpid();
  return p;
}

[[noreturn]] void give_up(const Prepared& p, const char* step) {
  const Failure failure{step, errno};
  (void)!write(p.report, &failure, sizeof failure);
  _exit(127);
}

void redirect(const Prepared& p, const char* path, int flags, int target, const char* step) {
  constexpr int kReadableByAll = 0644;
  const int file = open(path, flags, kReadableByAll);
  if (file < 0 || dup2(file, target) < 0) give_up(p, step);
  if (file != target) close(file);
}

[[noreturn]] void become(const Prepared& p) {
  if (setpgid(0, p.group) != 0) give_up(p, "setpgid");
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(p, "prctl");
  if (getppid() != p.parent) _exit(127);  // the parent died before prctl
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE}) {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (p.is_pinned && sched_setaffinity(0, sizeof p.cores, &p.cores) != 0)
    give_up(p, "sched_setaffinity");
  constexpr int kAppend = O_WRONLY | O_CREAT | O_APPEND;
  if (p.input_descriptor < 0)
    redirect(p, "/dev/null", O_RDONLY, STDIN_FILENO, "open /dev/null");
  else if (dup2(p.input_descriptor, STDIN_FILENO) < 0)
    give_up(p, "dup2");
  if (p.output_descriptor < 0)
    redirect(p, p.output.c_str(), kAppend, STDOUT_FILENO, "open the log");
  else if (dup2(p.output_descriptor, STDOUT_FILENO) < 0)
    give_up(p, "dup2");
  redirect(p, p.errors.c_str(), kAppend, STDERR_FILENO, "open the log");
  execve(p.program.c_str(), p.arguments.data(), p.environment.data());
  give_up(p, "exec");
}

}  // namespace

pid_t start_process(const ProcessSpec& spec) {
  Prepared prepared = prepare(spec);
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0)
    throw Error(ErrorKind::kIo, "pipe: " + system_reason(errno));
  prepared.report = pipe_ends[1];
  const pid_t child = fork();
  if (child == 0) become(prepared);
  const int fork_error = errno;
  close(pipe_ends[1]);
  Failure failure;
  ssize_t got = 0;
  if (child > 0) {
    setpgid(child, spec.group ? spec.group : child);  // whoever comes first; the child reports
    do {
      got = read(pipe_ends[0], &failure, sizeof failure);
    } while (got < 0 && errno == EINTR);
  }
  close(pipe_ends[0]);
  if (child < 0)
    throw Error(
        ErrorKind::kIo,
        "cannot start a process: " + system_reason(fork_error) +
            (fork_error == EAGAIN ? "; no more processes are allowed: raise `ulimit -u` or the "
                                    "cgroup's pids.max"
                                  : ""));
  if (got == sizeof failure) {
    wait_process(child);
    throw Error(ErrorKind::kIo, spec.arguments.at(0) + ": cannot be started: " + failure.step +
                                    ": " + system_reason(failure.error));
  }
  return child;
}

std::optional<ProcessEnd> poll_process(pid_t child) {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0)
    return std::nullopt;
  const bool has_exited = info.si_code == CLD_EXITED;
  return ProcessEnd{has_exited ? info.si_status : 0, has_exited ? 0 : info.si_status};
}

ProcessEnd wait_process(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

std::string to_string(const ProcessEnd& end) {
  if (!end.signal) return "exit status " + std::to_string(end.exit_code);
  return "signal " + std::to_string(end.signal) + " (" + strsignal(end.signal) + ")";
}

}  // namespace tersor

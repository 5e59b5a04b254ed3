// SPDX-License-Identifier: Apache-2.0
#include "reports/engine/draw.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/cache_folder.hpp"
#include "common/error.hpp"
#include "reports/engine/context.hpp"

extern char** environ;

namespace tersor::reports {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr auto kLongest = std::chrono::seconds(120);

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string python() {
  if (const std::string chosen = variable("TERSOR_PYTHON"); !chosen.empty()) return chosen;
  const fs::path own = cache_folder() / "venv/bin/python3";
  std::error_code code;
  return fs::exists(own, code) ? own.string() : "python3";
}

class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void reset(int value) {
    close();
    value_ = value;
  }
  void close() {
    if (value_ >= 0) ::close(value_);
    value_ = -1;
  }
  int get() const { return value_; }

 private:
  int value_;
};

struct Pipe {
  Descriptor read, write;
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      throw Error(ErrorKind::kIo, std::string("pipe: ") + std::strerror(errno));
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
};

/// Writes `input` and reads all output until the other side closes or the time is up.
bool exchange(Pipe& to, Pipe& from, std::string_view input, std::string& output) {
  const auto deadline = Clock::now() + kLongest;
  ::fcntl(to.write.get(), F_SETFL, O_NONBLOCK);
  if (input.empty()) to.write.close();
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    std::array<pollfd, 2> waits{{{from.read.get(), POLLIN, 0}, {to.write.get(), POLLOUT, 0}}};
    const int ready = ::poll(waits.data(), waits.size(), static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    if (waits[1].revents != 0) {
      const ssize_t written = ::write(to.write.get(), input.data(), input.size());
      if (written > 0) input.remove_prefix(static_cast<std::size_t>(written));
      const bool is_broken = written < 0 && errno != EAGAIN && errno != EINTR;
      if (input.empty() || is_broken) to.write.close();
    }
    if (waits[0].revents != 0) {
      std::array<char, 65536> buffer{};
      const ssize_t length = ::read(from.read.get(), buffer.data(), buffer.size());
      if (length == 0) return true;
      if (length < 0 && errno != EINTR && errno != EAGAIN) return false;
      if (length > 0) output.append(buffer.data(), static_cast<std::size_t>(length));
    }
  }
}

/// Output of PROGRAM -c SCRIPT with `input`; throws Error(kMissing) where it cannot be started,
/// Error(kIo) where it fails.
std::string run_python(const std::string& program, std::string script, const std::string& input) {
  Pipe to;
  Pipe from;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to.read.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from.write.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string name = program;
  std::string flag = "-c";
  std::array<char*, 4> arguments{name.data(), flag.data(), script.data(), nullptr};
  pid_t child = 0;
  const int failure =
      ::posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    throw Error(ErrorKind::kMissing, program + " cannot be started: " + std::strerror(failure));
  to.read.close();
  from.write.close();
  std::string output;
  const bool is_done = exchange(to, from, input, output);
  if (!is_done) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!is_done) throw Error(ErrorKind::kIo, program + " did not answer within 120 s");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw Error(ErrorKind::kIo, program + " failed");
  return output;
}

/// A write to a process that died must be an error here, not the end of this one.
class IgnoreBrokenPipe {
 public:
  IgnoreBrokenPipe() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &old_);
  }
  ~IgnoreBrokenPipe() { ::sigaction(SIGPIPE, &old_, nullptr); }
  IgnoreBrokenPipe(const IgnoreBrokenPipe&) = delete;
  IgnoreBrokenPipe& operator=(const IgnoreBrokenPipe&) = delete;

 private:
  struct sigaction old_ {};
};

}  // namespace

std::string draw(const std::vector<Figure*>& figures) {
  if (figures.empty()) return "";
  nlohmann::ordered_json specifications = nlohmann::ordered_json::array();
  for (const Figure* figure : figures) specifications.push_back(figure->specification);
  const std::string program = python();
  const std::string remedy = "; scripts/setup makes the environment, TERSOR_PYTHON names another";
  try {
    const IgnoreBrokenPipe guard;
    const auto result = nlohmann::json::parse(
        run_python(program, std::string(embedded_file("engine/draw.py")), specifications.dump()));
    if (result.contains("error"))
      return program + ": " + result.at("error").get<std::string>() + remedy;
    for (std::size_t i = 0; i < figures.size(); ++i)
      figures[i]->svg = result.at("svg").at(i).get<std::string>();
    return "";
  } catch (const Error& error) {
    return error.what() + remedy;
  } catch (const nlohmann::json::exception&) {
    return program + " gave no answer that can be read" + remedy;
  }
}

}  // namespace tersor::reports

// SPDX-License-Identifier: Apache-2.0
// run_process: a child between two pipes.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "common/clock.hpp"
#include "common/descriptor.hpp"
#include "common/error.hpp"
#include "common/process.hpp"
#include "common/system_reason.hpp"

namespace tersor {
namespace {

struct Pipe {
  Descriptor read, write;
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      throw Error(ErrorKind::kIo, "pipe: " + system_reason(errno));
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
};

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

/// Writes `input` and reads all output until the other side closes; false where the time is up.
bool exchange(Pipe& to, Pipe& from, std::string_view input, std::string& output,
              std::chrono::nanoseconds limit) {
  const IgnoreBrokenPipe guard;
  const std::int64_t deadline = steady_ns() + limit.count();
  ::fcntl(to.write.get(), F_SETFL, O_NONBLOCK);
  if (input.empty()) to.write.close();
  while (true) {
    const std::int64_t left_ms = (deadline - steady_ns()) / 1'000'000;
    if (left_ms <= 0) return false;
    std::array<pollfd, 2> waits{{{from.read.get(), POLLIN, 0}, {to.write.get(), POLLOUT, 0}}};
    const int ready = ::poll(waits.data(), waits.size(), static_cast<int>(left_ms));
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

}  // namespace

std::string run_process(ProcessSpec spec, std::string_view input, std::chrono::seconds limit) {
  const std::string program = spec.arguments.at(0);
  Pipe to;
  Pipe from;
  spec.input_descriptor = to.read.get();
  spec.output_descriptor = from.write.get();
  const pid_t child = start_process(spec);
  to.read.close();
  from.write.close();
  std::string output;
  const bool is_done = exchange(to, from, input, output, limit);
  if (!is_done) ::kill(child, SIGKILL);
  const ProcessEnd end = wait_process(child);
  if (!is_done)
    throw Error(ErrorKind::kIo,
                program + " did not answer within " + std::to_string(limit.count()) + " s");
  if (end.status() != 0) throw Error(ErrorKind::kIo, program + " failed: " + to_string(end));
  return output;
}

}  // namespace tersor

// SPDX-License-Identifier: Apache-2.0
#include "common/process.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "common/error.hpp"
#include "common/variable_for_test.hpp"

using namespace tersor;
using Catch::Contains;

namespace {

ProcessSpec shell(const std::string& script) {
  ProcessSpec spec;
  spec.arguments = {"sh", "-c", script};  // of the PATH
  return spec;
}

constexpr std::chrono::seconds kLong{60};

}  // namespace

TEST_CASE("a process reads what it is given, and its output comes back") {
  CHECK(run_process(shell("cat; echo \"$WORD\""), "", kLong) == "\n");
  ProcessSpec spec = shell("cat; echo \"$WORD\"");
  spec.variables = {{"WORD", "there"}};
  CHECK(run_process(spec, "hello ", kLong) == "hello there\n");
  const testing::Variable one("TERSOR_DROPPED_ONE", "1"), two("TERSOR_DROPPED_TWO", "2");
  spec = shell("echo \"$TERSOR_DROPPED_ONE, $TERSOR_DROPPED_TWO\"");
  spec.dropped = {"TERSOR_DROPPED", "TERSOR_DROPPED_TWO"};  // whole names
  CHECK(run_process(spec, "", kLong) == "1, \n");
  spec.dropped = {"TERSOR_DROPPED*"};
  spec.variables = {{"TERSOR_DROPPED_TWO", "3"}};  // what is set is set
  CHECK(run_process(spec, "", kLong) == ", 3\n");
  const std::string large(3 << 20, 'x');  // more than both pipes hold
  CHECK(run_process(shell("cat"), large, kLong) == large);
}

TEST_CASE("a process that does not read its input, fails or hangs") {
  const std::string large(3 << 20, 'x');
  CHECK(run_process(shell("echo done"), large, kLong) == "done\n");
  CHECK_THROWS_WITH(run_process(shell("exit 3"), "", kLong), "sh failed: exit status 3");
  CHECK_THROWS_WITH(run_process(shell("kill -9 $$"), "", kLong),
                    Contains("sh failed: signal 9 (Killed)"));
  CHECK_THROWS_WITH(run_process(shell("sleep 100"), "", std::chrono::seconds(1)),
                    "sh did not answer within 1 s");
  ProcessSpec text;  // executable by its rights alone
  text.arguments = {"/proc/self/environ"};
  CHECK_THROWS_AS(run_process(text, "", kLong), Error);
  ProcessSpec missing;
  missing.arguments = {"no-such-program"};
  CHECK_THROWS_WITH(run_process(missing, "", kLong),
                    "no-such-program: cannot be started: exec: No such file or directory");
}

TEST_CASE("a process is polled without being reaped") {
  const pid_t child = start_process(shell("exit 4"));
  std::optional<ProcessEnd> end;
  while (!end) end = poll_process(child);
  CHECK(end->exit_code == 4);
  CHECK(poll_process(child)->exit_code == 4);
  CHECK(wait_process(child).status() == 4);
  CHECK(to_string(ProcessEnd{0, 9}) == "signal 9 (Killed)");
  CHECK(ProcessEnd{0, 9}.status() == 128 + 9);
}

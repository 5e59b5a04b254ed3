// SPDX-License-Identifier: Apache-2.0
#include "protocol/status.hpp"

#include <catch2/catch.hpp>
#include <csignal>

#include "common/error.hpp"
#include "protocol/exit_code.hpp"

using namespace tersor;
using namespace tersor::protocol;

TEST_CASE("status: every value has a name of its own and is read back") {
  for (const std::string_view name : status_names()) CHECK(to_string(parse_status(name)) == name);
  for (const std::string_view name : cause_names()) CHECK(to_string(parse_cause(name)) == name);
  CHECK(to_string(Status::kInfeasible) == "infeasible");
  CHECK(to_string(Cause::kLostPeer) == "lost_peer");
  CHECK(to_string(Cause::kUnknown) == "unknown");
  CHECK_THROWS_WITH(parse_status("done"), Catch::Contains("status 'done' is none of planned,"));
  CHECK_THROWS_WITH(parse_cause("bad luck"), Catch::Contains("none, interrupted, lost_peer"));
}

TEST_CASE("exit codes: a worker's verdict and its exit status agree") {
  for (const Verdict& verdict :
       {Verdict{}, Verdict{Status::kDiverged, Cause::kNonFinite},
        Verdict{Status::kOom, Cause::kOutOfMemoryHost},
        Verdict{Status::kFailed, Cause::kInterrupted}, Verdict{Status::kFailed, Cause::kDefect}})
    CHECK(verdict_of_exit(worker_exit(verdict)) == verdict);
  CHECK(worker_exit({Status::kFailed, Cause::kLostPeer}) == 1);
  CHECK(worker_exit({Status::kOom, Cause::kOutOfMemoryDevice}) == 4);
  CHECK(verdict_of_exit(kCannotStart).cause == Cause::kSystem);
  CHECK(exit_of_signal(SIGINT) == WorkerExit::kInterrupted);
  CHECK(exit_of_signal(SIGINT) == ProgramExit::kInterrupted);
}

// SPDX-License-Identifier: Apache-2.0
// The real program with a worker that computes nothing (testing/fake_worker.cpp).
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "harness/testing/program.hpp"

using Catch::Contains;
using tersor::harness::testing::run_program;
using tersor::harness::testing::Workplace;
namespace fs = std::filesystem;

namespace {

constexpr const char* kRuns = "SELECT seed, attempt, status FROM run ORDER BY seed, attempt";
using Rows = std::vector<std::string>;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

fs::path only_run_folder(const Workplace& place) {
  for (const auto& entry : fs::directory_iterator(place.path("results.db.runs")))
    if (entry.is_directory()) return entry.path();
  return {};
}

}  // namespace

TEST_CASE("a matrix runs, and a second time there is nothing to do") {
  const Workplace place;
  place.write_matrix("1, 18446744073709551615");
  const auto plan = place.run("ok", {"--dry-run"});
  CHECK(plan.status == 0);
  CHECK_THAT(plan.output, Contains("m: 2 runs, 2 to do, 0 in the database") &&
                              Contains("run         cast  synthetic  cpu-tp2  seed 1: new"));
  CHECK_FALSE(fs::exists(place.path("results.db")));
  CHECK_FALSE(fs::exists(place.path("results.db.runs")));

  const auto first = place.run("ok");
  INFO(first.output);
  CHECK(first.status == 0);
  CHECK_THAT(first.output, Contains("[1/2]  ok  ") && Contains("accuracy 0.5000") &&
                               Contains("m: 2 ok") && Contains("end at "));
  CHECK(place.query("SELECT status, count(*) FROM run GROUP BY status") == Rows{"ok | 2"});
  CHECK(place.query("SELECT DISTINCT attempt, exit_code, steps, world FROM run") ==
        Rows{"1 | 0 | 3 | 2"});
  CHECK(place.query("SELECT name FROM sweep") == Rows{"m"});

  const auto second = place.run("crash");
  CHECK(second.status == 0);
  CHECK_THAT(second.output, Contains("0 to do, 2 in the database") &&
                                Contains("seed 1: ok in the database (attempt 1)") &&
                                Contains("m: 2 ok (2 before)"));
  CHECK(place.query("SELECT count(*) FROM run") == Rows{"2"});

  place.write_matrix("1, 2");
  const auto planned = place.run("ok", {"--dry-run"});
  CHECK_THAT(planned.output, Contains("1 to do, 1 in the database; about 2.0 s by earlier runs"));
}

TEST_CASE("ranks get torchrun's environment, their cores and their logs") {
  const Workplace place;
  place.write_matrix("1");
  REQUIRE(place.run("ok").status == 0);
  const fs::path folder = only_run_folder(place);
  CHECK_THAT(folder.filename().string(), Catch::EndsWith("-1-1"));
  CHECK_THAT(text_of(folder / "cell.json"),
             Contains("\"format\": 1") && Contains("\"attempt\": 1"));
  const std::string rank0 = text_of(folder / "rank0.err");
  const std::string rank1 = text_of(folder / "rank1.err");
  CHECK_THAT(rank0, Contains("rank 0 of 2, cores ") && Contains(", threads 1"));
  CHECK_THAT(rank1, Contains("rank 1 of 2, cores "));
  CHECK(rank0.substr(rank0.find(", port")) == rank1.substr(rank1.find(", port")));
  // One core each; different ones where there are two.
  CHECK(std::count(rank0.begin(), rank0.end(), ',') == 3);
  if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
    CHECK(rank0.substr(rank0.find(", cores")) != rank1.substr(rank1.find(", cores")));
  CHECK(place.query("SELECT spool_dir FROM run") ==
        Rows{"results.db.runs/" + folder.filename().string()});
  const auto dropped = place.run("ok", {"--drop-spools"});
  CHECK(fs::exists(folder));
}

TEST_CASE("whatever happens to a run becomes a row, and the others go on") {
  const Workplace place;
  place.write_matrix("1, 2, 3, 4, 5, 6, 7, 8, 9");
  const auto result = place.run("1=crash;2=diverged;3=oom;4=noend;5=broken;6=torn;7=early;8=child",
                                {"--drop-spools"});
  INFO(result.output);
  CHECK(result.status == 1);
  CHECK_THAT(result.output, Contains("m: 3 ok, 4 failed, 1 diverged, 1 oom") && Contains("[9/9]"));
  CHECK(place.query("SELECT seed, status, exit_code FROM run ORDER BY seed") ==
        Rows{"1 | failed | 134", "2 | diverged | 3", "3 | oom | 4", "4 | failed | 0",
             "5 | failed | 0", "6 | ok | 0", "7 | failed | 1", "8 | ok | 0", "9 | ok | 0"});
  CHECK(place.query("SELECT cause FROM run ORDER BY seed") ==
        Rows{"defect", "non_finite", "out_of_memory_device", "defect", "defect", "none", "refused",
             "none", "none"});
  const auto reasons = place.query("SELECT reason FROM run ORDER BY seed");
  CHECK(reasons[0] == "rank 1: killed by signal 6 (Aborted)");
  CHECK(reasons[1].substr(6) == ": loss is not finite at step 2");
  CHECK_THAT(reasons[2], Catch::EndsWith(": no memory for 1 GiB"));  // both ranks fail alike
  CHECK(reasons[3] == "rank 0 exited with 0, but its spool has no end record");
  CHECK_THAT(reasons[4], Contains("rank1.jsonl:5:"));
  // Both ranks fail alike, and which of them is seen first is the scheduler's choice.
  CHECK(reasons[6].substr(6) == ": weights.safetensors: tensor x is missing");
  CHECK_THAT(place.query("SELECT log_tail FROM run WHERE seed = 1")[0],
             Contains("rank 0:\nrank 0 of 2, cores"));
  CHECK(place.processes().empty());  // the child of seed 8 included
  std::size_t kept = 0;
  for (const auto& entry : fs::directory_iterator(place.path("results.db.runs")))
    kept += entry.is_directory() ? 1 : 0;
  CHECK(kept == 6);  // of those that failed

  // Nothing but the failed runs, and only when asked to.
  const auto again = place.run("ok");
  CHECK(again.status == 1);
  CHECK_THAT(again.output,
             Contains("seed 1: attempt 1 failed: rank 1: killed by signal 6 (Aborted); "
                      "--retry-failed runs it again") &&
                 Contains("m: 3 ok (3 before), 6 failed before"));
  const auto retried = place.run("ok", {"--retry-failed"});
  CHECK(retried.status == 0);
  CHECK(place.query("SELECT count(*), max(attempt) FROM run") == Rows{"15 | 2"});
  CHECK(place.query("SELECT count(*) FROM v_deciding WHERE status = 'ok'") == Rows{"9"});
}

TEST_CASE("time limits end a run as timeout, deaf ranks too") {
  const Workplace place;
  place.write_matrix("1, 2");
  const auto limited = place.run("1=slow;2=ok", {"--timeout", "0.5"});
  INFO(limited.output);
  CHECK(limited.status == 1);
  CHECK(place.query("SELECT seed, status, cause FROM run ORDER BY seed") ==
        Rows{"1 | timeout | time_limit", "2 | ok | none"});
  CHECK_THAT(place.query("SELECT reason FROM run WHERE seed = 1")[0],
             Contains("--timeout: stopped after 0.5 s at step "));
  place.write_matrix("3");
  const auto stalled = place.run("hang", {"--stall", "1"});
  CHECK(stalled.status == 1);
  CHECK_THAT(
      place.query("SELECT status || ' ' || cause || ' ' || reason FROM run WHERE seed = 3")[0],
      Contains("timeout stalled --stall: no rank wrote anything for 1.0 s"));
  CHECK(place.processes().empty());
}

TEST_CASE("--fail-fast stops, and the same command goes on") {
  const Workplace place;
  place.write_matrix("1, 2, 3");
  const auto result = place.run("2=early", {"--fail-fast"});
  CHECK(result.status == 1);
  CHECK_THAT(result.output, Contains("1 skipped"));
  CHECK(place.query(kRuns) == Rows{"1 | 1 | ok", "2 | 1 | failed", "3 | 1 | skipped"});
  CHECK(place.query("SELECT cause FROM run WHERE seed = 3") == Rows{"fail_fast"});
  const auto again = place.run("ok");
  CHECK_THAT(again.output, Contains("was skipped: --fail-fast: not started after cast"));
  CHECK(place.query(kRuns) ==
        Rows{"1 | 1 | ok", "2 | 1 | failed", "3 | 1 | skipped", "3 | 2 | ok"});
}

TEST_CASE("Ctrl-C stops the run in progress and keeps what is finished") {
  const Workplace place;
  place.write_matrix("1, 2, 3");
  const pid_t harness = place.start("2=slow");
  Workplace::wait_for(
      [&] {
        return place.has_steps() && place.processes().size() == 3 &&
               text_of(place.path("log")).find("[1/3]") != std::string::npos;
      },
      "seed 2 to run");
  kill(harness, SIGINT);
  CHECK(Workplace::wait(harness) == 130);
  const std::string log = text_of(place.path("log"));
  CHECK_THAT(log, Contains("interrupted: the same command goes on where it stopped"));
  CHECK(place.processes().empty());
  CHECK(place.query(kRuns) == Rows{"1 | 1 | ok", "2 | 1 | failed"});
  CHECK_THAT(place.query("SELECT reason FROM run WHERE seed = 2")[0],
             Contains("interrupted by SIGINT"));
  const auto again = place.run("ok");
  CHECK(again.status == 0);
  CHECK_THAT(again.output, Contains("again: attempt 1 was interrupted by SIGINT"));
  CHECK(place.query(kRuns) == Rows{"1 | 1 | ok", "2 | 1 | failed", "2 | 2 | ok", "3 | 1 | ok"});
}

TEST_CASE("a second Ctrl-C kills ranks that do not listen") {
  const Workplace place;
  place.write_matrix("1");
  const pid_t harness = place.start("deaf");
  Workplace::wait_for([&] { return place.processes().size() == 3; }, "two ranks");
  Workplace::wait_for([&] { return fs::exists(only_run_folder(place) / "rank1.jsonl"); },
                      "a spool");
  kill(harness, SIGTERM);
  usleep(200 * 1000);
  kill(harness, SIGTERM);
  CHECK(Workplace::wait(harness) == 130);
  CHECK(place.processes().empty());
  CHECK(place.query("SELECT status FROM run") == Rows{"failed"});
}

TEST_CASE("kill -9 of the harness leaves no process, and the same command goes on") {
  const Workplace place;
  place.write_matrix("1, 2");
  const pid_t harness = place.start("2=slow");
  Workplace::wait_for(
      [&] {
        return text_of(place.path("log")).find("[1/2]") != std::string::npos &&
               place.processes().size() == 3;
      },
      "seed 2 to run");
  kill(harness, SIGKILL);
  CHECK(Workplace::wait(harness) == 137);
  Workplace::wait_for([&] { return place.processes().empty(); }, "the ranks to die with it");
  CHECK(place.query(kRuns) == Rows{"1 | 1 | ok", "2 | 1 | running"});
  const auto again = place.run("ok");
  INFO(again.output);
  CHECK(again.status == 0);
  CHECK_THAT(again.output, Contains("which a harness had left running: failed (interrupted: ") &&
                               Contains("again: attempt 1 was interrupted: the harness died"));
  CHECK(place.query(kRuns) == Rows{"1 | 1 | ok", "2 | 1 | failed", "2 | 2 | ok"});
}

TEST_CASE("a run is run again where its harness died before all ranks had ended") {
  const bool is_torn = GENERATE(true, false);
  const Workplace place;
  place.write_matrix("1");
  const pid_t harness = place.start("slow");
  Workplace::wait_for([&] { return place.has_steps() && place.processes().size() == 3; }, "a step");
  kill(harness, SIGKILL);
  CHECK(Workplace::wait(harness) == 137);
  Workplace::wait_for([&] { return place.processes().empty(); }, "the ranks to die with it");
  // Rank 1 was still told to stop, and said so; rank 0 was lost before or while it said the same.
  const auto append = [&](const char* rank, const char* text) {
    std::ofstream(only_run_folder(place) / rank, std::ios::app) << text;
  };
  append("rank1.jsonl",
         "{\"type\":\"end\",\"status\":\"failed\",\"cause\":\"interrupted\","
         "\"reason\":\"interrupted\",\"wall_ns\":1,\"steps\":2}\n");
  if (is_torn) append("rank0.jsonl", "{\"type\":\"end\",\"stat");
  const auto again = place.run("ok");
  INFO(again.output);
  CHECK(again.status == 0);
  CHECK_THAT(again.output, Contains("again: attempt 1 was interrupted: the harness died"));
  CHECK(place.query(kRuns) == Rows{"1 | 1 | failed", "1 | 2 | ok"});
}

TEST_CASE("a run that was finished when the harness died is not run again") {
  const Workplace place;
  place.write_matrix("1");
  REQUIRE(place.run("ok").status == 0);
  const std::string checksum = place.query("SELECT checksum FROM run")[0];
  // As the database is between the end of the ranks and the ingestion of their spools.
  const auto changed = run_program(
      {"/usr/bin/sqlite3", place.path("results.db").string(),
       "PRAGMA foreign_keys = ON; UPDATE run SET status = 'running', exit_code = NULL, checksum = "
       "NULL, ended_at = NULL; "
       "DELETE FROM measurement; DELETE FROM series; DELETE FROM eval; DELETE FROM process; DELETE "
       "FROM spool_file;"});
  if (changed.status == 127) {
    WARN("sqlite3 is not installed");
    return;
  }
  REQUIRE(changed.status == 0);
  const auto again = place.run("crash");
  INFO(again.output);
  CHECK(again.status == 0);
  CHECK_THAT(again.output, Contains("left running: ok") && Contains("0 to do"));
  CHECK(place.query("SELECT attempt, status, exit_code, checksum FROM run") ==
        Rows{"1 | ok | 0 | " + checksum});
  CHECK(place.query("SELECT inference FROM eval ORDER BY 1") == Rows{"off", "on"});
}

TEST_CASE("kill -9 of a rank fails its run only") {
  const Workplace place;
  place.write_matrix("1, 2");
  const pid_t harness = place.start("1=slow");
  Workplace::wait_for([&] { return place.has_steps() && place.processes().size() == 3; },
                      "two ranks");
  const auto processes = place.processes();
  kill(*std::max_element(processes.begin(), processes.end()), SIGKILL);
  CHECK(Workplace::wait(harness) == 1);
  CHECK(place.query("SELECT seed, status, exit_code FROM run ORDER BY seed") ==
        Rows{"1 | failed | 137", "2 | ok | 0"});
  CHECK(place.query("SELECT cause FROM run WHERE seed = 1") == Rows{"killed"});
  CHECK_THAT(place.query("SELECT reason FROM run WHERE seed = 1")[0],
             Contains("killed by signal 9 (Killed)"));
  CHECK(place.processes().empty());
}

TEST_CASE("a database has one harness at a time") {
  const Workplace place;
  place.write_matrix("1");
  const pid_t harness = place.start("slow");
  Workplace::wait_for([&] { return place.has_steps(); }, "the first to run");
  const auto second = place.run("ok");
  CHECK(second.status == 2);
  CHECK_THAT(second.output, Contains("another tersor (process " + std::to_string(harness) +
                                     ") is running cells into this database"));
  CHECK(place.run("ok", {"--dry-run"}).status == 0);  // looking is allowed
  kill(harness, SIGTERM);
  CHECK(Workplace::wait(harness) == 130);
  CHECK(place.run("ok").status == 0);
}

TEST_CASE("what cannot run here is a row with its reason") {
  const Workplace place;
  place.write("matrix.json", R"json({"name": "m", "matrix": {"hardware": "cpu-tp2", "seed": 1,
    "dataset": ["synthetic", "mrpc"]},
    "include": [{"hardware": "cpu-tp2", "model": "minilm-l6"}, {"layers": "last:7"},
                {"stage": "pretrain"}, {"hardware": "three"}]})json");
  fs::create_directory(place.path("profiles"));
  place.write("profiles/three.json", R"({"name": "three", "tp": 3})");
  const auto result = place.run("ok", {"--profiles", place.path("profiles").string(), "--weights",
                                       place.path("profiles").string()});
  INFO(result.output);
  CHECK(result.status == 3);
  CHECK_THAT(result.output, Contains("5 infeasible") && Contains("m: 1 ok, 5 infeasible"));
  const auto reasons =
      place.query("SELECT reason FROM run WHERE status = 'infeasible' ORDER BY id");
  REQUIRE(reasons.size() == 5);
  CHECK(place.query("SELECT DISTINCT cause FROM run WHERE status = 'infeasible'") ==
        Rows{"refused"});
  CHECK_THAT(reasons[0],
             Contains("data set 'mrpc': no data root; give --data DIR or set TERSOR_DATA"));
  CHECK_THAT(reasons[1], Contains("the weights of minilm-l6 are missing: ") &&
                             Contains("scripts/fetch minilm-l6 gets them"));
  CHECK(reasons[2] == "layers 'last:7': bert-tiny has 2 layers");
  CHECK(reasons[3] == "stage 'pretrain' is not built yet");
  CHECK(reasons[4] == "tp 3 does not divide the 4 heads of bert-tiny");
  place.run("ok", {"--profiles", place.path("profiles").string()});
  CHECK(place.query("SELECT count(*) FROM run WHERE reason LIKE 'layers%'") == Rows{"1"});
}

TEST_CASE("a long reason that runs share is said once, with their number") {
  const Workplace place;
  place.write("matrix.json", R"({"name": "m", "matrix": {"dataset": ["mrpc", "synthetic"],
    "hardware": "cpu-tp2", "seed": [1, 2, 3]}})");
  const auto plan = place.run("ok", {"--dry-run"});
  INFO(plan.output);
  const auto first = plan.output.find("infeasible  3 runs: data set 'mrpc': no data root");
  REQUIRE(first != std::string::npos);
  CHECK(plan.output.find("no data root", first + 40) == std::string::npos);
  CHECK_THAT(plan.output, Contains("\n              none  mrpc  cpu-tp2  seed 3\n") &&
                              Contains("\nrun         none  synthetic  cpu-tp2  seed 3: new\n"));
}

TEST_CASE("a spool that cannot be read fails its run with the system's reason") {
  const Workplace place;
  place.write_matrix("1, 2");
  const auto result = place.run("1=folder");
  INFO(result.output);
  CHECK(result.status == 1);
  CHECK(place.query("SELECT seed, status, cause FROM run ORDER BY seed") ==
        Rows{"1 | failed | system", "2 | ok | none"});
  CHECK_THAT(place.query("SELECT reason FROM run WHERE seed = 1")[0],
             Contains("rank 1 exited with 0, but its spool cannot be read: ") &&
                 Contains("rank1.jsonl: Is a directory"));
}

TEST_CASE("a file that a kill left of another attempt does not stop the next") {
  const Workplace place;
  place.write_matrix("1");
  REQUIRE(place.run("ok").status == 0);
  const fs::path folder = only_run_folder(place);
  CHECK(std::distance(fs::directory_iterator(folder), {}) == 7);  // cell.json, three a rank
  fs::remove(place.path("results.db"));
  REQUIRE(place.run("ok").status == 0);  // beside the folder of the other database
  CHECK(fs::exists(folder.string() + ".2/cell.json"));
  fs::remove(place.path("results.db"));
  fs::create_directory(folder.string() + ".3");  // killed before the run began
  REQUIRE(place.run("ok").status == 0);
  CHECK(fs::exists(folder.string() + ".3/cell.json"));
}

TEST_CASE("bad input is refused before anything is made") {
  const Workplace place;
  place.write_matrix("1", "\"cpu-tp22\"");
  const auto profile = place.run("ok");
  CHECK(profile.status == 2);
  CHECK_THAT(profile.output, Contains("matrix.json:1:") && Contains("did you mean 'cpu-tp2'?"));
  place.write_matrix("1");
  CHECK_THAT(place.run("ok", {"--filter", "seed=2"}).output, Contains("leaves none of the 1 runs"));
  CHECK_THAT(place.run("ok", {"--filter", "sed=2"}).output, Contains("did you mean 'seed'?"));
  CHECK_THAT(place.run("ok", {"--data", "/no/such/folder"}).output,
             Contains("--data /no/such/folder: there is no such folder"));
  CHECK_THAT(place.run("ok", {"--weights", "/no/such"}).output, Contains("--weights /no/such: "));
  CHECK_THAT(place.run("ok", {"--timeout", "-1"}).output, Contains("--timeout"));
  CHECK(place.run("ok", {"--timeout", "-1"}).status == 2);
  const auto worker = run_program({TERSOR_PROGRAM, "run", place.path("matrix.json").string(),
                                   "--db", place.path("results.db").string()},
                                  {{"TERSOR_WORKER", "/no/worker"}});
  CHECK(worker.status == 2);
  CHECK_THAT(worker.output, Contains("TERSOR_WORKER=/no/worker: No such file"));
  CHECK_FALSE(fs::exists(place.path("results.db")));

  place.write("results.db", std::string(5000, 'x'));
  const auto alien = place.run("ok");
  CHECK(alien.status == 2);
  CHECK_THAT(alien.output, Contains("SQLite"));
  CHECK(text_of(place.path("results.db")) == std::string(5000, 'x'));
  CHECK_FALSE(fs::exists(place.path("results.db.runs/lock")));
}

TEST_CASE("a worker that cannot be executed fails its runs with the reason") {
  const Workplace place;
  place.write_matrix("1");
  const fs::path script = place.write("worker", "no program\n");
  fs::permissions(script, fs::perms::owner_all);
  const auto result = run_program({TERSOR_PROGRAM, "run", place.path("matrix.json").string(),
                                   "--db", place.path("results.db").string()},
                                  {{"TERSOR_WORKER", script.string()}});
  CHECK(result.status == 1);
  CHECK_THAT(place.query("SELECT reason FROM run")[0],
             Contains("cannot be started: exec: Exec format error"));
  CHECK(place.query("SELECT cause FROM run") == Rows{"system"});
}

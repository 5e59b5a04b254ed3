// SPDX-License-Identifier: Apache-2.0
#include "harness/launch/launcher.hpp"

#include <signal.h>
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "common/error.hpp"
#include "common/variable_for_test.hpp"

namespace tersor::harness {
namespace {

namespace fs = std::filesystem;

/// A folder with a worker that is a shell script.
class Place {
 public:
  explicit Place(const std::string& script) {
    std::string pattern = (fs::temp_directory_path() / "tersor-launch-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    spec.folder = pattern;
    spec.worker = spec.folder / "worker";
    std::ofstream(spec.worker) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(spec.worker, fs::perms::owner_all);
  }
  ~Place() { fs::remove_all(spec.folder); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  std::string text(const fs::path& file) const {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  LaunchSpec spec;
};

void finish(Job& job) {
  for (int look = 0; look < 6000 && job.is_running(); ++look) {
    job.poll();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  REQUIRE_FALSE(job.is_running());
}

/// What another kind of launcher takes: one file with this in it.
class NoLauncher : public Launcher {
 public:
  std::unique_ptr<Job> start(const LaunchSpec&) const override {
    throw Error(ErrorKind::kIo, "no queue takes the job");
  }
  int end_orphans(const fs::path&) const override { return 0; }
  RankLogs logs(const fs::path& folder, int) const override { return {folder / "all", {}}; }
};
const LauncherRegistrar kNone({"none", "starts nothing", std::make_shared<const NoLauncher>()});

TEST_CASE("launchers register themselves and are found by name") {
  CHECK(find_launcher("none").logs("x", 3).output == "x/all");
  CHECK(find_launcher("local").logs("x", 3).errors == "x/rank3.err");
  CHECK_THROWS_WITH(find_launcher("locl"),
                    "unknown launcher 'locl'; did you mean 'local'? (known: local, none)");
}

TEST_CASE("the local launcher starts one process per rank, and tells how each ended") {
  Place place(
      "echo \"$RANK of $WORLD_SIZE, $LOCAL_RANK, $MASTER_ADDR, $OMP_NUM_THREADS, $2\"\n"
      "echo trouble >&2; exit \"$((RANK * 3))\"");
  place.spec.hardware.tp = 2;
  const Launcher& local = find_launcher("local");
  const auto job = local.start(place.spec);
  REQUIRE(job->ranks() == 2);
  CHECK(job->first_failure() == -1);
  finish(*job);
  CHECK(job->end(0)->exit_code == 0);
  CHECK(job->end(1)->exit_code == 3);
  CHECK(job->first_failure() == 1);
  const std::string cell = (place.spec.folder / "cell.json").string();
  CHECK(place.text(local.logs(place.spec.folder, 0).output) ==
        "0 of 2, 0, 127.0.0.1, 1, " + cell + "\n");
  CHECK(place.text(local.logs(place.spec.folder, 1).output) ==
        "1 of 2, 1, 127.0.0.1, 1, " + cell + "\n");
  CHECK(place.text(local.logs(place.spec.folder, 1).errors) == "trouble\n");
}

TEST_CASE("variables of another launcher do not reach the ranks") {
  // What torchrun, Slurm, mpirun and OpenMP leave behind where the harness itself runs under them.
  const std::vector<const char*> names{"TORCHELASTIC_USE_AGENT_STORE",
                                       "GROUP_RANK",
                                       "SLURM_PROCID",
                                       "OMPI_COMM_WORLD_RANK",
                                       "PMI_RANK",
                                       "GLOO_DEVICE_TRANSPORT",
                                       "NCCL_SOCKET_IFNAME",
                                       "OMP_PROC_BIND",
                                       "OMP_THREAD_LIMIT",
                                       "GOMP_CPU_AFFINITY",
                                       "MKL_DYNAMIC"};
  std::vector<std::unique_ptr<testing::Variable>> variables;
  for (const char* name : names)
    variables.push_back(std::make_unique<testing::Variable>(name, "9"));
  for (const char* name : {"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_PORT",
                           "OMP_NUM_THREADS", "MKL_NUM_THREADS"})
    variables.push_back(std::make_unique<testing::Variable>(name, "9"));
  variables.push_back(std::make_unique<testing::Variable>("MASTER_ADDR", "10.0.0.1"));
  // What a user sets for a measurement.
  const testing::Variable isa("ATEN_CPU_CAPABILITY", "avx2");
  const testing::Variable interface("GLOO_SOCKET_IFNAME", "lo");
  Place place("env | sort");
  place.spec.hardware.tp = 2;
  const auto job = find_launcher("local").start(place.spec);
  finish(*job);
  std::istringstream text(place.text(find_launcher("local").logs(place.spec.folder, 1).output));
  std::map<std::string, std::string> found;
  for (std::string line; std::getline(text, line);)
    found[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
  for (const char* name : names) {
    INFO(name);
    CHECK_FALSE(found.contains(name));
  }
  const std::map<std::string, std::string> expected{
      {"RANK", "1"},
      {"LOCAL_RANK", "1"},
      {"WORLD_SIZE", "2"},
      {"LOCAL_WORLD_SIZE", "2"},
      {"MASTER_ADDR", "127.0.0.1"},
      {"OMP_NUM_THREADS", "1"},
      {"MKL_NUM_THREADS", "1"},
      {"ATEN_CPU_CAPABILITY", "avx2"},
      {"GLOO_SOCKET_IFNAME", "lo"},
  };
  for (const auto& [name, value] : expected) {
    INFO(name);
    CHECK(found[name] == value);
  }
  CHECK(found["MASTER_PORT"] != "9");
}

TEST_CASE("a signal reaches the ranks and their children, and none outlives its job") {
  Place place("sleep 1000 & echo $! >> \"$4/children\"; wait");
  place.spec.hardware.tp = 2;
  const auto children = [&] {
    std::istringstream text(place.text(place.spec.folder / "children"));
    std::vector<pid_t> pids;
    for (pid_t pid = 0; text >> pid;) pids.push_back(pid);
    return pids;
  };
  const auto wait_for_children = [&] {
    while (children().size() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  };
  // A child of a rank that is gone is reaped by init, sooner or later.
  const auto is_gone = [](pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    return !std::getline(stat, text) || text.find(") Z ") != std::string::npos;
  };
  const auto wait_for_end = [&] {
    for (const pid_t pid : children())
      for (int look = 0; look < 500 && !is_gone(pid); ++look)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    for (const pid_t pid : children()) CHECK(is_gone(pid));
  };
  SECTION("a signal") {
    const auto job = find_launcher("local").start(place.spec);
    wait_for_children();
    job->signal(SIGTERM);
    finish(*job);
    CHECK(job->end(0)->signal == SIGTERM);
    wait_for_end();
  }
  SECTION("the job's end") {
    find_launcher("local").start(place.spec);
    auto job = find_launcher("local").start(place.spec);
    wait_for_children();
    job.reset();
    wait_for_end();
  }
}

TEST_CASE("a worker that cannot be executed starts nothing") {
  Place place("exit 0");
  place.spec.worker = place.spec.folder / "none";
  CHECK_THROWS_WITH(find_launcher("local").start(place.spec),
                    Catch::Contains("cannot be started: exec: No such file or directory"));
}

}  // namespace
}  // namespace tersor::harness

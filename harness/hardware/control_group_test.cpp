// SPDX-License-Identifier: Apache-2.0
#include "harness/hardware/control_group.hpp"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

namespace tersor::harness {
namespace {

namespace fs = std::filesystem;

/// A machine's proc/ and sys/, as files.
class Tree {
 public:
  Tree() {
    std::string pattern = (fs::temp_directory_path() / "tersor-cgroup-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    root_ = pattern;
  }
  ~Tree() { fs::remove_all(root_); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  ControlGroups groups() const { return ControlGroups(root_); }

 private:
  fs::path root_;
};

TEST_CASE("limits and kills of a control group of version 2") {
  const Tree tree;
  tree.write("proc/self/cgroup", "0::/user/job\n");
  tree.write("sys/fs/cgroup/user/job/cpu.max", "150000 100000\n");
  tree.write("sys/fs/cgroup/user/job/memory.max", "1048576\n");
  tree.write("sys/fs/cgroup/user/job/memory.events", "low 0\nhigh 0\nmax 9\noom 4\noom_kill 3\n");
  CHECK(tree.groups().core_quota() == 1.5);
  CHECK(tree.groups().memory_bytes() == 1048576);
  CHECK(tree.groups().oom_kills() == 3);
  tree.write("sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
  tree.write("sys/fs/cgroup/user/job/memory.max", "max\n");
  CHECK(tree.groups().core_quota() == 0);
  CHECK_FALSE(tree.groups().memory_bytes());
}

TEST_CASE("limits and kills of control groups of version 1, beside an empty unified tree") {
  const Tree tree;
  tree.write("proc/self/cgroup", "4:memory:/box/1\n3:cpu,cpuacct:/box/1\n0::/\n");
  tree.write("sys/fs/cgroup/memory/memory.oom_control",
             "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
  tree.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "4096\n");
  tree.write("sys/fs/cgroup/cpu/box/1/cpu.cfs_quota_us", "50000\n");
  tree.write("sys/fs/cgroup/cpu/box/1/cpu.cfs_period_us", "100000\n");
  tree.write("proc/vmstat", "oom_kill 7\n");
  CHECK(tree.groups().oom_kills() == 2);
  CHECK(tree.groups().memory_bytes() == 4096);
  CHECK(tree.groups().core_quota() == 0.5);
  tree.write("sys/fs/cgroup/cpu/box/1/cpu.cfs_quota_us", "-1\n");
  CHECK(tree.groups().core_quota() == 0);
}

TEST_CASE("where no group counts kills the machine's count serves, and none is said to be none") {
  const Tree tree;
  tree.write("proc/self/cgroup", "0::/\n");
  CHECK(tree.groups().oom_kills() == -1);
  tree.write("proc/vmstat", "nr_free_pages 10\noom_kill 7\n");
  CHECK(tree.groups().oom_kills() == 7);
  // Kernels before 4.13 count no kills in the group of version 1.
  tree.write("proc/self/cgroup", "4:memory:/\n");
  tree.write("sys/fs/cgroup/memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\n");
  CHECK(tree.groups().oom_kills() == 7);
}

TEST_CASE("this machine says how often memory ran out") { CHECK(ControlGroups().oom_kills() >= 0); }

}  // namespace
}  // namespace tersor::harness

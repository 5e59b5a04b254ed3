// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "protocol/cell.hpp"
#include "protocol/version.hpp"
#include "workloads/comm/port_for_test.hpp"

/// tersor-worker as processes, for tests.
namespace tersor::workloads::testing {

inline protocol::Cell make_config(int tp, bool is_emulated, const std::string& spec = "none") {
  protocol::Cell config;
  config.compression.codecs = {{"tp", spec}, {"tp.backward", "none"}};
  config.hardware.kind = is_emulated ? "emulated" : "measured";
  config.hardware.name =
      std::string(is_emulated ? "cpu-emulated-tp" : "cpu-tp") + std::to_string(tp);
  config.hardware.tp = tp;
  config.data.train_rows = 64;
  config.data.eval_rows = 20;
  config.training.micro_batch = 8;
  config.data.sequence = 16;
  config.training.max_steps = 4;
  config.training.learning_rate = 2e-3;
  return config;
}

/// The ranks of one cell as child processes; kills what is left when it goes.
class Ranks {
 public:
  /// `before`: what a shell does before it becomes the worker, e.g. "ulimit -n 10".
  explicit Ranks(const protocol::Cell& config, std::uint64_t seed = 1,
                 nlohmann::json extra = nlohmann::json::object(), std::string before = "")
      : before_(std::move(before)) {
    folder_ = std::filesystem::temp_directory_path() /
              ("tersor-worker-test-" + std::to_string(getpid()) + "-" + std::to_string(count_++));
    std::filesystem::create_directories(folder_);
    nlohmann::json cell{{"format", protocol::kFormat},
                        {"cell_key", "0123456789abcdef"},
                        {"seed", seed},
                        {"attempt", 1},
                        {"data_root", ""},
                        {"weights", ""},
                        {"vocab", ""},
                        {"progress", false},
                        {"error_every", 2}};
    cell["config"] = nlohmann::json::parse(to_json(config).dump());
    cell.update(extra);
    std::ofstream(folder_ / "cell.json") << cell;
    const int world = config.hardware.processes(), port = free_port();
    for (int rank = 0; rank < world; ++rank) pids_.push_back(start(rank, world, port));
    codes_.assign(pids_.size(), -1);
  }
  ~Ranks() {
    for (std::size_t r = 0; r < pids_.size(); ++r)
      if (codes_[r] == -1) {
        ::kill(pids_[r], SIGKILL);
        waitpid(pids_[r], nullptr, 0);
      }
    std::filesystem::remove_all(folder_);
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  void kill(std::size_t rank, int signal) { ::kill(pids_[rank], signal); }
  /// Exit status, 128 + signal, or -1 when it has not ended in time.
  int wait(std::size_t rank, std::chrono::seconds limit = std::chrono::seconds(120)) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (codes_[rank] == -1 && std::chrono::steady_clock::now() < end) {
      int status = 0;
      if (waitpid(pids_[rank], &status, WNOHANG) == pids_[rank])
        codes_[rank] = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      else
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return codes_[rank];
  }
  std::vector<nlohmann::json> records(std::size_t rank, const std::string& type) const {
    std::vector<nlohmann::json> found;
    const std::filesystem::path file = folder_ / ("rank" + std::to_string(rank) + ".jsonl");
    if (!std::filesystem::exists(file)) return found;
    std::ifstream in(file);
    // A last line without its end is one that a rank still writes.
    for (std::string line; std::getline(in, line) && !in.eof();)
      if (nlohmann::json record = nlohmann::json::parse(line); record.at("type") == type)
        found.push_back(std::move(record));
    return found;
  }
  void wait_for_steps(std::size_t rank, std::size_t count) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (records(rank, "step").size() < count && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  nlohmann::json end(std::size_t rank) const {
    const auto ends = records(rank, "end");
    return ends.empty() ? nlohmann::json() : ends.back();
  }
  std::string error_text() const {
    std::ifstream file(folder_ / "stderr0");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  pid_t pid(std::size_t rank) const { return pids_[rank]; }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  pid_t start(int rank, int world, int port) const {
    std::vector<std::string> variables{
        "RANK=" + std::to_string(rank),        "WORLD_SIZE=" + std::to_string(world),
        "LOCAL_RANK=" + std::to_string(rank),  "MASTER_ADDR=127.0.0.1",
        "MASTER_PORT=" + std::to_string(port), "TERSOR_PIN=off"};
    std::vector<char*> environment, arguments;
    for (auto& text : variables) environment.push_back(text.data());
    for (char** at = ::environ; *at; ++at) environment.push_back(*at);
    environment.push_back(nullptr);
    std::vector<std::string> words{TERSOR_WORKER, "--cell", folder_ / "cell.json", "--spool",
                                   folder_};
    if (!before_.empty())
      words.insert(words.begin(), {"/bin/sh", "-c", before_ + "; exec \"$0\" \"$@\""});
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    const std::string errors = folder_ / ("stderr" + std::to_string(rank));
    posix_spawn_file_actions_addopen(&actions, 2, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    pid_t pid = 0;
    REQUIRE(posix_spawn(&pid, words[0].c_str(), &actions, nullptr, arguments.data(),
                        environment.data()) == 0);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
  }

  static inline int count_ = 0;
  std::string before_;
  std::filesystem::path folder_;
  std::vector<pid_t> pids_;
  std::vector<int> codes_;
};

}  // namespace tersor::workloads::testing

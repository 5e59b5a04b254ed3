// SPDX-License-Identifier: Apache-2.0
// Stands in for tersor-worker where the harness is tested: speaks docs/spool.md, computes nothing.
// TERSOR_FAKE chooses how it behaves, for all runs or by seed: "crash", "1=crash;2=hang".
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "common/jsonl.hpp"

namespace {

using nlohmann::ordered_json;

constexpr int kSteps = 3;
volatile sig_atomic_t is_told_to_stop = 0;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The behaviour for this seed.
std::string behaviour(const std::string& seed) {
  std::string rest = variable("TERSOR_FAKE");
  while (!rest.empty()) {
    const auto end = rest.find(';');
    const std::string rule = rest.substr(0, end);
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
    const auto equals = rule.find('=');
    if (equals == std::string::npos) return rule;
    if (rule.substr(0, equals) == seed) return rule.substr(equals + 1);
  }
  return "ok";
}

std::string own_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::string text;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) text.append(text.empty() ? "" : ",").append(std::to_string(core));
  return text;
}

class FakeRank {
 public:
  FakeRank(const std::string& cell_file, const std::string& spool)
      : rank_(std::stoi(variable("RANK"))),
        world_(std::stoi(variable("WORLD_SIZE"))),
        file_(spool + "/rank" + variable("RANK") + ".jsonl"),
        writer_(file_) {
    std::ifstream stream(cell_file);
    cell_ = ordered_json::parse(stream);
    mode_ = behaviour(std::to_string(cell_.at("seed").get<std::uint64_t>()));
  }

  int run() {
    std::fprintf(stderr, "rank %d of %d, cores %s, port %s, threads %s\n", rank_, world_,
                 own_cores().c_str(), variable("MASTER_PORT").c_str(),
                 variable("OMP_NUM_THREADS").c_str());
    const bool is_last = rank_ == world_ - 1;
    start();
    if (mode_ == "early") return end("failed", "weights.safetensors: tensor x is missing", 1);
    if (mode_ == "hang") return hang(false);
    if (mode_ == "deaf") return hang(true);
    if (mode_ == "slow") return slow();
    if (mode_ == "crash" && !is_last) return hang(false);  // as in a collective
    for (int at = 0; at < kSteps; ++at) {
      step(at);
      if (mode_ == "crash") std::abort();
    }
    if (mode_ == "diverged") return end("diverged", "loss is not finite at step 2", 3);
    if (mode_ == "oom") return end("oom", "no memory for 1 GiB", 4);
    if (mode_ == "broken" && is_last) append("{\"type\": \"step\", oops}\n");
    finish();
    if (mode_ == "noend") return 0;
    if (mode_ == "child" && fork() == 0) {
      execl("/bin/sleep", "sleep", "1000", static_cast<char*>(nullptr));
      _exit(1);
    }
    const int status = end("ok", "", 0);
    if (mode_ == "torn" && is_last) append("{\"type\": \"st");
    return status;
  }

 private:
  void start() {
    ordered_json record{{"type", "start"},
                        {"format", 1},
                        {"cell_key", cell_.at("cell_key")},
                        {"seed", cell_.at("seed")},
                        {"attempt", cell_.at("attempt")},
                        {"rank", rank_},
                        {"world", world_},
                        {"pid", getpid()},
                        {"host", "here"},
                        {"time", "2026-01-01T00:00:00Z"},
                        {"environment", ordered_json::object()},
                        {"hardware", ordered_json::object()}};
    if (rank_ == 0) record["steps"] = kSteps;
    writer_.write(record);
  }

  void step(int at) {
    ordered_json ns;
    for (const char* part :
         {"total", "forward", "backward", "optimizer", "encode", "transfer", "decode"})
      ns[part] = 1000;
    ordered_json record{{"type", "step"}, {"step", at}, {"epoch", 0}, {"ns", ns}};
    if (rank_ == 0) {
      record["loss"] = 0.5;
      record["learning_rate"] = 0.1;
      record["gradient_norm"] = 1.0;
      std::printf("{\"step\": %d, \"steps\": %d, \"loss\": 0.5, \"epoch\": 0}\n", at, kSteps);
      std::fflush(stdout);
    }
    writer_.write(record);
  }

  void finish() {
    if (rank_ == 0)
      writer_.write({{"type", "eval"},
                     {"epoch", 1},
                     {"step", kSteps},
                     {"inference", "on"},
                     {"split", "dev"},
                     {"rows", 2},
                     {"loss", 0.25},
                     {"ns", 1000},
                     {"metrics", {{"accuracy", 0.5}}},
                     {"primary", "accuracy"},
                     {"predictions", {0, 1}},
                     {"labels", {0, 0}}});
    writer_.write({{"type", "memory"},
                   {"peak_rss_bytes", 1000},
                   {"codec_state_bytes", 0},
                   {"parameter_bytes", 100}});
  }

  int end(const char* status, const char* reason, int exit_status) {
    ordered_json record{{"type", "end"},
                        {"status", status},
                        {"reason", reason},
                        {"wall_ns", 2000000000},
                        {"steps", kSteps}};
    if (rank_ == 0) record["checksum"] = "0123456789abcdef";
    writer_.write(record);
    return exit_status;
  }

  /// Waits for nothing, as a rank whose peer is gone; ends as the worker does where it is told to.
  int hang(bool is_deaf) {
    while (is_deaf || !is_told_to_stop) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return end("failed", "interrupted", 130);
  }

  int slow() {
    constexpr int kManySteps = 100000;
    for (int at = 0; at < kManySteps && !is_told_to_stop; ++at) {
      step(at);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return end("failed", "interrupted", 130);
  }

  void append(const std::string& text) const {
    std::ofstream(file_, std::ios::app | std::ios::binary) << text;
  }

  int rank_, world_;
  std::string file_;
  tersor::JsonLinesWriter writer_;
  ordered_json cell_;
  std::string mode_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;  // --cell FILE --spool DIR
  signal(SIGTERM, [](int) { is_told_to_stop = 1; });
  return FakeRank(argv[2], argv[4]).run();
}

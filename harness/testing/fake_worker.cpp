// SPDX-License-Identifier: Apache-2.0
// Stands in for tersor-worker where the harness is tested: speaks docs/spool.md, computes nothing.
// TERSOR_FAKE chooses how it behaves, for all runs or by seed: "crash", "1=crash;2=hang".
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "common/jsonl.hpp"
#include "protocol/exit_code.hpp"
#include "protocol/job_file.hpp"
#include "protocol/records.hpp"

namespace {

namespace protocol = tersor::protocol;
using protocol::Cause;
using protocol::Status;

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
        writer_(file_),
        job_(protocol::read_job_file(cell_file)),
        mode_(behaviour(std::to_string(job_.seed))) {}

  int run() {
    std::fprintf(stderr, "rank %d of %d, cores %s, port %s, threads %s\n", rank_, world_,
                 own_cores().c_str(), variable("MASTER_PORT").c_str(),
                 variable("OMP_NUM_THREADS").c_str());
    const bool is_last = rank_ == world_ - 1;
    start();
    if (mode_ == "early")
      return end({Status::kFailed, Cause::kRefused}, "weights.safetensors: tensor x is missing");
    if (mode_ == "alone" && !is_last)
      return end({Status::kFailed, Cause::kLostPeer}, "all-reduce failed: Connection closed");
    if (mode_ == "alone") {  // fails after its peer has found out
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      return end({Status::kFailed, Cause::kDefect}, "check failed: x > 0");
    }
    if (mode_ == "told") {
      raise(SIGTERM);
      return hang(false);
    }
    if (mode_ == "hang") return hang(false);
    if (mode_ == "deaf") return hang(true);
    if (mode_ == "slow") return slow();
    if (mode_ == "crash" && !is_last) return hang(false);  // as in a collective
    if (mode_ == "gate") wait_for_file(variable("TERSOR_FAKE_GATE"));
    for (int at = 0; at < kSteps; ++at) {
      step(at);
      if (mode_ == "crash") std::abort();
    }
    if (mode_ == "diverged")
      return end({Status::kDiverged, Cause::kNonFinite}, "loss is not finite at step 2");
    if (mode_ == "oom")
      return end({Status::kOom, Cause::kOutOfMemoryDevice}, "no memory for 1 GiB");
    if (mode_ == "broken" && is_last) append("{\"type\": \"step\", oops}\n");
    finish();
    if (mode_ == "noend") return protocol::WorkerExit::kOk;
    if (mode_ == "child" && fork() == 0) {
      execl("/bin/sleep", "sleep", "1000", static_cast<char*>(nullptr));
      _exit(1);
    }
    if (mode_ == "folder" && is_last) return replace_spool();
    const int status = end({}, "");
    if (mode_ == "torn" && is_last) append("{\"type\": \"st");
    return status;
  }

 private:
  void write(const protocol::Record& record) { writer_.write(to_json(record)); }

  void start() {
    protocol::Start record{.cell_key = job_.cell_key,
                           .seed = job_.seed,
                           .attempt = job_.attempt,
                           .rank = rank_,
                           .world = world_,
                           .pid = getpid(),
                           .host = "here",
                           .time = "2026-01-01T00:00:00Z"};
    if (rank_ == 0) record.steps = kSteps;
    write(record);
  }

  void step(int at) {
    protocol::Step record{.step = at};
    for (const auto& [name, time] : protocol::kStepParts) record.ns.*time = 1000;
    if (rank_ == 0) {
      record.training = {.loss = 0.5, .learning_rate = 0.1, .gradient_norm = 1.0};
      const protocol::Progress progress{.step = at, .steps = kSteps, .loss = 0.5};
      std::printf("%s\n", to_json(progress).dump().c_str());
      std::fflush(stdout);
    }
    write(record);
    ++steps_;
  }

  void finish() {
    const std::string& inference = job_.config.compression.inference;
    for (const char* one : {"on", "off"})
      if (rank_ == 0 && (inference == "both" || inference == one)) eval(one);
    if (job_.config.hardware.tp > 1)
      write(protocol::Traffic{.site = "tp",
                              .site_name = "layer0.attention",
                              .direction = "forward",
                              .phase = "train",
                              .collective = "all_reduce",
                              .dtype = "float32",
                              .spec = "none",
                              .calls = kSteps});
    write(protocol::Memory{.peak_rss_bytes = 1000, .codec_state_bytes = 0, .parameter_bytes = 100});
  }

  void eval(const char* inference) {
    write(protocol::Eval{.epoch = 1,
                         .step = kSteps,
                         .inference = inference,
                         .split = "dev",
                         .rows = 2,
                         .loss = 0.25,
                         .ns = 1000,
                         .metrics = {{"accuracy", 0.5}},
                         .primary = "accuracy",
                         .predictions = {0, 1},
                         .labels = {0, 0}});
  }

  int end(const protocol::Verdict& verdict, const char* reason) {
    constexpr std::int64_t kWallNs = 2'000'000'000;
    write(protocol::End{.status = verdict.status,
                        .cause = verdict.cause,
                        .reason = reason,
                        .wall_ns = kWallNs,
                        .steps = steps_,
                        .checksum = rank_ == 0 ? "0123456789abcdef" : ""});
    return protocol::worker_exit(verdict);
  }

  static void wait_for_file(const std::string& file) {
    while (access(file.c_str(), F_OK) != 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

  /// Waits for nothing, as a rank whose peer is gone; ends as the worker does where it is told to.
  int hang(bool is_deaf) {
    while (is_deaf || !is_told_to_stop) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return end({Status::kFailed, Cause::kInterrupted}, "interrupted");
  }

  int slow() {
    constexpr int kManySteps = 100000;
    for (int at = 0; at < kManySteps && !is_told_to_stop; ++at) {
      step(at);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return end({Status::kFailed, Cause::kInterrupted}, "interrupted");
  }

  /// Leaves a folder where the spool was.
  int replace_spool() const {
    constexpr mode_t kOfOwner = 0700;
    const bool is_done = unlink(file_.c_str()) == 0 && mkdir(file_.c_str(), kOfOwner) == 0;
    return is_done ? protocol::WorkerExit::kOk : protocol::WorkerExit::kFailed;
  }

  void append(const std::string& text) const {
    std::ofstream(file_, std::ios::app | std::ios::binary) << text;
  }

  int rank_, world_;
  std::string file_;
  tersor::JsonLinesWriter writer_;
  protocol::JobFile job_;
  std::string mode_;
  std::int64_t steps_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return protocol::WorkerExit::kUsage;  // --cell FILE --spool DIR
  signal(SIGTERM, [](int) { is_told_to_stop = 1; });
  return FakeRank(argv[2], argv[4]).run();
}

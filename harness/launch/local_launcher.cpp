// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <optional>

#include "common/affinity.hpp"
#include "common/endpoint.hpp"
#include "harness/launch/launcher.hpp"
#include "harness/launch/orphaned_workers.hpp"

namespace tersor::harness {
namespace {

namespace fs = std::filesystem;

RankLogs logs_in(const fs::path& folder, int rank) {
  const std::string name = "rank" + std::to_string(rank);
  return {folder / (name + ".out"), folder / (name + ".err")};
}

/// Variables of other launchers and of thread pools. A harness may itself run under torchrun, Slurm
/// or mpirun, whose variables speak of another job; the worker, c10d, Gloo and OpenMP would obey
/// them. What a user sets for measuring stays: GLOO_SOCKET_IFNAME, ATEN_CPU_CAPABILITY, MKL_CBWR,
/// ONEDNN_MAX_CPU_ISA and the allocator's.
const std::vector<std::string> kOfOthers{
    // torchrun
    "TORCHELASTIC_*", "TORCH_GLOO_*", "TORCH_DISTRIBUTED_*", "TORCH_NCCL_*", "PET_*", "GROUP_RANK",
    "GROUP_WORLD_SIZE", "ROLE_RANK", "ROLE_NAME", "ROLE_WORLD_SIZE", "NODE_RANK",
    // Slurm, MPI and their process managers
    "SLURM_*", "OMPI_*", "PRTE_*", "PMI_*", "PMIX_*", "MPI_*", "MPIR_*", "MV2_*", "I_MPI_*",
    "HYDRA_*", "HYDI_*",
    // Gloo's transport, NCCL
    "GLOO_DEVICE_*", "NCCL_*",
    // threads and their cores
    "OMP_*", "GOMP_*", "KMP_*", "MKL_NUM_*", "MKL_DYNAMIC", "MKL_DOMAIN_*", "OPENBLAS_*", "GOTO_*",
    "BLIS_*", "VECLIB_*"};

ProcessSpec process_spec(const LaunchSpec& spec, int rank, int port, pid_t group) {
  const std::string threads = std::to_string(spec.hardware.threads);
  ProcessSpec process;
  process.arguments = {spec.worker.string(), "--cell", (spec.folder / "cell.json").string(),
                       "--spool", spec.folder.string()};
  process.variables = {{"RANK", std::to_string(rank)},
                       {"LOCAL_RANK", std::to_string(rank)},
                       {"WORLD_SIZE", std::to_string(spec.hardware.processes())},
                       {"LOCAL_WORLD_SIZE", std::to_string(spec.hardware.processes())},
                       {"MASTER_ADDR", kLoopback},
                       {"MASTER_PORT", std::to_string(port)},
                       {"OMP_NUM_THREADS", threads},
                       {"MKL_NUM_THREADS", threads},
                       {"OPENBLAS_NUM_THREADS", threads},
                       {"TERSOR_PIN", "off"}};  // done here
  process.dropped = kOfOthers;
  process.cores = cores_of_rank(spec.cores, rank, spec.hardware.threads);
  const RankLogs logs = logs_in(spec.folder, rank);
  process.output = logs.output;
  process.errors = logs.errors;
  process.group = group;
  return process;
}

/// One process per rank on this machine, all in one process group, each pinned to its cores.
class LocalJob : public Job {
 public:
  explicit LocalJob(const LaunchSpec& spec) : Job(spec.hardware.processes()) {
    constexpr int kUnused = 29500;  // one process meets nobody
    if (ranks() > 1) port_.emplace(kLoopback, 0);
    const int port = port_ ? port_->port() : kUnused;
    try {
      for (int rank = 0; rank < ranks(); ++rank)
        pids_.push_back(
            start_process(process_spec(spec, rank, port, pids_.empty() ? 0 : pids_.front())));
    } catch (...) {
      close();
      throw;
    }
  }
  ~LocalJob() override { close(); }

  bool poll() override {
    bool has_news = false;
    for (int rank = 0; rank < ranks(); ++rank) {
      if (end(rank)) continue;
      // Not reaped yet: as long as its leader is a zombie, the group's number stays ours.
      const auto ended = poll_process(pids_[static_cast<std::size_t>(rank)]);
      if (!ended) continue;
      note_end(rank, *ended);
      has_news = true;
    }
    return has_news;
  }

  void signal(int number) override {
    if (!pids_.empty()) kill(-pids_.front(), number);
  }

 private:
  void close() {
    signal(SIGKILL);
    for (const pid_t pid : pids_) wait_process(pid);
    pids_.clear();
  }

  /// Where rank 0 will listen: held until the job is over, so that nobody else gets it.
  std::optional<BoundSocket> port_;
  std::vector<pid_t> pids_;
};

class LocalLauncher : public Launcher {
 public:
  std::unique_ptr<Job> start(const LaunchSpec& spec) const override {
    return std::make_unique<LocalJob>(spec);
  }
  int end_orphans(const fs::path& folder) const override { return end_orphaned_workers(folder); }
  RankLogs logs(const fs::path& folder, int rank) const override { return logs_in(folder, rank); }
};

const LauncherRegistrar kLocal({"local", "processes on the cores of this machine",
                                std::make_shared<const LocalLauncher>()});

}  // namespace
}  // namespace tersor::harness

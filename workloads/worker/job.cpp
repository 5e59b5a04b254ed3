// SPDX-License-Identifier: Apache-2.0
#include "workloads/worker/job.hpp"

#include <sys/resource.h>

#include <map>
#include <string>
#include <utility>

#include "workloads/comm/mesh.hpp"
#include "workloads/comm/runtime.hpp"
#include "workloads/layers/parameter_counts.hpp"
#include "workloads/layers/weights.hpp"
#include "workloads/models/model.hpp"
#include "workloads/worker/data.hpp"
#include "workloads/worker/job_file.hpp"
#include "workloads/worker/run_recorder.hpp"

namespace tersor::workloads {
namespace {

/// What a cell names, put together: data, mesh, task, model, optimizer, stage.
class Job {
 public:
  Job(const protocol::JobFile& file, const std::filesystem::path& folder,
      std::unique_ptr<Collective> world, Recorder& recorder)
      : cell_(file.config),
        recorder_(recorder),
        data_(load_data(file)),
        mesh_(std::move(world), cell_.hardware.tp, cell_.hardware.pp),
        group_(mesh_.tensor_group(mesh_.local_stages().front()), file.seed,
               cell_.compression.loopback, cell_.hardware.threads, cell_.hardware.nodes),
        weights_(file.weights, file.seed),
        task_(find_task(data_.info).make(data_.info)),
        model_(make_model(cell_.model.name,
                          {group_, weights_, cell_, data_.vocabulary, task_->outputs()})),
        optimizer_(find_optimizer("adamw").make(cell_.training.weight_decay)),
        run_recorder_(file, folder, recorder, is_first(), group_.ranks()),
        stage_(find_stage(cell_.training.stage)
                   .make({.cell = cell_,
                          .seed = file.seed,
                          .model = *model_,
                          .group = group_,
                          .task = *task_,
                          .optimizer = *optimizer_,
                          .schedule = find_schedule("linear"),
                          .train = *data_.train,
                          .dev = *data_.dev,
                          .recorder = run_recorder_,
                          .error_every = file.error_every,
                          .messages_every = file.messages_every})) {}

  void write_start(protocol::Start start);
  StageOutcome run();

 private:
  bool is_first() { return mesh_.world().first_rank() == 0; }
  std::map<std::string, protocol::CodecFacts> codec_facts() const;
  void write_summary();

  const protocol::Cell& cell_;
  Recorder& recorder_;
  JobData data_;
  Mesh mesh_;
  TensorParallel group_;
  Weights weights_;
  std::unique_ptr<Task> task_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Optimizer> optimizer_;
  RunRecorder run_recorder_;
  std::unique_ptr<Stage> stage_;
};

std::map<std::string, protocol::CodecFacts> Job::codec_facts() const {
  std::map<std::string, protocol::CodecFacts> facts;
  const Shape shape{cell_.training.micro_batch, cell_.data.sequence, model_->hidden()};
  for (const char* kind : {"tp", "tp.backward"}) {
    const auto found = cell_.compression.codecs.find(kind);
    const auto codec =
        compressors::make_codec(found == cell_.compression.codecs.end() ? "none" : found->second);
    const std::int64_t sites = group_.compressed_sites(kind);
    const auto ranks = static_cast<std::uint32_t>(group_.ranks());
    facts[kind] = {.spec = codec->canonical(),
                   .added_parameters = sites * codec->added_parameters(shape, ranks),
                   .added_flops = static_cast<double>(sites) * codec->added_flops(shape, ranks)};
  }
  return facts;
}

void Job::write_start(protocol::Start start) {
  start.environment["backend"] = mesh_.world().backend();
  if (is_first()) {
    const ParameterCounts counts = count_parameters(model_->parameters());
    start.model = {{"name", cell_.model.name},
                   {"arch", model_->architecture()},
                   {"parameters", counts.all},
                   {"trainable", counts.trainable},
                   {"init_hash", weights_.hash()}};
    start.dataset = data_.facts;
    start.codecs = codec_facts();
    start.steps = stage_->steps();
  }
  recorder_.write(start);
}

void Job::write_summary() {
  for (const TrafficRow& row : group_.traffic()) recorder_.write(to_record(row));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  recorder_.write(
      protocol::Memory{.peak_rss_bytes = std::int64_t{usage.ru_maxrss} * 1024,
                       .codec_state_bytes = static_cast<std::int64_t>(group_.codec_state_bytes()),
                       .parameter_bytes = count_parameters(model_->parameters()).bytes});
}

StageOutcome Job::run() {
  StageOutcome outcome = stage_->run();
  check_floating_point();
  write_summary();
  mesh_.world().barrier();
  return outcome;
}

}  // namespace

StageOutcome run_job(const protocol::JobFile& file, const std::filesystem::path& folder,
                     std::unique_ptr<Collective> world, Recorder& recorder, protocol::Start start) {
  check_job(file, world->ranks() / world->local_ranks());
  Job job(file, folder, std::move(world), recorder);
  job.write_start(std::move(start));
  return job.run();
}

}  // namespace tersor::workloads

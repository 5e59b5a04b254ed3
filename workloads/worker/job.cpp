// SPDX-License-Identifier: Apache-2.0
#include "workloads/worker/job.hpp"

#include <sys/resource.h>

#include <map>
#include <string>
#include <utility>

#include "workloads/comm/mesh.hpp"
#include "workloads/comm/runtime.hpp"
#include "workloads/layers/parameter_counts.hpp"
#include "workloads/stages/stage_parts.hpp"
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
        task_(find_task(data_.info).make(data_.info)),
        parts_(mesh_, cell_, file.seed, file.weights, data_.vocabulary, task_->outputs()),
        optimizer_(find_optimizer("adamw").make(cell_.training.weight_decay)),
        run_recorder_(file, folder, recorder, is_first(), mesh_.tensor()),
        stage_(find_stage(cell_.training.stage)
                   .make({.cell = cell_,
                          .seed = file.seed,
                          .mesh = mesh_,
                          .stages = parts_.local(),
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
  std::unique_ptr<Task> task_;
  StageParts parts_;
  std::unique_ptr<Optimizer> optimizer_;
  RunRecorder run_recorder_;
  std::unique_ptr<Stage> stage_;
};

std::map<std::string, protocol::CodecFacts> Job::codec_facts() const {
  std::map<std::string, protocol::CodecFacts> facts;
  const Shape shape{cell_.training.micro_batch, cell_.data.sequence,
                    parts_.all().front().model->hidden()};
  std::vector<const char*> kinds{"tp", "tp.backward"};
  if (mesh_.pipeline() > 1) kinds.insert(kinds.end(), {"pp", "pp.gradient"});
  for (const char* kind : kinds) {
    const auto found = cell_.compression.codecs.find(kind);
    const auto codec =
        compressors::make_codec(found == cell_.compression.codecs.end() ? "none" : found->second);
    std::int64_t sites = 0;  // of the stages of this process
    for (const StagePart& part : parts_.all()) sites += part.compressed_sites(kind);
    const auto ranks = static_cast<std::uint32_t>(mesh_.tensor());
    facts[kind] = {.spec = codec->canonical(),
                   .added_parameters = sites * codec->added_parameters(shape, ranks),
                   .added_flops = static_cast<double>(sites) * codec->added_flops(shape, ranks)};
  }
  return facts;
}

void Job::write_start(protocol::Start start) {
  start.environment["backend"] = mesh_.world().backend();
  const ModelFacts facts = parts_.facts();
  if (is_first()) {
    start.model = {{"name", cell_.model.name},
                   {"arch", parts_.all().front().model->architecture()},
                   {"parameters", facts.counts.all},
                   {"trainable", facts.counts.trainable},
                   {"init_hash", facts.start_hash}};
    start.dataset = data_.facts;
    start.codecs = codec_facts();
    start.steps = stage_->steps();
  }
  recorder_.write(start);
}

void Job::write_summary() {
  std::uint64_t state_bytes = 0, parameter_bytes = 0;
  for (const StagePart& part : parts_.all()) {
    for (const TrafficRow& row : part.group.traffic()) recorder_.write(to_record(row));
    state_bytes += part.codec_state_bytes();
    parameter_bytes += count_parameters(part.model->parameters()).bytes;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  recorder_.write(protocol::Memory{.peak_rss_bytes = std::int64_t{usage.ru_maxrss} * 1024,
                                   .codec_state_bytes = static_cast<std::int64_t>(state_bytes),
                                   .parameter_bytes = parameter_bytes});
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

// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/job.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <iostream>
#include <numeric>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/hash.hpp"
#include "common/hex.hpp"
#include "common/safetensors.hpp"
#include "datasets/batches.hpp"
#include "datasets/dataset.hpp"
#include "workloads/comm/runtime.hpp"
#include "workloads/layers/layer_set.hpp"
#include "workloads/models/model.hpp"
#include "workloads/models/parameter_counts.hpp"
#include "workloads/models/weights.hpp"
#include "workloads/training/calls.hpp"
#include "workloads/training/schedule.hpp"
#include "workloads/training/trainer.hpp"

namespace tersor::workloads {
namespace {

using compressors::Phase;
using nlohmann::ordered_json;

/// The data of a job, encoded once.
struct Data {
  const datasets::DatasetInfo& info;
  datasets::EncodedSplit train;
  datasets::EncodedSplit dev;
  std::int64_t vocabulary = 0;
  ordered_json facts;
};

Data load_data(const JobFile& job) {
  const protocol::Cell& config = job.config;
  const datasets::DatasetInfo& info = datasets::find_dataset(config.data.name);
  const std::filesystem::path root = datasets::find_data_root(job.data_root);
  const datasets::Split train =
      datasets::load(info, root, datasets::SplitName::kTrain, config.data.train_rows);
  const datasets::Split dev =
      datasets::load(info, root, datasets::SplitName::kDev, config.data.eval_rows);
  const auto tokenizer = datasets::make_tokenizer(info, job.vocabulary, train);
  Data data{info,
            datasets::encode_split(info, train, *tokenizer, config.data.sequence),
            datasets::encode_split(info, dev, *tokenizer, config.data.sequence),
            tokenizer->vocabulary_size(),
            {}};
  data.facts = {{"name", info.name},
                {"train_rows", data.train.rows()},
                {"eval_rows", data.dev.rows()},
                {"train_hash", hex(train.content_hash)},
                {"eval_hash", hex(dev.content_hash)},
                {"subset", info.subset_rule}};
  data.facts["best_accuracy"] =
      info.best_accuracy ? ordered_json(*info.best_accuracy) : ordered_json(nullptr);
  if (data.dev.rows() == 0) throw Error(ErrorKind::kData, "the dev split has no rows");
  check_evaluation_batches(data.dev.rows(), config.training.micro_batch);
  return data;
}

/// What the sites recorded of the pass under way, until it is written.
struct Samples : MessageRecorder {
  void record(ErrorSample sample) override { errors.push_back(std::move(sample)); }
  void record(StoredMessage message) override { messages.push_back(std::move(message)); }
  std::vector<ErrorSample> errors;
  std::vector<StoredMessage> messages;
};

class Job {
 public:
  Job(const JobFile& file, std::unique_ptr<Collective> collective, Recorder& recorder)
      : file_(file),
        config_(file.config),
        recorder_(recorder),
        data_(load_data(file)),
        group_(std::move(collective), file.seed, config_.compression.loopback,
               config_.hardware.threads, config_.hardware.nodes),
        weights_(file.weights, file.seed),
        outputs_(data_.info.classes > 0 ? data_.info.classes : 1),
        model_(find_model(config_.model.name)
                   .make({group_, weights_, config_, data_.vocabulary, outputs_})),
        trainer_(*model_, group_, config_, outputs_) {
    steps_per_epoch_ = datasets::training_batches(data_.train.rows(), config_.training.micro_batch);
    if (steps_per_epoch_ == 0)
      throw Error(ErrorKind::kUsage, "train has " + std::to_string(data_.train.rows()) +
                                         " rows, fewer than one micro_batch of " +
                                         std::to_string(config_.training.micro_batch));
    steps_ = config_.training.epochs * steps_per_epoch_;
    if (config_.training.max_steps > 0) steps_ = std::min(steps_, config_.training.max_steps);
    warmup_ = parse_warmup(config_.compression.warmup, steps_per_epoch_);
  }

  void write_start(ordered_json start);
  JobOutcome run();

 private:
  bool is_first() const { return group_.first_rank() == 0; }
  ordered_json codec_facts() const;
  bool train_step(std::int64_t step, std::int64_t epoch, const datasets::Batch& batch);
  void record_step(std::int64_t step, std::int64_t epoch, const StepResult& result,
                   const std::vector<ErrorSample>& errors);
  void write_messages(std::int64_t step, const std::vector<StoredMessage>& messages);
  void evaluate(std::int64_t epoch, std::int64_t step, bool is_compressed);
  void evaluate_all(std::int64_t epoch, std::int64_t step);
  void write_summary();

  const JobFile& file_;
  const protocol::Cell& config_;
  Recorder& recorder_;
  Data data_;
  TensorParallel group_;
  Weights weights_;
  std::int64_t outputs_;
  std::unique_ptr<Model> model_;
  Trainer trainer_;
  std::int64_t steps_per_epoch_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t warmup_ = 0;
  std::vector<double> losses_;
  double rate_ = 0;
};

ordered_json Job::codec_facts() const {
  ordered_json facts = ordered_json::object();
  const Shape shape{config_.training.micro_batch, config_.data.sequence, model_->hidden()};
  for (const char* kind : {"tp", "tp.backward"}) {
    const auto found = config_.compression.codecs.find(kind);
    const auto codec =
        compressors::make_codec(found == config_.compression.codecs.end() ? "none" : found->second);
    const std::int64_t sites = model_->compressed_sites(kind);
    const auto ranks = static_cast<std::uint32_t>(group_.ranks());
    facts[kind] = {{"spec", codec->canonical()},
                   {"added_parameters", sites * codec->added_parameters(shape, ranks)},
                   {"added_flops", static_cast<double>(sites) * codec->added_flops(shape, ranks)}};
  }
  return facts;
}

void Job::write_start(ordered_json start) {
  start["environment"]["backend"] = group_.collective().backend();
  if (is_first()) {
    const ParameterCounts counts = count_parameters(*model_);
    start["model"] = {{"name", config_.model.name},
                      {"arch", model_->architecture()},
                      {"parameters", counts.all},
                      {"trainable", counts.trainable},
                      {"init_hash", weights_.hash()}};
    start["dataset"] = data_.facts;
    start["codecs"] = codec_facts();
    start["steps"] = steps_;
  }
  recorder_.write(start);
}

bool Job::train_step(std::int64_t step, std::int64_t epoch, const datasets::Batch& batch) {
  const auto samples = std::make_shared<Samples>();
  const Pass pass =
      make_pass({.phase = Phase::kTrain,
                 .step = static_cast<std::uint32_t>(step),
                 .call = 0,
                 .compress = step >= warmup_,
                 .sample_ids = batch.sample_ids,
                 .samples_errors = file_.error_every > 0 && step % file_.error_every == 0,
                 .stores_messages = file_.messages_every > 0 && step % file_.messages_every == 0,
                 .recorder = samples});
  rate_ = learning_rate_at(step, steps_, config_.training.learning_rate_warmup,
                           config_.training.learning_rate);
  const StepResult result = trainer_.step(batch, pass, rate_);
  losses_.push_back(result.loss);
  record_step(step, epoch, result, samples->errors);
  write_messages(step, samples->messages);
  return result.is_finite;
}

void Job::write_messages(std::int64_t step, const std::vector<StoredMessage>& messages) {
  if (messages.empty()) return;
  std::vector<std::pair<std::string, TensorView>> tensors;
  for (const StoredMessage& message : messages)
    tensors.emplace_back(message.site_name,
                         TensorView{message.bits.data(), message.shape, message.dtype});
  const std::string digits = std::to_string(step);
  constexpr std::size_t kDigits = 6;
  const std::string padding(kDigits - std::min(kDigits, digits.size()), '0');
  write_safetensors(file_.folder / ("messages-" + padding + digits + ".safetensors"), tensors,
                    {{"step", digits},
                     {"cell_key", file_.cell_key},
                     {"seed", std::to_string(file_.seed)},
                     {"model", config_.model.name},
                     {"dataset", config_.data.name},
                     {"compressor", nlohmann::json(config_.compression.codecs).dump()},
                     {"rank", "0"},
                     {"ranks", std::to_string(group_.ranks())}});
}

void Job::record_step(std::int64_t step, std::int64_t epoch, const StepResult& result,
                      const std::vector<ErrorSample>& errors) {
  ordered_json record{
      {"type", "step"}, {"step", step}, {"epoch", epoch}, {"ns", to_json(result.ns)}};
  if (is_first()) {
    set_number(record, "loss", result.loss);
    record["learning_rate"] = rate_;
    set_number(record, "gradient_norm", result.gradient_norm);
  }
  recorder_.write(record);
  if (is_first())
    for (const ErrorSample& sample : errors) recorder_.write(to_json(sample));
  const std::int64_t done = step + 1;
  if (is_first() && file_.has_progress && (done % 10 == 0 || done == steps_)) {
    ordered_json line{{"step", done}, {"steps", steps_}};
    set_number(line, "loss", result.loss);
    line["epoch"] = epoch;
    std::cout << line.dump() << std::endl;
  }
}

void Job::evaluate(std::int64_t epoch, std::int64_t step, bool is_compressed) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(data_.dev.rows()));
  std::iota(order.begin(), order.end(), 0);
  const std::int64_t batches =
      datasets::evaluation_batches(data_.dev.rows(), config_.training.micro_batch);
  Evaluation evaluation{.epoch = epoch, .step = step, .is_compressed = is_compressed};
  const std::int64_t start = steady_ns();
  for (std::int64_t i = 0; i < batches; ++i) {
    const datasets::Batch batch =
        datasets::make_batch(data_.dev, order, i, config_.training.micro_batch);
    const EvalResult result =
        trainer_.evaluate(batch, make_pass({.phase = Phase::kEval,
                                            .step = static_cast<std::uint32_t>(step),
                                            .call = pass_call(i),
                                            .compress = is_compressed,
                                            .sample_ids = batch.sample_ids}));
    evaluation.loss += result.loss_sum;
    evaluation.predictions.insert(evaluation.predictions.end(), result.predictions.begin(),
                                  result.predictions.end());
  }
  evaluation.ns = steady_ns() - start;
  if (!is_first()) return;
  evaluation.loss /= static_cast<double>(data_.dev.rows());
  evaluation.labels.assign(data_.dev.labels.begin(), data_.dev.labels.end());
  recorder_.write(to_json(evaluation, data_.info.metrics));
}

void Job::evaluate_all(std::int64_t epoch, std::int64_t step) {
  if (config_.compression.inference != "off") evaluate(epoch, step, true);
  if (config_.compression.inference != "on") evaluate(epoch, step, false);
}

void Job::write_summary() {
  for (const TrafficRow& row : group_.traffic()) recorder_.write(to_json(row));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  recorder_.write({{"type", "memory"},
                   {"peak_rss_bytes", std::int64_t{usage.ru_maxrss} * 1024},
                   {"codec_state_bytes", group_.codec_state_bytes()},
                   {"parameter_bytes", count_parameters(*model_).bytes}});
}

JobOutcome Job::run() {
  JobOutcome outcome;
  std::int64_t step = 0;
  for (std::int64_t epoch = 0; step < steps_ && !outcome.is_diverged; ++epoch) {
    const std::vector<std::int64_t> order =
        datasets::epoch_order(data_.train.rows(), file_.seed, static_cast<std::uint32_t>(epoch));
    for (std::int64_t i = 0; i < steps_per_epoch_ && step < steps_; ++i) {
      const datasets::Batch batch =
          datasets::make_batch(data_.train, order, i, config_.training.micro_batch);
      const bool is_finite = train_step(step++, epoch, batch);
      if (!is_finite) {
        outcome.is_diverged = true;
        outcome.reason = "the loss is not finite at step " + std::to_string(step - 1);
        break;
      }
    }
    if (!outcome.is_diverged) evaluate_all(epoch + 1, step);
  }
  outcome.steps = step;
  check_floating_point();
  write_summary();
  outcome.checksum = hex(xxh64(std::as_bytes(std::span(losses_)), trainer_.replicated_hash()));
  group_.collective().barrier();
  return outcome;
}

}  // namespace

JobOutcome run_job(const JobFile& file, std::unique_ptr<Collective> collective, Recorder& recorder,
                   ordered_json start) {
  check_job(file, collective->ranks() / collective->local_ranks());
  Job job(file, std::move(collective), recorder);
  job.write_start(std::move(start));
  return job.run();
}

}  // namespace tersor::workloads

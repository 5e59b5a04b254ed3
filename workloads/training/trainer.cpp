// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/trainer.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mse_loss.h>

#include <algorithm>
#include <cmath>

#include "common/clock.hpp"
#include "common/hash.hpp"
#include "datasets/batches.hpp"
#include "workloads/messages/tensor_parallel.hpp"
#include "workloads/models/parameters.hpp"
#include "workloads/training/adamw.hpp"

namespace tersor::workloads {
namespace {

at::Tensor class_labels(const datasets::Batch& batch) {
  at::Tensor labels = at::empty({batch.rows}, at::kLong);
  auto* to = labels.mutable_data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < batch.labels.size(); ++i)
    to[i] = static_cast<std::int64_t>(batch.labels[i]);
  return labels;
}

}  // namespace

struct Trainer::Impl {
  Impl(Model& the_model, TensorParallel& the_group, const protocol::Cell& the_config,
       std::int64_t the_outputs)
      : model(the_model), group(the_group), config(the_config), outputs(the_outputs) {
    states.resize(model.parameters().all().size());
  }

  /// Mean over the batch.
  at::Tensor loss(const at::Tensor& logits, const datasets::Batch& batch) const {
    if (outputs > 1) return at::cross_entropy_loss(logits, class_labels(batch));
    return at::mse_loss(logits.view({batch.rows}), tensor_from(batch.labels, {{batch.rows}}));
  }

  /// Squared norm of the gradients of the whole model. Shards' sums are added in rank order in
  /// binary64, so emulated and real ranks agree; replicated parameters count once.
  double global_norm() {
    const auto ranks = static_cast<std::size_t>(group.ranks());
    std::vector<double> local(group.locals(), 0.0), all(ranks);
    double replicated = 0;
    for (const Parameter& parameter : model.parameters().all()) {
      if (!parameter.value.grad().defined()) continue;
      const double square = squared_norm(gradient_of(parameter));
      if (parameter.is_replicated())
        replicated += square;
      else
        local[static_cast<std::size_t>(parameter.rank - group.first_rank())] += square;
    }
    std::vector<ConstBuffer> payloads;
    for (const double& sum : local) payloads.emplace_back(std::as_bytes(std::span(&sum, 1)));
    group.collective().all_gather(payloads, std::vector<std::size_t>(ranks, sizeof(double)),
                                  std::as_writable_bytes(std::span(all)));
    double total = replicated;
    for (const double sum : all) total += sum;
    return std::sqrt(total);
  }

  static std::span<const float> gradient_of(const Parameter& parameter) {
    at::Tensor& gradient = parameter.value.mutable_grad();
    if (!gradient.is_contiguous()) gradient = gradient.contiguous();
    return floats_of(gradient);
  }

  void update(double learning_rate, float scale) {
    auto& parameters = model.parameters().all();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      Parameter& parameter = parameters[i];
      if (!parameter.value.grad().defined()) continue;
      adamw_update({}, learning_rate, parameter.is_matrix() ? config.training.weight_decay : 0.0,
                   scale, gradient_of(parameter), floats_of(parameter.value), states[i]);
      parameter.value.mutable_grad() = at::Tensor();
    }
  }

  Model& model;
  TensorParallel& group;
  protocol::Cell config;
  std::int64_t outputs;
  std::vector<AdamWState> states;
};

Trainer::Trainer(Model& model, TensorParallel& group, const protocol::Cell& config,
                 std::int64_t outputs)
    : impl_(std::make_unique<Impl>(model, group, config, outputs)) {}
Trainer::~Trainer() = default;

StepResult Trainer::step(const datasets::Batch& batch, const Pass& pass, double learning_rate) {
  StepResult result;
  Ledger& ledger = impl_->group.ledger();
  ledger.start_step();
  const std::int64_t start = steady_ns();
  at::Tensor loss = impl_->loss(impl_->model.forward(batch, pass), batch);
  result.loss = static_cast<double>(loss.item<float>());
  const std::int64_t forward_excluded = ledger.excluded_ns();
  const std::int64_t after_forward = steady_ns();
  result.ns.forward = after_forward - start - forward_excluded;
  result.is_finite = std::isfinite(result.loss);
  std::int64_t after_backward = after_forward;
  if (result.is_finite) {
    loss.backward();
    after_backward = steady_ns();
    result.ns.backward = after_backward - after_forward - (ledger.excluded_ns() - forward_excluded);
    result.gradient_norm = impl_->global_norm();
    const double clip = impl_->config.training.clip;
    const double scale = clip > 0 ? std::min(1.0, clip / (result.gradient_norm + 1e-6)) : 1.0;
    impl_->update(learning_rate, static_cast<float>(scale));
  }
  const std::int64_t end = steady_ns();
  result.ns.optimizer = end - after_backward;
  result.ns.total = end - start - ledger.excluded_ns();
  result.ns.encode = ledger.step().encode;
  result.ns.transfer = ledger.step().transfer;
  result.ns.decode = ledger.step().decode;
  return result;
}

double Trainer::compute_gradients(const datasets::Batch& batch, const Pass& pass) {
  at::Tensor loss = impl_->loss(impl_->model.forward(batch, pass), batch);
  loss.backward();
  return static_cast<double>(loss.item<float>());
}

EvalResult Trainer::evaluate(const datasets::Batch& batch, const Pass& pass) {
  const at::NoGradGuard no_grad;
  const at::Tensor logits = impl_->model.forward(batch, pass);
  EvalResult result;
  result.loss_sum = static_cast<double>(impl_->loss(logits, batch).item<float>()) *
                    static_cast<double>(batch.rows);
  const std::span<const float> values = floats_of(logits);
  const auto width = static_cast<std::size_t>(impl_->outputs);
  for (std::size_t row = 0; row < static_cast<std::size_t>(batch.rows); ++row) {
    const auto scores = values.subspan(row * width, width);
    result.predictions.push_back(
        width == 1
            ? static_cast<double>(scores[0])
            : static_cast<double>(std::max_element(scores.begin(), scores.end()) - scores.begin()));
  }
  return result;
}

std::uint64_t Trainer::replicated_hash() const {
  std::uint64_t hash = 0;
  for (const Parameter& parameter : impl_->model.parameters().all())
    if (parameter.is_replicated()) hash = xxh64(bytes_of(parameter.value), hash);
  return hash;
}

}  // namespace tersor::workloads

// SPDX-License-Identifier: Apache-2.0
#include "workloads/stages/trainer.hpp"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "common/clock.hpp"
#include "common/hash.hpp"
#include "workloads/layers/parameters.hpp"
#include "workloads/messages/tensor_parallel.hpp"
#include "workloads/optim/adamw.hpp"

namespace tersor::workloads {
namespace {

std::span<const float> gradient_of(const Parameter& parameter) {
  at::Tensor& gradient = parameter.value.mutable_grad();
  if (!gradient.is_contiguous()) gradient = gradient.contiguous();
  return floats_of(gradient);
}

}  // namespace

Trainer::Trainer(Model& model, TensorParallel& group, const Task& task, Optimizer& optimizer,
                 double clip)
    : model_(model), group_(group), task_(task), optimizer_(optimizer), clip_(clip) {}

/// Of the gradients of the whole model. Shards' sums are added in rank order in binary64, so
/// emulated and real ranks agree; replicated parameters count once.
double Trainer::global_norm() {
  const auto ranks = static_cast<std::size_t>(group_.ranks());
  std::vector<double> local(group_.locals(), 0.0), all(ranks);
  double replicated = 0;
  for (const Parameter& parameter : model_.parameters().all()) {
    if (!parameter.value.grad().defined()) continue;
    const double square = squared_norm(gradient_of(parameter));
    if (parameter.is_replicated())
      replicated += square;
    else
      local[static_cast<std::size_t>(parameter.rank - group_.first_rank())] += square;
  }
  std::vector<ConstBuffer> payloads;
  for (const double& sum : local) payloads.emplace_back(std::as_bytes(std::span(&sum, 1)));
  group_.collective().all_gather(payloads, std::vector<std::size_t>(ranks, sizeof(double)),
                                 std::as_writable_bytes(std::span(all)));
  double total = replicated;
  for (const double sum : all) total += sum;
  return std::sqrt(total);
}

void Trainer::update(double learning_rate, float scale) {
  std::size_t index = 0;
  for (Parameter& parameter : model_.parameters().all()) {
    const std::size_t own = index++;
    if (!parameter.value.grad().defined()) continue;
    optimizer_.update({.index = own,
                       .gradient = gradient_of(parameter),
                       .value = floats_of(parameter.value),
                       .is_decayed = parameter.is_matrix()},
                      learning_rate, scale);
    parameter.value.mutable_grad() = at::Tensor();
  }
}

StepResult Trainer::step(const datasets::Batch& batch, const Pass& pass, double learning_rate) {
  StepResult result;
  Ledger& ledger = group_.ledger();
  ledger.start_step();
  const std::int64_t start = steady_ns();
  at::Tensor loss = task_.loss(model_.forward(batch, pass), batch);
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
    result.gradient_norm = global_norm();
    const double scale = clip_ > 0 ? std::min(1.0, clip_ / (result.gradient_norm + 1e-6)) : 1.0;
    update(learning_rate, static_cast<float>(scale));
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
  at::Tensor loss = task_.loss(model_.forward(batch, pass), batch);
  loss.backward();
  return static_cast<double>(loss.item<float>());
}

void Trainer::evaluate(const datasets::Batch& batch, const Pass& pass, TaskScores& scores) {
  const at::NoGradGuard no_grad;
  task_.score(model_.forward(batch, pass), batch, scores);
}

std::uint64_t Trainer::replicated_hash() const {
  std::uint64_t hash = 0;
  for (const Parameter& parameter : model_.parameters().all())
    if (parameter.is_replicated()) hash = xxh64(bytes_of(parameter.value), hash);
  return hash;
}

}  // namespace tersor::workloads

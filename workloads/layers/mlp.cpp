// SPDX-License-Identifier: Apache-2.0
#include "workloads/layers/mlp.hpp"

#include "common/error.hpp"
#include "workloads/messages/site_numbers.hpp"

namespace tersor::workloads {
namespace {

const LayerScope& check_split(const LayerScope& scope, std::int64_t intermediate) {
  const int ranks = scope.host().group.ranks();
  if (intermediate % ranks != 0)
    throw Error(ErrorKind::kUsage, "hardware.tp " + std::to_string(ranks) +
                                       " does not divide the " + std::to_string(intermediate) +
                                       " intermediate channels of " + scope.host().model);
  return scope;
}

}  // namespace

ParallelMlp::ParallelMlp(const LayerScope& scope, const std::string& up, const std::string& down,
                         std::int64_t hidden, std::int64_t intermediate, Activation activation)
    : ParallelMlp(check_split(scope, intermediate), up, down, hidden, intermediate, activation,
                  scope.sites("mlp", mlp_site(scope.layer()))) {}

ParallelMlp::ParallelMlp(const LayerScope& scope, const std::string& up, const std::string& down,
                         std::int64_t hidden, std::int64_t intermediate, Activation activation,
                         const SitePair& sites)
    : activation_(activation),
      up_(scope, up, {up}, hidden, intermediate, sites),
      down_(scope, down, intermediate, hidden, sites) {}

Activations ParallelMlp::operator()(const Activations& x, const Pass& pass) const {
  std::vector<at::Tensor> parts = up_(x, pass);
  for (at::Tensor& part : parts) part = activation_(part);
  return down_(parts, x.shape(), pass);
}

}  // namespace tersor::workloads

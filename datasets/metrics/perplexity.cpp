// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "datasets/metrics/metric.hpp"

namespace tersor::datasets {
namespace {

/// exp(sum of losses / number of tokens); NaN where no token was predicted.
double perplexity(std::span<const double> losses, std::span<const double> tokens) {
  double loss = 0;
  double count = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    loss += losses[i];
    count += tokens[i];
  }
  return std::exp(loss / count);
}

const MetricRegistrar kPerplexity{{"perplexity",
                                   "exp of the mean loss of a predicted token; lower is better. "
                                   "Predictions are sums of losses in "
                                   "nats, labels the numbers of tokens they are of",
                                   1.0, std::numeric_limits<double>::infinity(), perplexity,
                                   false}};

}  // namespace
}  // namespace tersor::datasets

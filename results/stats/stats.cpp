// SPDX-License-Identifier: Apache-2.0
#include "results/stats/stats.hpp"

#include <algorithm>
#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "common/error.hpp"
#include "common/philox.hpp"

namespace tersor::results {
namespace {

/// Lag-1 autocorrelation where it is positive, else 0.
double autocorrelation(std::span<const double> values, double mean) {
  double lagged = 0;
  double square = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    square += (values[i] - mean) * (values[i] - mean);
    if (i > 0) lagged += (values[i] - mean) * (values[i - 1] - mean);
  }
  return square > 0 ? std::clamp(lagged / square, 0.0, 0.99) : 0.0;
}

double effective_sample_size(double n, double r) { return n * (1 - r) / (1 + r); }

std::vector<double> resampled_means(std::span<const double> values) {
  constexpr std::size_t kMostEnumerated = 6;
  constexpr std::size_t kDraws = 10000;
  const std::size_t n = values.size();
  std::vector<double> means;
  if (n <= kMostEnumerated) {
    const auto count = static_cast<std::size_t>(std::llround(std::pow(n, n)));
    for (std::size_t code = 0; code < count; ++code) {
      double sum = 0;
      for (std::size_t i = 0, rest = code; i < n; ++i, rest /= n) sum += values[rest % n];
      means.push_back(sum / static_cast<double>(n));
    }
    return means;
  }
  for (std::size_t draw = 0; draw < kDraws; ++draw) {
    double sum = 0;
    std::array<std::uint32_t, 4> words{};
    for (std::size_t i = 0; i < n; ++i) {
      if (i % 4 == 0)
        words =
            philox4x32({static_cast<std::uint32_t>(i / 4), static_cast<std::uint32_t>(draw), 0, 0},
                       {0x74657273, 0x6f72});
      sum += values[(std::uint64_t{words[i % 4]} * n) >> 32];
    }
    means.push_back(sum / static_cast<double>(n));
  }
  return means;
}

}  // namespace

double mean_of(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> deviation_of(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const double mean = mean_of(values);
  double square = 0;
  for (const double value : values) square += (value - mean) * (value - mean);
  return std::sqrt(square / static_cast<double>(values.size() - 1));
}

Summary summarize(std::span<const double> values) {
  Summary s;
  s.n = static_cast<std::int64_t>(values.size());
  if (values.empty()) return s;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  s.min = sorted.front();
  s.q1 = quantile(sorted, 0.25);
  s.median = quantile(sorted, 0.5);
  s.q3 = quantile(sorted, 0.75);
  s.max = sorted.back();
  s.mean = mean_of(values);
  s.sd = deviation_of(values);
  if (values.size() < 3) return s;
  const auto n = static_cast<double>(values.size());
  const double r = autocorrelation(values, s.mean);
  s.ess = effective_sample_size(n, r);
  constexpr std::size_t kFewestForInterval = 10;
  if (values.size() >= kFewestForInterval) {
    const double careful = effective_sample_size(n, std::min(r + 1 / std::sqrt(n), 0.99));
    const Interval interval = median_interval(sorted, careful);
    s.ci_low = interval.low;
    s.ci_high = interval.high;
  }
  return s;
}

double student_t_cdf(double t, double df) {
  return boost::math::cdf(boost::math::students_t(df), t);
}

double student_t_quantile(double p, double df) {
  return boost::math::quantile(boost::math::students_t(df), p);
}

std::optional<Interval> mean_interval(std::span<const double> values, double level) {
  const auto sd = deviation_of(values);
  if (!sd) return std::nullopt;
  const double n = static_cast<double>(values.size());
  const double half = student_t_quantile(0.5 + level / 2, n - 1) * *sd / std::sqrt(n);
  const double mean = mean_of(values);
  return Interval{mean - half, mean + half};
}

std::optional<Interval> bootstrap_mean_interval(std::span<const double> values, double level) {
  if (values.size() < 2) return std::nullopt;
  std::vector<double> means = resampled_means(values);
  std::sort(means.begin(), means.end());
  return Interval{quantile(means, 0.5 - level / 2), quantile(means, 0.5 + level / 2)};
}

std::optional<Interval> crossed_bootstrap_interval(const std::vector<std::vector<double>>& by_seed,
                                                   double level) {
  constexpr std::uint32_t kDraws = 2000;
  const std::size_t seeds = by_seed.size();
  const std::size_t columns = seeds == 0 ? 0 : by_seed.front().size();
  const bool is_ragged = std::any_of(by_seed.begin(), by_seed.end(),
                                     [&](const auto& row) { return row.size() != columns; });
  if (seeds < 2 || columns == 0 || is_ragged) return std::nullopt;
  std::vector<double> means;
  std::vector<double> weights(columns);
  for (std::uint32_t draw = 0; draw < kDraws; ++draw) {
    const Stream rows{{0x74657273, 0x6f72}, draw, 1, 0};
    std::fill(weights.begin(), weights.end(), 0.0);
    for (std::size_t i = 0; i < columns; i += 4) {
      const auto words = rows.block(static_cast<std::uint32_t>(i / 4));
      for (std::size_t k = i; k < std::min(i + 4, columns); ++k)
        weights[(std::uint64_t{words[k - i]} * columns) >> 32] += 1;
    }
    const Stream chosen{{0x74657273, 0x6f72}, draw, 2, 0};
    double sum = 0;
    for (std::size_t s = 0; s < seeds; ++s) {
      const auto& row = by_seed[(std::uint64_t{chosen.draw32(s)} * seeds) >> 32];
      for (std::size_t i = 0; i < columns; ++i) sum += weights[i] * row[i];
    }
    means.push_back(sum / static_cast<double>(seeds * columns));
  }
  std::sort(means.begin(), means.end());
  return Interval{quantile(means, 0.5 - level / 2), quantile(means, 0.5 + level / 2)};
}

PairedDifference paired_difference(std::span<const double> differences, double scale) {
  constexpr double kRounding = 1e-9;
  PairedDifference result;
  result.n = static_cast<std::int64_t>(differences.size());
  result.mean = mean_of(differences);
  result.sd = deviation_of(differences);
  if (!result.sd) return result;
  if (*result.sd <= kRounding * scale) {
    result.sd = 0;
    if (std::fabs(result.mean) <= kRounding * scale) result.mean = 0;
    return result;
  }
  result.interval = mean_interval(differences);
  result.bootstrap = bootstrap_mean_interval(differences);
  result.detectable = 0.5 * (result.interval->high - result.interval->low);
  const double n = static_cast<double>(result.n);
  result.p = 2 * student_t_cdf(-std::fabs(result.mean) * std::sqrt(n) / *result.sd, n - 1);
  return result;
}

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest,
                       std::min(1.0, p_values[order[i]] * static_cast<double>(order.size() - i)));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

double holm_limit(std::span<const double> p_values, std::size_t i, double level) {
  // The others that are rejected before it each leave one hypothesis less to correct for.
  std::vector<double> others(p_values.begin(), p_values.end());
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
  std::sort(others.begin(), others.end());
  std::size_t remaining = p_values.size();
  for (const double p : others) {
    if (p * static_cast<double>(remaining) > level) break;
    --remaining;
  }
  return level / static_cast<double>(remaining);
}

}  // namespace tersor::results

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/statistics.hpp"

namespace tersor::results {

/// Order statistics and moments of one sample. sd (n - 1), ess and the interval need n >= 2, 3, 10.
struct Summary {
  std::int64_t n = 0;
  double min = 0;
  double q1 = 0;
  double median = 0;
  double q3 = 0;
  double max = 0;
  double mean = 0;
  std::optional<double> sd;
  /// Effective sample size n (1 - r) / (1 + r), r the lag-1 autocorrelation where it is positive.
  std::optional<double> ess;
  /// 95 % interval of the median by order statistics, with the effective sample size at r plus its
  /// standard error 1 / sqrt(n), since few values show too little autocorrelation. It covers the
  /// median of an AR(1) series with r = 0.5 in 95 to 98 % of cases, of independent values in 97 to
  /// 99.6 %, and with r = 0.7 in 87 % at n = 10 and 95 % from n = 20 on. None below 10 values: at 6
  /// and r = 0.5 even the extremes cover 85 % only.
  std::optional<double> ci_low;
  std::optional<double> ci_high;
};

/// Values in the order in which they were taken, all finite. n = 0 gives a Summary of zeros.
Summary summarize(std::span<const double> values);

double mean_of(std::span<const double> values);
/// Sample standard deviation (n - 1), two passes; none for n < 2.
std::optional<double> deviation_of(std::span<const double> values);

/// Student's t: P(T <= t), and its inverse for p in (0, 1). df > 0. Other arguments throw
/// std::domain_error.
double student_t_cdf(double t, double df);
double student_t_quantile(double p, double df);

/// Student's t interval of the mean; none for n < 2.
std::optional<Interval> mean_interval(std::span<const double> values, double level = 0.95);

/// Percentile bootstrap interval of the mean. Every resample is enumerated for n <= 6, else 10,000
/// are drawn from a fixed Philox stream: the same values give the same interval. None for n < 2.
std::optional<Interval> bootstrap_mean_interval(std::span<const double> values,
                                                double level = 0.95);

/// Percentile bootstrap interval of the mean of a table, rows = seeds, columns = evaluation rows:
/// each of 2,000 resamples draws seeds and evaluation rows anew, the same rows for every seed, from
/// a fixed Philox stream. None for fewer than 2 seeds, no columns, or ragged input.
std::optional<Interval> crossed_bootstrap_interval(const std::vector<std::vector<double>>& by_seed,
                                                   double level = 0.95);

/// Differences of pairs (the same seed with and without a codec). Differences that are all equal
/// have no spread to judge by: sd is 0, and there is neither interval nor p.
struct PairedDifference {
  std::int64_t n = 0;
  double mean = 0;
  std::optional<double> sd;           ///< 0 where it is rounding only
  std::optional<Interval> interval;   ///< Student's t, 95 %
  std::optional<Interval> bootstrap;  ///< percentile bootstrap, 95 %
  std::optional<double> p;            ///< two-sided paired t test; none for n < 2 or sd = 0
  /// Half the width of the interval: a difference below it cannot be told from 0 with this n.
  std::optional<double> detectable;
};
/// `scale` is the size of the values that were subtracted. A deviation below 1e-9 of it, and a mean
/// below that where there is no deviation, are rounding and count as 0.
PairedDifference paired_difference(std::span<const double> differences, double scale = 1);

/// Holm's step-down adjusted p-values, in the order given.
std::vector<double> holm_adjusted(std::span<const double> p_values);
/// The largest p with which Holm's procedure would reject hypothesis `i` at `level`, the other
/// p-values as they are.
double holm_limit(std::span<const double> p_values, std::size_t i, double level);

}  // namespace tersor::results

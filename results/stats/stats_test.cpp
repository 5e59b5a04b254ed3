// SPDX-License-Identifier: Apache-2.0
#include "results/stats/stats.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

namespace tersor::results {
namespace {

// Expected values of this file: NumPy 2.4 and SciPy 1.17, where no hand calculation is shown.

TEST_CASE("student t distribution equals scipy.stats.t") {
  const struct {
    double p, df, t;
  } kQuantiles[] = {{0.975, 1, 12.706204736174694}, {0.975, 2, 4.302652729749462},
                    {0.975, 3, 3.1824463052837078}, {0.975, 30, 2.0422724563012373},
                    {0.995, 5, 4.032142983555227},  {0.9, 7, 1.4149239276505079},
                    {0.025, 2, -4.30265272974946},  {0.6, 100, 0.25402218245822766},
                    {0.975, 1e6, 1.959966356814107}};
  for (const auto& [p, df, t] : kQuantiles) {
    INFO("p " << p << " df " << df);
    CHECK(student_t_quantile(p, df) == Approx(t).epsilon(1e-13));
    CHECK(student_t_cdf(t, df) == Approx(p).epsilon(1e-13));
  }
  CHECK(student_t_quantile(0.5, 4) == 0);
  CHECK(student_t_cdf(0, 4) == Approx(0.5));
  CHECK(student_t_cdf(-8.0, 2) == Approx(0.00763403608266907).epsilon(1e-13));
}

TEST_CASE("summary of a hand-computed sample") {
  const std::vector<double> v{5, 1, 4, 2, 3, 9};
  const Summary s = summarize(v);
  CHECK(s.n == 6);
  CHECK(s.min == 1);
  CHECK(s.q1 == Approx(2.25));
  CHECK(s.median == Approx(3.5));
  CHECK(s.q3 == Approx(4.75));
  CHECK(s.max == 9);
  CHECK(s.mean == 4);
  CHECK(*s.sd == Approx(2.8284271247461903));
  // Neighbours differ in sign: no positive autocorrelation, so no sample is lost.
  CHECK(*s.ess == Approx(6));
  CHECK_FALSE(s.ci_low);
  CHECK_FALSE(s.ci_high);
}

TEST_CASE("the interval of the median covers it as often as its header says") {
  // How many of 4,000 AR(1) series x' = r x + sqrt(1 - r^2) e have the true median, 0, inside.
  const auto coverage = [](double r, int n) {
    constexpr int kSeries = 4000;
    std::mt19937_64 bits(20240229);
    std::normal_distribution<double> normal;
    int inside = 0;
    for (int i = 0; i < kSeries; ++i) {
      std::vector<double> values{normal(bits)};
      while (std::ssize(values) < n)
        values.push_back(r * values.back() + std::sqrt(1 - r * r) * normal(bits));
      const Summary s = summarize(values);
      inside += *s.ci_low <= 0 && *s.ci_high >= 0 ? 1 : 0;
    }
    return static_cast<double>(inside) / kSeries;
  };
  // NumPy, 40,000 series each; the standard error is 0.0034 here.
  CHECK(coverage(0.5, 10) == Approx(0.950).margin(0.01));
  CHECK(coverage(0.5, 15) == Approx(0.960).margin(0.01));
  CHECK(coverage(0.5, 20) == Approx(0.967).margin(0.01));
  CHECK(coverage(0.5, 30) == Approx(0.972).margin(0.01));
  CHECK(coverage(0, 10) == Approx(0.996).margin(0.01));
  CHECK(coverage(0, 30) == Approx(0.986).margin(0.01));
}

TEST_CASE("small and constant samples have no made-up deviation") {
  CHECK(summarize({}).n == 0);
  const Summary one = summarize(std::vector<double>{7});
  CHECK(one.median == 7);
  CHECK_FALSE(one.sd);
  CHECK_FALSE(one.ess);
  CHECK_FALSE(one.ci_low);
  const Summary constant = summarize(std::vector<double>{2, 2, 2, 2, 2, 2});
  CHECK(*constant.sd == 0);
  CHECK(*constant.ess == 6);
  CHECK_FALSE(mean_interval(std::vector<double>{1}));
  CHECK_FALSE(bootstrap_mean_interval(std::vector<double>{1}));
}

TEST_CASE("autocorrelation lowers the effective sample size and widens the interval") {
  std::vector<double> drift;
  for (int i = 0; i < 100; ++i) drift.push_back(i);
  const Summary s = summarize(drift);
  // numpy: r1 = sum(d[1:] * d[:-1]) / sum(d ** 2) = 0.97; 100 (1 - 0.97) / 1.97.
  CHECK(*s.ess == Approx(1.5228426395939088));
  CHECK(*s.ci_low == 0);
  CHECK(*s.ci_high == 99);
}

TEST_CASE("intervals and paired differences equal scipy") {
  // Paired changes of Top-K 1 % on the SST-2 subset, in points (seeds 1, 2, 3).
  const std::vector<double> changes{-8.26, -6.54, -6.31};
  const PairedDifference d = paired_difference(changes);
  CHECK(d.n == 3);
  CHECK(d.mean == Approx(-7.036666666666666));
  CHECK(*d.sd == Approx(1.0656609842409233));
  CHECK(d.interval->low == Approx(-9.683915305560518).epsilon(1e-9));
  CHECK(d.interval->high == Approx(-4.389418027772814).epsilon(1e-9));
  CHECK(*d.p == Approx(0.0075585267036105625).epsilon(1e-6));
  CHECK(*d.detectable == Approx(2.647248638893852).epsilon(1e-9));
  // All 27 resamples are enumerated; their 2.5 % and 97.5 % quantiles.
  CHECK(d.bootstrap->low == Approx(-7.887333333333333));
  CHECK(d.bootstrap->high == Approx(-6.359833333333333));
  const std::vector<double> same{0.5, 0.5, 0.5};
  CHECK_FALSE(paired_difference(same).p);
  CHECK(*paired_difference(same).sd == 0);
  const std::vector<double> alone{0.5};
  CHECK_FALSE(paired_difference(alone).interval);
}

TEST_CASE("differences that are equal but for rounding have no spread") {
  // One row of 300 better on every seed: 100 (73 / 300 - 72 / 300) and so on differ by 1e-14.
  std::vector<double> rounded;
  for (const double rows : {72.0, 75.0, 150.0}) {
    const double with = (rows + 1) / 300;
    const double without = rows / 300;
    rounded.push_back(100 * (with - without));
  }
  REQUIRE_FALSE((rounded[0] == rounded[1] && rounded[1] == rounded[2]));
  const PairedDifference d = paired_difference(rounded, 100);
  CHECK(*d.sd == 0);
  CHECK(d.mean == Approx(1.0 / 3));
  CHECK_FALSE(d.p);
  CHECK_FALSE(d.interval);
  // The same by 0 rows: 0.3 - 0.1 * 3 and its like are no difference.
  const std::vector<double> none{0.3 - 0.1 * 3, 0.0, 0.1 * 3 - 0.3};
  REQUIRE(none[0] != 0);
  CHECK(paired_difference(none).mean == 0);
  // A spread of one row in a million is one.
  const std::vector<double> small{1e-6, 2e-6, 1e-6};
  CHECK(*paired_difference(small).p == Approx(0.0571909584179366));  // scipy.stats.ttest_1samp
}

TEST_CASE("the bootstrap of many values is near the normal interval and repeats") {
  std::vector<double> v;
  for (int i = 0; i < 50; ++i) v.push_back((i * 37) % 50);
  const auto a = bootstrap_mean_interval(v);
  const auto b = bootstrap_mean_interval(v);
  CHECK(a->low == b->low);
  CHECK(a->high == b->high);
  // mean 24.5, sd 14.577, 1.96 sd / sqrt(50) = 4.04 (4.00 with the n divisor of the bootstrap).
  CHECK(a->low == Approx(24.5 - 4.00).margin(0.25));
  CHECK(a->high == Approx(24.5 + 4.00).margin(0.25));
}

TEST_CASE("Holm's adjustment by hand") {
  // Sorted 0.01, 0.02, 0.03, 0.04: times 4, 3, 2, 1, then monotone: 0.04, 0.06, 0.06, 0.06.
  const std::vector<double> p{0.04, 0.01, 0.03, 0.02};
  const std::vector<double> adjusted = holm_adjusted(p);
  CHECK(adjusted[0] == Approx(0.06));
  CHECK(adjusted[1] == Approx(0.04));
  CHECK(adjusted[2] == Approx(0.06));
  CHECK(adjusted[3] == Approx(0.06));
  CHECK(holm_adjusted(std::vector<double>{0.9, 0.8})[1] == 1);
  CHECK(holm_adjusted({}).empty());
}

TEST_CASE("the limit of p is where Holm's decision changes") {
  // Alone 0.05. Of three, 0.001 is rejected at 0.05 / 3, which leaves 0.05 / 2 to the next, and
  // 0.04 is not rejected there: a third hypothesis must reach 0.05 / 2.
  CHECK(holm_limit(std::vector<double>{0.3}, 0, 0.05) == Approx(0.05));
  CHECK(holm_limit(std::vector<double>{0.001, 0.04, 0.9}, 2, 0.05) == Approx(0.025));
  CHECK(holm_limit(std::vector<double>{0.2, 0.04, 0.9}, 2, 0.05) == Approx(0.05 / 3));
  std::mt19937_64 bits(7);
  std::uniform_real_distribution<double> any(0, 0.08);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> p(1 + round % 6);
    for (double& value : p) value = any(bits);
    const std::size_t i = static_cast<std::size_t>(round) % p.size();
    const double limit = holm_limit(p, i, 0.05);
    p[i] = limit * (1 - 1e-9);
    CHECK(holm_adjusted(p)[i] <= 0.05);
    p[i] = limit * (1 + 1e-9);
    CHECK(holm_adjusted(p)[i] > 0.05);
  }
}

}  // namespace
}  // namespace tersor::results

// SPDX-License-Identifier: Apache-2.0
#include "compressors/host/hadamard_kernels.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "compressors/verify/message_for_test.hpp"
#include "compressors/verify/targets_for_test.hpp"
#include "compressors/wire/floats.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

// The definition, word by word: strides 1, 2, 4, .., then one multiply.
std::vector<float> transformed(std::vector<float> x, std::int64_t n) {
  const auto size = static_cast<std::size_t>(n);
  const auto factor = static_cast<float>(1.0 / std::sqrt(static_cast<double>(n)));
  for (std::size_t block = 0; block < x.size(); block += size) {
    for (std::size_t stride = 1; stride < size; stride *= 2) {
      for (std::size_t i = block; i < block + size; ++i) {
        if (((i - block) & stride) != 0) continue;
        const float a = x[i];
        const float b = x[i + stride];
        x[i] = a + b;
        x[i + stride] = a - b;
      }
    }
    for (std::size_t i = block; i < block + size; ++i) x[i] *= factor;
  }
  return x;
}

bool are_same(const std::vector<float>& a, const std::vector<float>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<float> product(const std::vector<float>& x, const std::vector<float>& y) {
  std::vector<float> out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) out[i] = x[i] * y[i];
  return out;
}

TEST_CASE("every instruction set transforms blocks of every size as the definition does") {
  for (std::int64_t n = 1; n <= 8192; n *= 2) {
    const std::int64_t count = n < 1024 ? 3 : 2;
    std::vector<float> x = activations(n * count);
    x[x.size() / 2] = -0.0f;
    x[x.size() - 1] = 1e-41f;
    std::vector<float> signs = activations(n * count, 2);
    for (float& s : signs) s = s < 0 ? -1.0f : 1.0f;
    const std::vector<float> rotated = transformed(product(x, signs), n);
    const std::vector<float> back = product(transformed(x, n), signs);
    const std::vector<float> old = activations(n * count, 3);
    for (const std::int64_t target : targets()) {
      const WithTarget with(target);
      INFO("size " << n << ", target " << target);
      std::vector<float> out(x.size());
      kernels::signed_walsh_hadamard(x.data(), signs.data(), n, count, out.data());
      CHECK(are_same(out, rotated));
      out = x;
      kernels::signed_walsh_hadamard(out.data(), signs.data(), n, count, out.data());
      CHECK(are_same(out, rotated));
      kernels::walsh_hadamard_signed(x.data(), signs.data(), n, count, out.data());
      CHECK(are_same(out, back));
      out = old;
      std::vector<float> work(x.size());
      kernels::add_walsh_hadamard_signed(x.data(), signs.data(), n, count, work.data(), out.data());
      std::vector<float> sum(x.size());
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = old[i] + back[i];
      CHECK(are_same(out, sum));
    }
  }
}

TEST_CASE("a value that is no number fills its block with the canonical NaN, and no other") {
  for (const std::int64_t n : {4, 64, 128, 512}) {
    std::vector<float> x(static_cast<std::size_t>(2 * n), 1.0f);
    x[static_cast<std::size_t>(n) + 1] = float_of(0xFFC12345u);
    const std::vector<float> signs(x.size(), -1.0f);
    for (const std::int64_t target : targets()) {
      const WithTarget with(target);
      INFO("size " << n << ", target " << target);
      std::vector<float> out(x.size());
      kernels::signed_walsh_hadamard(x.data(), signs.data(), n, 2, out.data());
      for (std::size_t i = 0; i < out.size(); ++i) {
        if (i < static_cast<std::size_t>(n))
          CHECK(std::isfinite(out[i]));
        else
          CHECK(bits(out[i]) == kNan32);
      }
    }
  }
}

}  // namespace
}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#include "compressors/spec/sweep.hpp"

#include <catch2/catch.hpp>

#include "common/error.hpp"

namespace tersor::compressors {
namespace {

TEST_CASE("sweeps expand to the product, leftmost brace slowest") {
  using List = std::vector<std::string>;
  CHECK(expand_sweep("none") == List{"none"});
  CHECK(expand_sweep("topk(ratio={0.01,0.1},index={ef,u32})") ==
        List{"topk(ratio=0.01,index=ef)", "topk(ratio=0.01,index=u32)", "topk(ratio=0.1,index=ef)",
             "topk(ratio=0.1,index=u32)"});
  CHECK(expand_sweep("{none, quantize(bits=4,scope=token)}") ==
        List{"none", "quantize(bits=4,scope=token)"});
  CHECK(expand_sweep("ef({topk(ratio={0.1,0.2}),sign})") ==
        List{"ef(topk(ratio=0.1))", "ef(topk(ratio=0.2))", "ef(sign)"});
  for (const char* bad : {"topk(ratio={0.1)", "topk}", "{a,}", "{}", "{a,b}}"})
    CHECK_THROWS_AS(expand_sweep(bad), Error);
  std::string many;
  for (int i = 0; i < 30; ++i) many += "{a,b}";
  CHECK_THROWS_WITH(expand_sweep(many), Catch::Contains("more than 1000000"));
}

TEST_CASE("a sweep is counted without making it") {
  CHECK(count_sweep("topk(ratio=0.1)") == 1);
  CHECK(count_sweep("a({b,c(d,e)},{f,{g,h}})") == 2 * 3);
  std::string many;
  for (int i = 0; i < 100; ++i) many += "{a,b}";
  CHECK(count_sweep(many) == ~std::uint64_t{0});
  CHECK(saturating_product(std::uint64_t{1} << 40, std::uint64_t{1} << 40) == ~std::uint64_t{0});
  CHECK(saturating_sum(~std::uint64_t{0}, 1) == ~std::uint64_t{0});
}

TEST_CASE("braces that nest without end are refused, not overflown") {
  const std::string deep(1'000'000, '{');
  CHECK_THROWS_AS(expand_sweep(deep), Error);
  CHECK_NOTHROW(count_sweep(deep));
}

}  // namespace
}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#include "workloads/messages/site.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <tuple>

#include "workloads/messages/site_for_test.hpp"
#include "workloads/messages/site_numbers.hpp"

using namespace tersor;
using namespace tersor::workloads;
using compressors::Direction;
using compressors::GroupLevel;
using workloads::testing::kShape;
using workloads::testing::Run;

namespace {

/// METHODS "Sum at a site", with the codec's own encode and decode.
std::vector<float> decoded_sum(const Run& run, const std::string& spec, std::uint32_t ranks) {
  const auto codec = compressors::make_codec(spec);
  std::vector<float> total(run.contributions[0].size(), 0.0f);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    compressors::Context context{.seed = 7, .site = 1, .rank = r, .ranks = ranks};
    const TensorView in{run.contributions[r].data(), kShape, DType::kFloat32};
    std::vector<std::byte> payload(codec->payload_bytes(kShape, DType::kFloat32, context));
    payload.resize(codec->encode(0, in, payload, nullptr, context));
    std::vector<float> decoded(total.size());
    codec->decode(payload, kShape, DType::kFloat32, decoded, nullptr, context);
    for (std::size_t i = 0; i < total.size(); ++i)
      total[i] = r == 0 ? decoded[i] : total[i] + decoded[i];
  }
  return total;
}

}  // namespace

TEST_CASE("site: a gathered codec gives the rank-order sum of the decoded messages") {
  for (const char* spec : {"quantize(bits=4)", "topk(ratio=0.1)", "minmax", "randk(shared=false)"})
    for (const int ranks : {2, 3}) {
      Run run(ranks, spec);
      CHECK(run.sum() == decoded_sum(run, spec, static_cast<std::uint32_t>(ranks)));
    }
}

TEST_CASE("site: a summable codec with sum_order=ranks is the float32 sum of its decodes") {
  Run run(3, "cast", SumOrder::kRanks);
  CHECK(run.sum() == decoded_sum(run, "cast", 3));
  CHECK(run.group.traffic()[0].entry.collective == CollectiveKind::kAllGather);
}

TEST_CASE("site: none and a switched-off codec are the plain sum") {
  Run none(3, "none");
  CHECK(none.sum() == none.exact());
  Run off(3, "topk");
  off.pass.compress = false;
  CHECK(off.sum() == off.exact());
  CHECK(off.group.traffic()[0].spec == "none");
  Run single(1, "topk");
  CHECK(single.sum() == single.exact());
}

TEST_CASE("site: bytes by formula") {
  Run run(2, "quantize(bits=2)");
  run.sum();
  run.sum();
  const TrafficRow row = run.group.traffic().at(0);
  const std::uint64_t payload = 16 * 2 + 96 * 2 / 8;  // float16 scale a channel, two bits a value
  CHECK(row.calls == 2);
  CHECK(row.raw_bytes == 2 * 96 * 4);
  CHECK(row.payload_bytes == 2 * payload);
  CHECK(row.metadata_bytes == 2 * 32);
  CHECK(row.wire_bytes == 2 * payload);
  CHECK(row.input_bytes == 2 * payload);
  CHECK(run.group.collective().input_bytes() == 2 * payload);
}

TEST_CASE("site: the payload of a message in two steps counts once, its wire bytes in full") {
  Run run(2, "twostep(quantize(bits=4))");
  run.sum();
  // Chunks of 3 rows of 16: a float16 scale a channel, half a byte a value.
  constexpr std::uint64_t kChunk = 16 * 2 + 3 * 16 / 2;
  std::map<CollectiveKind, TrafficRow> rows;
  for (const TrafficRow& row : run.group.traffic()) rows[row.entry.collective] = row;
  REQUIRE(rows.size() == 2);
  const TrafficRow& first = rows[CollectiveKind::kAllToAll];
  CHECK(first.raw_bytes == 96 * 4);
  CHECK(first.payload_bytes == 2 * kChunk);
  CHECK(first.metadata_bytes == 2 * 32);
  CHECK(first.wire_bytes == kChunk);
  CHECK(first.input_bytes == 2 * kChunk);
  const TrafficRow& second = rows[CollectiveKind::kAllGather];
  CHECK(second.raw_bytes == 0);
  CHECK(second.payload_bytes == 0);
  CHECK(second.metadata_bytes == 0);
  CHECK(second.wire_bytes == kChunk);
  CHECK(second.input_bytes == kChunk);
}

TEST_CASE("site: a codec of two rounds goes through all-to-all and gather") {
  Run run(3, "twostep(none)");
  CHECK(run.sum() == run.exact());
  bool has_parts = false, has_gather = false;
  for (const TrafficRow& row : run.group.traffic()) {
    has_parts |= row.entry.collective == CollectiveKind::kAllToAll;
    has_gather |= row.entry.collective == CollectiveKind::kAllGather;
    CHECK(row.spec == "twostep(none)");
  }
  CHECK(has_parts);
  CHECK(has_gather);
}

TEST_CASE("site: error feedback remembers in training, not in evaluation") {
  Run run(2, "ef(topk(ratio=0.1))"), plain(2, "topk(ratio=0.1)");
  run.pass.phase = compressors::Phase::kEval;
  CHECK(run.sum() == plain.sum());
  CHECK(run.sum() == plain.sum());
  run.pass.phase = compressors::Phase::kTrain;
  const std::vector<float> exact = run.exact();
  constexpr int kSteps = 60;
  std::vector<double> mean(exact.size(), 0.0);
  for (int step = 0; step < kSteps; ++step) {
    const std::vector<float> sum = run.sum();
    for (std::size_t i = 0; i < sum.size(); ++i) mean[i] += sum[i] / double{kSteps};
  }
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    error += std::pow(mean[i] - exact[i], 2);
    norm += std::pow(static_cast<double>(exact[i]), 2);
  }
  // What was held back is at most about ten messages, of sixty; Top-K alone loses half for ever.
  CHECK(std::sqrt(error / norm) < 0.2);
  CHECK(run.group.codec_state_bytes() > 0);
}

// METHODS section 2, by hand: send C(x + e), e = (x + e) - what was sent, where C keeps the k
// largest magnitudes.
TEST_CASE("site: the residual of error feedback is what was held back") {
  constexpr std::size_t kSent = 7;
  Run run(2, "ef(topk(k=7))");
  const std::size_t count = run.contributions[0].size();
  std::vector<std::vector<float>> residual(2, std::vector<float>(count, 0.0f));
  for (std::uint32_t step = 0; step < 3; ++step) {
    run.pass.step = step;
    std::vector<float> expected(count, 0.0f);
    for (std::size_t r = 0; r < 2; ++r) {
      std::vector<float>& e = residual[r];
      for (std::size_t i = 0; i < count; ++i) e[i] += run.contributions[r][i];
      std::vector<float> magnitudes;
      for (const float value : e) magnitudes.push_back(std::fabs(value));
      std::sort(magnitudes.rbegin(), magnitudes.rend());
      REQUIRE(magnitudes[kSent - 1] > magnitudes[kSent]);
      for (std::size_t i = 0; i < count; ++i)
        if (std::fabs(e[i]) >= magnitudes[kSent - 1]) {
          expected[i] += e[i];
          e[i] = 0;
        }
    }
    CHECK(run.sum() == expected);
    // An evaluation in between leaves the residual alone.
    run.pass.phase = compressors::Phase::kEval;
    run.sum();
    run.pass.phase = compressors::Phase::kTrain;
    for (auto& contribution : run.contributions)
      for (float& value : contribution) value *= -0.75f;
  }
}

TEST_CASE("site: hierarchical sums nodes by one codec and their sums by another") {
  Run run(4, "hierarchical(quantize(bits=4),topk(ratio=0.5))", SumOrder::kLibrary, 2);
  const auto decode = [](const char* spec, const std::vector<float>& x, std::uint32_t rank,
                         bool second) {
    const auto codec = compressors::make_codec(spec);
    compressors::Context context{.seed = 7, .site = 1, .rank = rank, .ranks = 2};
    context.second_round = second;
    std::vector<std::byte> payload(codec->payload_bytes(kShape, DType::kFloat32, context));
    codec->encode(0, {x.data(), kShape, DType::kFloat32}, payload, nullptr, context);
    std::vector<float> out(x.size());
    codec->decode(payload, kShape, DType::kFloat32, out, nullptr, context);
    return out;
  };
  const auto add = [](std::vector<float> a, const std::vector<float>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  };
  std::vector<std::vector<float>> sent;
  for (std::size_t node = 0; node < 2; ++node) {
    const auto sum = add(decode("quantize(bits=4)", run.contributions[2 * node], 0, false),
                         decode("quantize(bits=4)", run.contributions[2 * node + 1], 1, false));
    sent.push_back(decode("topk(ratio=0.5)", sum, static_cast<std::uint32_t>(node), true));
  }
  CHECK(run.sum() == add(sent[0], sent[1]));
  std::map<std::pair<GroupLevel, CollectiveKind>, std::uint64_t> payload;
  for (const TrafficRow& row : run.group.traffic())
    payload[{row.entry.level, row.entry.collective}] = row.payload_bytes;
  CHECK(payload.size() == 3);
  CHECK(payload[{GroupLevel::kNode, CollectiveKind::kAllGather}] == 16 * 2 + 96 / 2);
  // 48 values and the smallest of u16 (96 bytes) and a bitmap (12 bytes).
  CHECK(payload[{GroupLevel::kNodes, CollectiveKind::kAllGather}] == 48 * 4 + 12);
  CHECK(payload[{GroupLevel::kNode, CollectiveKind::kBroadcast}] == 96 * 4);
  CHECK(run.group.input_bytes() == 80 + 204 + 384);
}

// METHODS section 2: ranks in every draw are those of the whole group.
TEST_CASE("site: the draws of hierarchical take the ranks of the whole group") {
  for (const std::string spec :
       {"quantize(bits=2,rounding=stochastic)", "randk(ratio=0.5,shared=false)"}) {
    INFO(spec);
    Run run(4, "hierarchical(" + spec + "," + spec + ")", SumOrder::kLibrary, 2);
    const auto codec = compressors::make_codec(spec);
    const auto decode = [&](const std::vector<float>& x, std::uint32_t rank, bool second) {
      compressors::Context context{.seed = 7, .site = 1, .rank = rank, .ranks = 4};
      context.second_round = second;
      std::vector<std::byte> payload(codec->payload_bytes(kShape, DType::kFloat32, context));
      codec->encode(0, {x.data(), kShape, DType::kFloat32}, payload, nullptr, context);
      std::vector<float> out(x.size());
      codec->decode(payload, kShape, DType::kFloat32, out, nullptr, context);
      return out;
    };
    std::vector<float> expected(run.contributions[0].size(), 0.0f);
    for (std::uint32_t node = 0; node < 2; ++node) {
      std::vector<float> sum = decode(run.contributions[2 * node], 2 * node, false);
      const auto other = decode(run.contributions[2 * node + 1], 2 * node + 1, false);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
      const auto sent = decode(sum, 2 * node, true);
      for (std::size_t i = 0; i < sum.size(); ++i) expected[i] += sent[i];
    }
    CHECK(run.sum() == expected);
  }
}

TEST_CASE("site: a gate is closed for small messages and says which it was") {
  for (const auto& [spec, sent] : {std::pair{"gate(quantize,min_bytes=385)", "none"},
                                   {"gate(quantize,min_bytes=384)", "gate(quantize,min_bytes=384)"},
                                   {"gate(quantize,force=true)", "gate(quantize,force=true)"}}) {
    Run gate(2, spec), plain(2, std::string(sent) == "none" ? "none" : "quantize");
    CHECK(gate.sum() == plain.sum());
    REQUIRE(gate.group.traffic().size() == 1);
    CHECK(gate.group.traffic()[0].spec == sent);
    CHECK(gate.group.traffic()[0].payload_bytes == plain.group.traffic()[0].payload_bytes);
  }
}

TEST_CASE("site: with partial each rank gets its own channels back") {
  Run run(3, "partial(none,ratio=0.25)");
  std::vector<std::vector<float>> outs(3, std::vector<float>(run.contributions[0].size()));
  std::vector<std::span<std::byte>> from, to;
  for (auto& values : run.contributions) from.push_back(std::as_writable_bytes(std::span(values)));
  for (auto& values : outs) to.push_back(std::as_writable_bytes(std::span(values)));
  run.site.sum(run.pass, {from, kShape, DType::kFloat32}, to);
  const std::vector<float> exact = run.exact();
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t i = 0; i < exact.size(); ++i)
      CHECK(outs[r][i] == (i % 16 < 4 ? exact[i] : run.contributions[r][i]));
  CHECK(run.group.traffic()[0].payload_bytes == 6 * 4 * 4);
}

TEST_CASE("site: numbers are those of METHODS, and end where 16 bits end") {
  CHECK(attention_site(0) == 0);
  CHECK(mlp_site(0) == 1);
  CHECK(attention_site(kMaxLayers - 1) == 0x7FFE);
  CHECK(mlp_site(kMaxLayers - 1) == 0x7FFF);
  CHECK(boundary_site(0) == 0x8000);
  CHECK(boundary_site(5) == 0x8005);
  CHECK(boundary_site(0x7FEF) == kTiedEmbeddingSite - 1);
  CHECK_THROWS_WITH(attention_site(kMaxLayers), Catch::Contains("layer 16384 not in [0, 16384)"));
  CHECK_THROWS_WITH(mlp_site(-1), Catch::Contains("layer -1"));
  CHECK_THROWS_WITH(boundary_site(0x7FF0), Catch::Contains("block 32752"));
}

TEST_CASE("site: the codec says by which stages its message goes") {
  const auto codec = compressors::make_codec("hierarchical(cast,quantize)");
  const auto stages = codec->topology();
  REQUIRE(stages.size() == 2);
  CHECK(stages[0].level == GroupLevel::kNode);
  CHECK(stages[0].codec->canonical() == "cast");
  CHECK(stages[1].level == GroupLevel::kNodes);
  CHECK(stages[1].codec->canonical() == "quantize");
  const auto plain = compressors::make_codec("twostep(quantize)");
  REQUIRE(plain->topology().size() == 1);
  CHECK(plain->topology()[0].codec == plain.get());
  CHECK_THROWS_WITH(Run(4, "hierarchical(cast,quantize)"), Catch::Contains("several"));
}

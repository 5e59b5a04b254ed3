// SPDX-License-Identifier: Apache-2.0
#include "workloads/parallel/site.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace tersor;
using namespace tersor::workloads;
using compressors::Direction;

namespace {

constexpr Shape kShape{2, 3, 16};

struct Run {
  explicit Run(int ranks, const std::string& spec, SumOrder order = SumOrder::kLibrary)
      : group(make_emulated_collective(ranks, order), 7, false, 1),
        site(group.add_site("tp", "layer0.mlp", 1, Direction::kForward,
                            compressors::make_codec(spec))) {
    for (int r = 0; r < ranks; ++r) {
      std::vector<float> values(static_cast<std::size_t>(kShape.elements()));
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = std::sin(static_cast<float>(i * 3 + 1) * static_cast<float>(r + 1));
      contributions.push_back(values);
    }
  }
  std::vector<float> sum() {
    std::vector<std::vector<float>> copies = contributions;
    std::vector<std::span<std::byte>> buffers;
    for (auto& copy : copies) buffers.push_back(std::as_writable_bytes(std::span(copy)));
    std::vector<float> out(copies[0].size());
    const bool is_dense = site.is_dense();
    site.sum(buffers, kShape, DType::kFloat32,
             is_dense ? buffers[0] : std::as_writable_bytes(std::span(out)));
    return is_dense ? copies[0] : out;
  }
  std::vector<float> exact() const {
    std::vector<float> total = contributions[0];
    for (std::size_t r = 1; r < contributions.size(); ++r)
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += contributions[r][i];
    return total;
  }

  TensorParallel group;
  Site& site;
  std::vector<std::vector<float>> contributions;
};

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
  CHECK(run.site.traffic()[0].operation == Operation::kAllGather);
}

TEST_CASE("site: none and a switched-off codec are the plain sum") {
  Run none(3, "none");
  CHECK(none.sum() == none.exact());
  Run off(3, "topk");
  off.group.pass.compress = false;
  CHECK(off.sum() == off.exact());
  CHECK(off.site.traffic()[0].spec == "none");
  Run single(1, "topk");
  CHECK(single.sum() == single.exact());
}

TEST_CASE("site: bytes by formula") {
  Run run(2, "quantize(bits=2)");
  run.sum();
  run.sum();
  const TrafficRow row = run.site.traffic().at(0);
  const std::uint64_t payload = 16 * 2 + 96 * 2 / 8;  // float16 scale a channel, two bits a value
  CHECK(row.calls == 2);
  CHECK(row.raw_bytes == 2 * 96 * 4);
  CHECK(row.payload_bytes == 2 * payload);
  CHECK(row.metadata_bytes == 2 * 32);
  CHECK(row.sent_bytes == 2 * payload);
  CHECK(row.handed_bytes == 2 * payload);
  CHECK(run.group.collective().handed_bytes() == 2 * payload);
}

TEST_CASE("site: error samples of a message and of the sum") {
  Run run(2, "topk(ratio=0.5)");
  run.group.pass.sample_error = true;
  run.group.pass.step = 11;
  const std::vector<float> sum = run.sum(), exact = run.exact();
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    error += std::pow(static_cast<double>(sum[i]) - exact[i], 2);
    norm += std::pow(static_cast<double>(exact[i]), 2);
  }
  REQUIRE(run.group.errors.size() == 1);
  const ErrorSample& sample = run.group.errors[0];
  CHECK(sample.step == 11);
  CHECK(sample.sum_relative_l2 == Approx(std::sqrt(error / norm)));
  CHECK(sample.message_relative_l2 > 0.0);
  CHECK(sample.message_relative_l2 < 1.0);
  // Top-K keeps values as they are: cos^2 + error^2 = 1 for one message.
  CHECK(std::pow(sample.message_cosine, 2) + std::pow(sample.message_relative_l2, 2) ==
        Approx(1.0));
}

TEST_CASE("site: a codec of two rounds goes through all-to-all and gather") {
  Run run(3, "twostep(none)");
  CHECK(run.sum() == run.exact());
  bool has_parts = false, has_gather = false;
  for (const TrafficRow& row : run.site.traffic()) {
    has_parts |= row.operation == Operation::kAllToAll;
    has_gather |= row.operation == Operation::kAllGather;
    CHECK(row.spec == "twostep(none)");
  }
  CHECK(has_parts);
  CHECK(has_gather);
}

TEST_CASE("site: error feedback remembers in training, not in evaluation") {
  Run run(2, "ef(topk(ratio=0.1))"), plain(2, "topk(ratio=0.1)");
  run.group.pass.phase = compressors::Phase::kEval;
  CHECK(run.sum() == plain.sum());
  CHECK(run.sum() == plain.sum());
  run.group.pass.phase = compressors::Phase::kTrain;
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

// SPDX-License-Identifier: Apache-2.0
// Shards against one rank, learned codecs, dropout and bytes, all in one process (emulated shards
// are bit-identical to real ranks: worker_test.cpp).
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "common/error.hpp"
#include "workloads/comm/runtime.hpp"
#include "workloads/stages/job_for_test.hpp"

using namespace tersor;
using namespace tersor::workloads;
using namespace tersor::workloads::testing;

namespace {

/// Full gradients by Hugging Face name, put together from the shards.
std::map<std::string, std::vector<float>> full_gradients(Setup& setup) {
  std::map<std::string, std::vector<float>> full;
  for (const Parameter& parameter : setup.model->parameters().all()) {
    if (!parameter.value.grad().defined()) continue;
    const std::span<const float> values = floats_of(parameter.value.grad().contiguous());
    std::size_t row_offset = 0;
    for (const Piece& piece : parameter.pieces) {
      std::int64_t columns = 1;
      for (std::size_t d = 1; d < piece.shape.size(); ++d) columns *= piece.shape[d];
      auto& to = full[piece.name];
      to.resize(static_cast<std::size_t>(piece.shape[0] * columns));
      const bool is_by_row = piece.dimension == 0;
      const std::int64_t rows = is_by_row ? piece.length : piece.shape[0];
      const std::int64_t width = is_by_row ? columns : piece.length;
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < width; ++c) {
          const std::int64_t row = is_by_row ? piece.begin + r : r;
          const std::int64_t column = is_by_row ? c : piece.begin + c;
          to[static_cast<std::size_t>(row * columns + column)] =
              values[row_offset + static_cast<std::size_t>(r * width + c)];
        }
      row_offset += static_cast<std::size_t>(rows * width);
    }
  }
  return full;
}

}  // namespace

TEST_CASE("shards: gradients of the first step equal those of one rank") {
  for (const char* pooling : {"mean", "cls"}) {
    protocol::Cell config = make_config();
    config.model.pooling = pooling;
    const datasets::Batch batch = make_random_batch(0, 6, 16);
    Setup one(1, config);
    const double loss = one.gradients(batch);
    const auto expected = full_gradients(one);
    double largest = 0;
    for (const auto& [name, values] : expected)
      for (const float value : values)
        largest = std::max(largest, std::fabs(static_cast<double>(value)));
    REQUIRE(largest > 0);
    for (const int ranks : {2, 4}) {
      Setup many(ranks, config);
      CHECK(many.gradients(batch) == Approx(loss).epsilon(1e-6));
      const auto found = full_gradients(many);
      REQUIRE(found.size() == expected.size());
      for (const auto& [name, values] : expected) {
        double difference = 0;
        for (std::size_t i = 0; i < values.size(); ++i)
          difference =
              std::max(difference, std::fabs(static_cast<double>(values[i]) - found.at(name)[i]));
        INFO(name << " at " << ranks << " ranks");
        CHECK(difference <= 1e-5 * largest);
      }
    }
  }
}

TEST_CASE("shards: twenty losses equal those of one rank, with dropout too") {
  for (const double dropout : {0.0, 0.1}) {
    protocol::Cell config = make_config();
    config.model.dropout = dropout;
    Setup one(1, config), two(2, config), four(4, config);
    for (std::uint32_t step = 0; step < 20; ++step) {
      const double loss = one.train(step);
      CHECK(two.train(step) == Approx(loss).epsilon(1e-4));
      CHECK(four.train(step) == Approx(loss).epsilon(1e-4));
    }
  }
}

TEST_CASE("gradients: the loss changes along them as they say") {
  protocol::Cell config = make_config();
  const datasets::Batch batch = make_random_batch(1, 6, 16);
  Setup setup(2, config);
  setup.gradients(batch);
  // The direction is the gradient of the matrices in the middle of the model, of norm 1.
  double square = 0;
  std::vector<std::pair<std::span<float>, std::span<const float>>> moved;
  for (Parameter& parameter : setup.model->parameters().all())
    if (parameter.name.starts_with("encoder.layer.") && parameter.value.grad().defined()) {
      const at::Tensor gradient = parameter.value.grad();
      REQUIRE(gradient.is_contiguous());
      moved.emplace_back(floats_of(parameter.value), floats_of(gradient));
      for (const float value : moved.back().second) square += static_cast<double>(value) * value;
    }
  const double norm = std::sqrt(square), epsilon = 0.02;
  const auto shift = [&](double by) {
    for (auto& [value, gradient] : moved)
      for (std::size_t i = 0; i < value.size(); ++i)
        value[i] += static_cast<float>(by * gradient[i] / norm);
  };
  shift(epsilon);
  const double above = setup.loss(batch) / 6;
  shift(-2 * epsilon);
  const double below = setup.loss(batch) / 6;
  CHECK((above - below) / (2 * epsilon) == Approx(norm).epsilon(0.02));
}

TEST_CASE("autoencoder: tied, dim = hidden and identity weights equal none") {
  const datasets::Batch batch = make_random_batch(2, 6, 16);
  Setup none(2, make_config());
  Setup learned(2, make_config("autoencoder(dim=64,encoder=tied)"));
  int changed = 0;
  for (Parameter& parameter : learned.model->parameters().all())
    if (parameter.is_codec) {
      const std::span<float> values = floats_of(parameter.value);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 65 == 0 ? 1.0f : 0.0f;
      ++changed;
    }
  REQUIRE(changed == 8);  // encoder and decoder at four sites
  CHECK(learned.gradients(batch) == none.gradients(batch));
  const auto expected = full_gradients(none);
  const auto found = full_gradients(learned);
  for (const auto& [name, values] : expected) {
    INFO(name);
    CHECK(found.at(name) == values);
  }
}

TEST_CASE("autoencoder: gradients flow through encoder and decoder") {
  for (const char* spec : {"autoencoder(dim=8)", "autoencoder(dim=8,encoder=tied)"}) {
    Setup setup(2, make_config(spec));
    const datasets::Batch batch = make_random_batch(3, 6, 16);
    const double before = setup.gradients(batch);
    for (const char* name : {"encoder.layer.1.output.bottleneck.encoder",
                             "encoder.layer.1.output.bottleneck.decoder"}) {
      Parameter* parameter = setup.find(name);
      REQUIRE(parameter);
      const std::span<float> values = floats_of(parameter->value);
      const std::vector<float> gradient = [&] {
        const std::span<const float> view = floats_of(parameter->value.grad().contiguous());
        return std::vector<float>(view.begin(), view.end());
      }();
      const auto largest = std::max_element(gradient.begin(), gradient.end(), [](float a, float b) {
        return std::fabs(a) < std::fabs(b);
      });
      const auto at = static_cast<std::size_t>(largest - gradient.begin());
      const float kept = values[at], epsilon = 0.05f;
      values[at] = kept + epsilon;
      const double above = setup.loss(batch) / 6;
      values[at] = kept - epsilon;
      const double below = setup.loss(batch) / 6;
      values[at] = kept;
      INFO(spec << " " << name << " loss " << before);
      CHECK((above - below) / (2.0 * epsilon) == Approx(*largest).epsilon(0.05));
    }
  }
}

TEST_CASE("codecs: a compressed gradient site is near the dense one") {
  protocol::Cell config = make_config();
  const datasets::Batch batch = make_random_batch(4, 6, 16);
  Setup dense(2, config);
  dense.gradients(batch);
  config.compression.codecs["tp.backward"] = "quantize(bits=8,scope=token)";
  Setup quantized(2, config);
  quantized.gradients(batch);
  const auto expected = full_gradients(dense), found = full_gradients(quantized);
  const auto& a = expected.at("embeddings.LayerNorm.weight");
  const auto& b = found.at("embeddings.LayerNorm.weight");
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    error += std::pow(static_cast<double>(a[i]) - b[i], 2);
    norm += std::pow(static_cast<double>(a[i]), 2);
  }
  CHECK(error > 0);
  CHECK(std::sqrt(error / norm) < 0.05);
  bool is_recorded = false;
  for (const TrafficRow& row : quantized.group.traffic())
    is_recorded |= row.site.kind == "tp.backward" && row.spec == "quantize(scope=token)" &&
                   row.site.direction == compressors::Direction::kBackward;
  CHECK(is_recorded);
}

TEST_CASE("codecs: overlap changes nothing but the time") {
  protocol::Cell config = make_config("quantize(bits=4)");
  Setup plain(2, config);
  config.parallelism.overlap = "on";
  Setup overlapped(2, config);
  for (std::uint32_t step = 0; step < 3; ++step) CHECK(plain.train(step) == overlapped.train(step));
  CHECK(plain.trainer.replicated_hash() == overlapped.trainer.replicated_hash());
}

TEST_CASE("bytes: what sites count is what the group was handed") {
  for (const char* spec :
       {"none", "cast", "quantize(bits=3,scope=group,group=32)", "topk(ratio=0.05)",
        "autoencoder(dim=8)", "autoencoder(dim=8,encoder=tied)", "twostep(quantize)"})
    for (const SumOrder order : {SumOrder::kLibrary, SumOrder::kRanks}) {
      Setup setup(2, make_config(spec), order);
      setup.train(0);
      setup.train(1);
      setup.loss(make_random_batch(5, 3, 16));
      std::uint64_t handed = 0;
      for (const TrafficRow& row : setup.group.traffic()) handed += row.input_bytes;
      const std::uint64_t norms = 2 * 8;  // one binary64 a step for the clipping norm
      INFO(spec);
      CHECK(setup.group.collective().input_bytes() == handed + norms);
    }
}

TEST_CASE("bytes: a step's forward and backward by formula") {
  const std::uint64_t n = 6 * 16 * 64, ranks = 2;
  Setup setup(2, make_config("topk(ratio=0.05,index=i64)"));
  setup.train(0);
  const std::uint64_t k = 307;  // floor(0.05 * 6144 + 0.5)
  std::map<std::string, std::uint64_t> payload;
  for (const TrafficRow& row : setup.group.traffic()) {
    payload[row.site.kind] += row.payload_bytes;
    CHECK(row.raw_bytes == 4 * n);
    if (row.site.kind == "tp") {
      CHECK(row.payload_bytes == k * (4 + 8));
      CHECK(row.metadata_bytes == k * 8);
      CHECK(row.wire_bytes == (ranks - 1) * row.payload_bytes);
    } else {
      CHECK(row.payload_bytes == 4 * n);
      CHECK(row.wire_bytes == 2 * (ranks - 1) * 4 * n / ranks);
    }
  }
  CHECK(payload["tp"] == 4 * k * 12);
  CHECK(payload["tp.backward"] == 4 * 4 * n);
}

TEST_CASE("codecs: at one rank they are off unless loopback asks for them") {
  const datasets::Batch batch = make_random_batch(6, 6, 16);
  protocol::Cell config = make_config("quantize(bits=2)");
  Setup none(1, make_config()), off(1, config);
  config.compression.loopback = true;
  Setup on(1, config);
  const double loss = none.loss(batch);
  CHECK(off.loss(batch) == loss);
  CHECK(on.loss(batch) != loss);
  CHECK(off.group.traffic().empty());
  REQUIRE(on.group.traffic().size() == 4);
  for (const TrafficRow& row : on.group.traffic()) {
    CHECK(row.payload_bytes > 0);
    CHECK(row.wire_bytes == 0);
  }
}

TEST_CASE("codecs: only the chosen layers are compressed, both of their sites") {
  protocol::Cell config = make_config("quantize");
  config.compression.layers = "last:1";
  Setup setup(2, config);
  setup.loss(make_random_batch(7, 6, 16));
  std::map<std::string, std::string> specs;
  for (const TrafficRow& row : setup.group.traffic()) specs[row.site.name] = row.spec;
  CHECK(specs == std::map<std::string, std::string>{{"layer0.attention", "none"},
                                                    {"layer0.mlp", "none"},
                                                    {"layer1.attention", "quantize"},
                                                    {"layer1.mlp", "quantize"}});
  CHECK(setup.group.compressed_sites("tp") == 2);
  CHECK(setup.group.compressed_sites("tp.backward") == 2);
}

TEST_CASE("start: another codec, the same weights") {
  Setup none(2, make_config()), topk(2, make_config("topk")),
      learned(2, make_config("autoencoder(dim=8)"));
  CHECK(none.parts.all().front().weights.hash() == topk.parts.all().front().weights.hash());
  CHECK(none.parts.all().front().weights.hash() == learned.parts.all().front().weights.hash());
  Setup one(1, make_config());
  CHECK(none.parts.all().front().weights.hash() == one.parts.all().front().weights.hash());
}

TEST_CASE("bert: what does not fit is refused with value and limit") {
  CHECK_THROWS_WITH(Setup(3, make_config()),
                    Catch::Contains("hardware.tp 3") && Catch::Contains("4 attention heads"));
  protocol::Cell config = make_config();
  config.data.sequence = 513;
  CHECK_THROWS_WITH(Setup(1, config), Catch::Contains("sequence 513"));
  config = make_config();
  config.model.name = "bert-tinny";
  CHECK_THROWS_WITH(Setup(1, config), Catch::Contains("bert-tiny"));
}

// The derivative of the loss along a direction, by gradients and by differences. Without a lossy
// codec the job with channels of their own has an exact gradient.
TEST_CASE("partial: gradients are those of the loss, for shards and replicated parameters") {
  for (const char* spec : {"partial(none)", "partial(none,ratio=0)", "partial(none,ratio=0.2)"})
    for (const char* layers : {"all", "last:1"}) {
      INFO(spec << " layers " << layers);
      protocol::Cell config = make_config(spec);
      config.compression.layers = layers;
      const datasets::Batch batch = make_random_batch(0, 6, 16);
      Setup setup(2, config);
      setup.gradients(batch);
      for (const char* name :
           {"classifier.weight", "encoder.layer.0.output.LayerNorm.weight",
            "encoder.layer.1.attention.output.dense.bias", "encoder.layer.1.output.dense.weight",
            "encoder.layer.0.attention.self.query_key_value.weight",
            "embeddings.position_embeddings.weight", "embeddings.word_embeddings.weight"}) {
        Parameter* parameter = setup.find(name);
        REQUIRE(parameter);
        const std::span<float> values = floats_of(parameter->value);
        const std::span<const float> gradient = floats_of(parameter->value.grad().contiguous());
        double norm = 0;
        for (const float g : gradient) norm += static_cast<double>(g) * g;
        norm = std::sqrt(norm);
        REQUIRE(norm > 0);
        const std::vector<float> start(values.begin(), values.end());
        const auto loss_at = [&](double step) {
          for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = start[i] + static_cast<float>(step * gradient[i] / norm);
          return setup.loss(batch) / 6;
        };
        const double reach = 0.02;
        const double slope = (loss_at(reach) - loss_at(-reach)) / (2 * reach);
        std::copy(start.begin(), start.end(), values.begin());
        INFO(name);
        CHECK(slope == Approx(norm).epsilon(0.02).margin(3e-5));
      }
    }
}

TEST_CASE("partial: all channels are the plain job; without them shards still agree") {
  Setup none(2, make_config()), all(2, make_config("partial(none,ratio=1)"));
  Setup half(2, make_config("partial(none)"));
  for (std::uint32_t step = 0; step < 3; ++step) {
    const double loss = none.train(step);
    CHECK(all.train(step) == loss);
    CHECK(half.train(step) != loss);
  }
  CHECK(all.trainer.replicated_hash() == none.trainer.replicated_hash());
  // Warm-up and evaluation without compression are the plain job.
  const datasets::Batch batch = make_random_batch(9, 6, 16);
  Setup fresh(2, make_config()), off(2, make_config("partial(none)"));
  const Pass dense = make_pass({.compress = false});
  CHECK(off.evaluate(batch, dense).loss_sum == fresh.evaluate(batch, dense).loss_sum);
  CHECK(off.train(batch, dense).loss == fresh.train(batch, dense).loss);
  CHECK(off.trainer.replicated_hash() == fresh.trainer.replicated_hash());
}

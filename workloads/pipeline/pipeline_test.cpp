// SPDX-License-Identifier: Apache-2.0
#include "workloads/pipeline/pipeline.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <thread>

#include "common/error.hpp"
#include "workloads/comm/group_for_test.hpp"
#include "workloads/pipeline/partition.hpp"
#include "workloads/stages/job_for_test.hpp"

using namespace tersor;
using namespace tersor::workloads;
using namespace tersor::workloads::testing;

namespace {

constexpr std::int64_t kRows = 12;

protocol::Cell grid_config(int pp, std::int64_t micro_batches,
                           const std::string& schedule = "1f1b") {
  protocol::Cell cell = make_config();
  cell.hardware.pp = pp;
  cell.training.micro_batches = micro_batches;
  cell.training.micro_batch = kRows / micro_batches;
  cell.parallelism.schedule = schedule;
  return cell;
}

/// The same rows, cut into the cell's micro-batches.
std::vector<MicroBatch> micro_batches_of(std::uint32_t step, const protocol::Cell& cell) {
  const datasets::Batch whole = make_random_batch(step, kRows, cell.data.sequence);
  std::vector<MicroBatch> all;
  const std::int64_t rows = cell.training.micro_batch, tokens = whole.sequence;
  const auto cut = [](const auto& from, std::int64_t begin, std::int64_t count, auto& to) {
    to.assign(from.begin() + begin, from.begin() + begin + count);
  };
  for (std::int64_t call = 0; call < cell.training.micro_batches; ++call) {
    datasets::Batch part;
    part.rows = rows;
    part.sequence = tokens;
    const std::int64_t first = call * rows;
    cut(whole.ids, first * tokens, rows * tokens, part.ids);
    cut(whole.types, first * tokens, rows * tokens, part.types);
    cut(whole.mask, first * tokens, rows * tokens, part.mask);
    cut(whole.labels, first, rows, part.labels);
    cut(whole.sample_ids, first, rows, part.sample_ids);
    const Pass pass =
        make_pass({.step = step, .call = pass_call(call), .sample_ids = part.sample_ids});
    all.push_back({std::move(part), pass});
  }
  return all;
}

/// Gradients by name; shards of a tensor one after the other.
std::map<std::string, std::vector<float>> gradients_of(Setup& setup) {
  setup.trainer.compute_gradients(micro_batches_of(0, setup.config));
  std::map<std::string, std::vector<float>> found;
  for (StagePart& part : setup.parts.all())
    for (const Parameter& parameter : part.model->parameters().all()) {
      if (!parameter.value.grad().defined()) continue;
      const auto values = floats_of(parameter.value.grad().contiguous());
      auto& all = found[parameter.name];
      all.insert(all.end(), values.begin(), values.end());
    }
  return found;
}

double norm(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += double(value) * double(value);
  return std::sqrt(sum);
}

/// What a training run ends with.
struct Outcome {
  std::vector<double> losses;
  std::uint64_t hash = 0;
  std::vector<double> predictions;
  bool operator==(const Outcome&) const = default;
};

Outcome train(Setup& setup, int steps = 3) {
  Outcome outcome;
  for (int step = 0; step < steps; ++step)
    outcome.losses.push_back(
        setup.trainer.step(micro_batches_of(static_cast<std::uint32_t>(step), setup.config), 1e-3)
            .loss);
  outcome.hash = setup.trainer.replicated_hash();
  const datasets::Batch batch = make_random_batch(77, 7, setup.config.data.sequence);
  outcome.predictions =
      setup.evaluate(batch, make_pass({.phase = compressors::Phase::kEval, .step = 3})).predictions;
  return outcome;
}

Outcome train_emulated(const protocol::Cell& cell, int tp) {
  Setup setup(tp * cell.hardware.pp, cell);
  return train(setup);
}

/// The same on ranks that meet over Gloo; all of them end alike.
Outcome train_on_ranks(const protocol::Cell& cell, int tp) {
  const int ranks = tp * cell.hardware.pp;
  std::vector<Outcome> outcomes(static_cast<std::size_t>(ranks));
  run_gloo(ranks, SumOrder::kRanks, [&](std::unique_ptr<Collective> world) {
    const int rank = world->first_rank();
    Setup setup(std::move(world), cell);
    outcomes[static_cast<std::size_t>(rank)] = train(setup);
  });
  for (const Outcome& outcome : outcomes) CHECK(outcome == outcomes.front());
  return outcomes.front();
}

}  // namespace

TEST_CASE("schedule: 1f1b holds no more in flight than it needs, gpipe all") {
  using Kind = Action::Kind;
  const auto first = find_pipeline_schedule("1f1b").actions(0, 3, 4);
  const std::vector<Action> expected{
      {Kind::kForward, 0}, {Kind::kForward, 1},  {Kind::kForward, 2},  {Kind::kBackward, 0},
      {Kind::kForward, 3}, {Kind::kBackward, 1}, {Kind::kBackward, 2}, {Kind::kBackward, 3}};
  CHECK(first == expected);
  const auto last = find_pipeline_schedule("1f1b").actions(2, 3, 2);
  CHECK(last ==
        std::vector<Action>{
            {Kind::kForward, 0}, {Kind::kBackward, 0}, {Kind::kForward, 1}, {Kind::kBackward, 1}});
  const auto gpipe = find_pipeline_schedule("gpipe").actions(1, 3, 2);
  CHECK(gpipe ==
        std::vector<Action>{
            {Kind::kForward, 0}, {Kind::kForward, 1}, {Kind::kBackward, 0}, {Kind::kBackward, 1}});
}

TEST_CASE("partition: even, and by numbers") {
  using Ranges = std::vector<BlockRange>;
  CHECK(split_blocks(6, 2, "even") == Ranges{{0, 3}, {3, 6}});
  CHECK(split_blocks(7, 3, "even") == Ranges{{0, 3}, {3, 5}, {5, 7}});
  CHECK(split_blocks(6, 2, "4+2") == Ranges{{0, 4}, {4, 6}});
  CHECK_THROWS_WITH(split_blocks(2, 4, "even"), Catch::Contains("every stage needs a block"));
  CHECK_THROWS_WITH(split_blocks(6, 2, "3+2"), Catch::Contains("its sum is 5"));
  CHECK_THROWS_WITH(split_blocks(6, 2, "2+2+2"), Catch::Contains("3 numbers"));
  CHECK_THROWS_WITH(split_blocks(6, 2, "4-2"), Catch::Contains("such as 4+2"));
  CHECK_THROWS_WITH(split_blocks(6, 2, "6+0"), Catch::Contains("0 not in [1, 10000]"));
}

TEST_CASE("pipeline: gradients are those of one process") {
  protocol::Cell alone = grid_config(1, 1);
  alone.model.dropout = 0;
  Setup one(1, alone);
  const auto expected = gradients_of(one);
  double global = 0;
  for (const auto& [name, values] : expected) global = std::hypot(global, norm(values));
  for (const int pp : {1, 2})
    for (const std::int64_t count : {1, 3, 4}) {
      Setup setup(pp, grid_config(pp, count));
      const auto found = gradients_of(setup);
      REQUIRE(found.size() == expected.size());
      for (const auto& [name, values] : found) {
        std::vector<float> difference = values;
        const std::vector<float>& right = expected.at(name);
        for (std::size_t i = 0; i < right.size(); ++i) difference[i] -= right[i];
        INFO(pp << " stages, " << count << " micro-batches, " << name);
        CHECK(norm(difference) <= 1e-5 * std::max(norm(right), 1e-3 * global));
      }
    }
}

TEST_CASE("pipeline: every schedule and every overlap ends in the same bits") {
  const protocol::Cell cell = grid_config(2, 4);
  const Outcome outcome = train_emulated(cell, 2);
  CHECK(train_emulated(grid_config(2, 4, "gpipe"), 2) == outcome);
  protocol::Cell overlapped = cell;
  overlapped.parallelism.overlap = "on";
  CHECK(train_emulated(overlapped, 2) == outcome);
}

TEST_CASE("pipeline: uneven stages and four of them end where one process does") {
  const auto trained = [](int pp, const std::string& partition) {
    protocol::Cell cell = grid_config(pp, 3);
    cell.model.name = "bert-mini";
    cell.parallelism.partition = partition;
    Setup setup(pp, cell);
    return train(setup, 2);
  };
  const Outcome one = trained(1, "even");
  for (const auto& [pp, partition] :
       std::vector<std::pair<int, std::string>>{{2, "3+1"}, {3, "1+2+1"}, {4, "even"}}) {
    INFO(partition);
    const Outcome found = trained(pp, partition);
    for (std::size_t step = 0; step < one.losses.size(); ++step)
      CHECK(found.losses[step] == Approx(one.losses[step]).epsilon(1e-5));
    CHECK(found.predictions == one.predictions);
  }
}

TEST_CASE("pipeline: a forward that is one stage's is the whole model's") {
  Setup one(1, grid_config(1, 1)), two(2, grid_config(2, 1));
  const datasets::Batch batch = make_random_batch(5, 9, 16);
  const Pass pass = make_pass({.phase = compressors::Phase::kEval});
  CHECK(one.evaluate(batch, pass).loss_sum == two.evaluate(batch, pass).loss_sum);
  CHECK(one.trainer.step(micro_batches_of(0, one.config), 1e-3).loss ==
        two.trainer.step(micro_batches_of(0, two.config), 1e-3).loss);
}

TEST_CASE("pipeline: ranks end in the bits of emulated ones") {
  for (const char* spec : {"none", "quantize(bits=4)", "topk(ratio=0.1)", "ef(topk(ratio=0.1))",
                           "aqsgd(quantize(bits=4))", "powersgd(rank=2)"})
    for (const char* schedule : {"1f1b", "gpipe"}) {
      protocol::Cell cell = grid_config(2, 3, schedule);
      cell.parallelism.sum_order = "ranks";
      cell.compression.codecs = {
          {"tp", "none"}, {"tp.backward", "none"}, {"pp", spec}, {"pp.gradient", spec}};
      INFO(spec << " " << schedule);
      Setup emulated(make_emulated_collective(2, SumOrder::kRanks), cell);
      CHECK(train_on_ranks(cell, 1) == train(emulated));
    }
  protocol::Cell cell = grid_config(2, 3);
  cell.compression.codecs["pp"] = "quantize(bits=4)";
  cell.compression.codecs["tp"] = "quantize(bits=8)";
  Setup emulated(make_emulated_collective(4, SumOrder::kRanks), cell);
  CHECK(train_on_ranks(cell, 2) == train(emulated));
}

TEST_CASE("pipeline: bytes of a boundary are those of its codec") {
  protocol::Cell cell = grid_config(2, 3);
  cell.compression.codecs["pp"] = "quantize(bits=4)";
  Setup setup(2, cell);
  setup.trainer.step(micro_batches_of(0, cell), 1e-3);
  const auto codec = compressors::make_codec("quantize(bits=4)");
  const Shape shape{4, 16, setup.model->hidden()};
  int found = 0;
  for (const StagePart& part : setup.parts.all())
    for (const TrafficRow& row : part.group.traffic()) {
      if (row.entry.collective != CollectiveKind::kSend) continue;
      ++found;
      const bool is_forward = row.site.kind == "pp";
      CHECK(row.site.name == "block0");
      CHECK(row.site.number == 0x8000);
      CHECK(row.calls == 3);
      CHECK(row.raw_bytes == 3u * static_cast<std::uint64_t>(shape.elements()) * 4);
      const std::size_t payload = is_forward ? codec->payload_bytes(shape, DType::kFloat32, {})
                                             : std::size_t(shape.elements()) * 4;
      CHECK(row.payload_bytes == 3 * payload);
      CHECK(row.wire_bytes == 3 * (payload + 8));
      CHECK(row.spec == (is_forward ? codec->canonical() : "none"));
    }
  CHECK(found == 2);
}

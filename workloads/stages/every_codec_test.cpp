// SPDX-License-Identifier: Apache-2.0
// Every registered codec in a job of the worker, by the registry's own examples: a new codec is in
// here as soon as it registers. Real ranks: worker_test.cpp.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "common/error.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/spec/tensor_site.hpp"
#include "workloads/stages/job_for_test.hpp"
#include "workloads/worker/job_file.hpp"

using namespace tersor;
using namespace tersor::workloads;
using namespace tersor::workloads::testing;
using compressors::Codec;

namespace {

constexpr int kSteps = 8;
constexpr Shape kMessage{6, 16, 64};  // of make_config() and bert-tiny

/// Default arguments where they build, then the registry's examples.
std::set<std::string> specs_of(const compressors::CodecInfo& info) {
  std::set<std::string> specs;
  const bool builds =
      std::all_of(info.parameters.begin(), info.parameters.end(),
                  [](const compressors::Parameter& p) { return p.default_text || p.is_optional; });
  if (builds) specs.insert(info.name);
  for (const std::string& example : info.examples)
    specs.insert(compressors::canonical_spec(example));
  return specs;
}

bool tells_nodes_apart(const Codec& codec) {
  return codec.topology()[0].level != compressors::GroupLevel::kAll;
}

/// Emulated shards that count what they are handed where they are handed it.
class Counting : public Collective {
 public:
  Counting(int ranks, SumOrder order, std::uint64_t& total)
      : Collective(order), shards_(make_emulated_collective(ranks, order)), total_(total) {}
  std::string backend() const override { return "counting"; }
  int ranks() const override { return shards_->ranks(); }
  int first_rank() const override { return 0; }
  int local_ranks() const override { return shards_->ranks(); }
  std::unique_ptr<Collective> subgroup(std::span<const int> members) override {
    // Only what rank 0 takes part in is counted.
    const bool is_own = members.front() == 0;
    return std::make_unique<Counting>(static_cast<int>(members.size()), sum_order(),
                                      is_own ? total_ : elsewhere_);
  }

 protected:
  std::unique_ptr<Work> do_all_reduce(std::span<const Buffer> buffers, std::size_t count,
                                      DType dtype, const Volume&) override {
    total_ += count * item_bytes(dtype);
    return shards_->start_all_reduce(buffers, count, dtype);
  }
  std::unique_ptr<Work> do_all_gather(std::span<const ConstBuffer> payloads,
                                      std::span<const std::size_t> sizes, Buffer out,
                                      const Volume&) override {
    total_ += payloads[0].size();
    return shards_->start_all_gather(payloads, sizes, out);
  }
  std::unique_ptr<Work> do_all_to_all(std::span<const ConstBuffer> payloads,
                                      std::span<const Sizes> send_sizes,
                                      std::span<const Sizes> receive_sizes,
                                      std::span<const Buffer> outs, const Volume&) override {
    total_ += payloads[0].size();
    return shards_->start_all_to_all(payloads, send_sizes, receive_sizes, outs);
  }
  std::unique_ptr<Work> do_broadcast(Buffer buffer, const Volume& volume) override {
    total_ += buffer.size();
    return std::make_unique<Work>(volume);
  }
  std::unique_ptr<Work> do_send(ConstBuffer, int, int, int, const Volume& volume) override {
    return std::make_unique<Work>(volume);
  }
  std::unique_ptr<Work> do_receive(Buffer, int, int, int, const Volume& volume) override {
    return std::make_unique<Work>(volume);
  }
  void do_barrier() override {}

 private:
  std::unique_ptr<Collective> shards_;
  std::uint64_t& total_;
  static inline std::uint64_t elsewhere_ = 0;
};

/// Payload bytes of the first rank for one message, by the codec's own formula.
std::uint64_t payload_bytes(const Codec& site_codec, std::uint32_t ranks) {
  const std::uint64_t raw =
      static_cast<std::uint64_t>(kMessage.elements()) * item_bytes(DType::kFloat32);
  if (tells_nodes_apart(site_codec)) {
    const std::vector<compressors::TopologyStage> stages = site_codec.topology();
    return payload_bytes(*stages[0].codec, 2) + payload_bytes(*stages[1].codec, ranks / 2) + raw;
  }
  const Codec& codec = site_codec.effective(kMessage, DType::kFloat32);
  compressors::Context context;
  context.ranks = ranks;
  const auto state = codec.make_state(kMessage, DType::kFloat32, ranks);
  std::uint64_t bytes = 0;
  for (int round = 0; round < codec.rounds(); ++round)
    if (codec.is_of_payload(round))
      bytes += codec.payload_bytes(kMessage, DType::kFloat32, context, round, state.get());
  return bytes;
}

struct Result {
  std::vector<double> losses;
  std::uint64_t hash = 0;
  std::uint64_t counted = 0;  ///< by Counting
  std::uint64_t handed = 0;   ///< by the sites' records, all phases
  std::uint64_t payload = 0;  ///< of the row-parallel outputs in training
  std::uint64_t calls = 0;    ///< messages there
};

/// Steps on one and the same batch, with evaluations of a whole and a short batch in between.
Result run(const Codec& codec, bool evaluates) {
  Result result;
  protocol::Cell config = make_config(codec.canonical());
  config.hardware.nodes = tells_nodes_apart(codec) ? 2 : 1;
  const int ranks = 2 * config.hardware.nodes;
  Setup setup(std::make_unique<Counting>(ranks, ranks > 2 ? SumOrder::kRanks : SumOrder::kLibrary,
                                         result.counted),
              config);
  const datasets::Batch batch = make_random_batch(0, 6, 16);
  for (std::uint32_t step = 0; step < kSteps; ++step) {
    const Pass pass = make_pass({.step = step, .sample_ids = batch.sample_ids});
    result.losses.push_back(setup.train(batch, pass, 3e-3).loss);
    if (!evaluates) continue;
    for (const std::int64_t rows : {6, 4}) {
      const datasets::Batch other = make_random_batch(step + 50, rows, 16);
      for (const bool compress : {true, false}) {
        const Pass evaluation = make_pass({.phase = compressors::Phase::kEval,
                                           .step = step,
                                           .compress = compress,
                                           .sample_ids = other.sample_ids});
        CHECK(std::isfinite(setup.evaluate(other, evaluation).loss_sum));
      }
    }
  }
  result.hash = setup.trainer.replicated_hash();
  for (const TrafficRow& row : setup.group.traffic()) {
    result.handed += row.input_bytes;
    if (row.site.kind != "tp" || row.entry.phase != compressors::Phase::kTrain) continue;
    if (row.site.name == "logits") continue;
    result.payload += row.payload_bytes;
    result.calls += row.raw_bytes / (static_cast<std::uint64_t>(kMessage.elements()) * 4);
  }
  return result;
}

}  // namespace

TEST_CASE("every codec: trains, forgets evaluations, and hands over what its formula says") {
  std::set<std::string> names;
  for (const auto& [name, info] : compressors::registered_codecs())
    for (const std::string& spec : specs_of(info)) {
      INFO(spec);
      const auto codec = compressors::make_codec(spec);
      if (!compressors::refuses_tensor_site("tp", *codec).empty()) continue;
      names.insert(name);
      const Result found = run(*codec, true);
      for (const double loss : found.losses) REQUIRE(std::isfinite(loss));
      CAPTURE(found.losses);
      CHECK((found.losses[kSteps - 1] + found.losses[kSteps - 2]) / 2 < found.losses[0]);
      const std::uint64_t norms = std::uint64_t{kSteps} * sizeof(double);
      CHECK(found.counted == found.handed + norms);
      CHECK(found.calls == 4 * kSteps);  // two sites in each of two layers
      CHECK(found.payload ==
            found.calls * payload_bytes(*codec, tells_nodes_apart(*codec) ? 4 : 2));
      const Result undisturbed = run(*codec, false);
      CHECK(undisturbed.losses == found.losses);
      CHECK(undisturbed.hash == found.hash);
    }
  std::set<std::string> all;
  for (const auto& [name, info] : compressors::registered_codecs()) all.insert(name);
  all.erase("aqsgd");  // waits for pipeline sites
  CHECK(names == all);
}

TEST_CASE("every codec: what cannot stand at a tensor site is refused with the reason") {
  const auto refusal = [](const std::string& spec, const std::string& site = "tp",
                          int nodes = 1) -> std::string {
    protocol::JobFile job;
    job.config.compression.codecs[site] = spec;
    job.config.hardware.kind = "emulated";
    job.config.hardware.tp = 4;
    job.config.hardware.nodes = nodes;
    try {
      check_job(job, 1);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kUnsupported);
      return error.what();
    }
    return "";
  };
  CHECK(refusal("ef(topk)", "tp.backward").empty());
  CHECK(refusal("gate(partial(none))").empty());
  CHECK_THAT(refusal("aqsgd(topk)"), Catch::Contains("is for pipeline sites"));
  CHECK_THAT(refusal("gate(aqsgd(topk))"), Catch::Contains("is for pipeline sites"));
  CHECK_THAT(refusal("autoencoder", "tp.backward"), Catch::Contains("learned"));
  CHECK_THAT(refusal("partial(none)", "tp.backward"), Catch::Contains("by themselves"));
  CHECK_THAT(refusal("hadamard(partial(none))"), Catch::Contains("partial(hadamard(..))"));
  CHECK_THAT(refusal("hierarchical(none,cast)"), Catch::Contains("several nodes"));
  CHECK(refusal("hierarchical(none,cast)", "tp", 2).empty());
  CHECK_THAT(refusal("none", "tp", 3), Catch::Contains("does not divide"));
}

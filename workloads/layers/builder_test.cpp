// SPDX-License-Identifier: Apache-2.0
#include "workloads/layers/builder.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "workloads/layers/attention.hpp"
#include "workloads/layers/dropout.hpp"
#include "workloads/layers/mlp.hpp"

using namespace tersor;
using namespace tersor::workloads;

namespace {

/// Attention and MLP of one block.
struct Block {
  Block(Builder& builder, std::int64_t layer)
      : attention(builder.block(layer),
                  {.query = name(layer) + "q",
                   .key = name(layer) + "k",
                   .value = name(layer) + "v",
                   .fused = name(layer) + "qkv",
                   .output = name(layer) + "o.dense"},
                  16, 4),
        mlp(builder.block(layer), name(layer) + "up", name(layer) + "down.dense", 16, 32,
            [](const at::Tensor& x) { return x; }) {}
  static std::string name(std::int64_t layer) { return std::to_string(layer) + "."; }

  ParallelAttention attention;
  ParallelMlp mlp;
};

struct Found {
  std::map<std::string, int> sites;  ///< number by kind and name
  std::vector<std::string> parameters;
};

/// The blocks of a model of four layers, made in this order.
Found build(int ranks, const std::vector<std::int64_t>& order) {
  protocol::Cell config;
  config.compression.codecs["tp"] = "autoencoder(dim=4,encoder=tied)";
  const auto collective = make_emulated_collective(ranks, SumOrder::kLibrary);
  TensorParallel group(*collective, 1, true, 1);
  Weights weights("", 1);
  Builder builder({group, weights, config, 8, 2}, 4, 16);
  std::vector<std::unique_ptr<Block>> blocks;
  for (const std::int64_t layer : order) blocks.push_back(std::make_unique<Block>(builder, layer));
  Found found;
  for (const Site& site : group.sites())
    found.sites[site.identity().kind + " " + site.identity().name] = site.identity().number;
  for (const Parameter& parameter : builder.parameters().all())
    if (parameter.rank <= 0) found.parameters.push_back(parameter.name);
  return found;
}

}  // namespace

TEST_CASE("layers: site numbers are a function of layer and place") {
  const Found whole = build(1, {0, 1, 2, 3});
  for (int layer = 0; layer < 4; ++layer)
    for (const char* kind : {"tp", "tp.backward"}) {
      const std::string name = std::string(kind) + " layer" + std::to_string(layer);
      CHECK(whole.sites.at(name + ".attention") == 2 * layer);
      CHECK(whole.sites.at(name + ".mlp") == 2 * layer + 1);
    }
  CHECK(whole.sites.at("tp.backward layer2.mlp.encoder") == 5);
  // Another grid, another order of construction: the same.
  CHECK(build(2, {0, 1, 2, 3}).sites == whole.sites);
  CHECK(build(4, {3, 1, 0, 2}).sites == whole.sites);
  // A pipeline's stage makes its own blocks alone.
  const Found stage = build(2, {3, 2});
  CHECK(stage.sites.size() == whole.sites.size() / 2);
  for (const auto& [name, number] : stage.sites) CHECK(whole.sites.at(name) == number);
}

TEST_CASE(
    "layers: parameters are in the order of the model, a codec's behind "
    "their block's") {
  const Found whole = build(2, {0, 1, 2, 3});
  CHECK(build(2, {2, 0, 3, 1}).parameters == whole.parameters);
  REQUIRE(whole.parameters.size() == 4 * 12);
  const std::vector<std::string> first(whole.parameters.begin(), whole.parameters.begin() + 12);
  CHECK(first == std::vector<std::string>{
                     "0.qkv.weight", "0.qkv.bias", "0.o.dense.weight", "0.o.dense.bias",
                     "0.up.weight", "0.up.bias", "0.down.dense.weight", "0.down.dense.bias",
                     "0.o.bottleneck.encoder", "0.o.bottleneck.decoder",
                     "0.down.bottleneck.encoder", "0.down.bottleneck.decoder"});
  CHECK(whole.parameters[12] == "1.qkv.weight");
}

TEST_CASE(
    "layers: numbers of dropout are four a layer, below those of "
    "embeddings and head") {
  CHECK(attention_output_dropout(3) == 12);
  CHECK(mlp_output_dropout(3) == 13);
  CHECK(probability_dropout(3) == 14);
  CHECK(probability_dropout(16382) < kEmbeddingDropout);
  CHECK_THROWS_WITH(attention_output_dropout(16383), Catch::Contains("layer 16383"));
}

// SPDX-License-Identifier: Apache-2.0
// MiniLM's forward against Hugging Face transformers (shared data,
// reference/minilm-mrpc-forward.json).
#include <ATen/core/grad_mode.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/cache_folder.hpp"
#include "datasets/batches.hpp"
#include "workloads/comm/tensor.hpp"
#include "workloads/layers/activations.hpp"
#include "workloads/layers/weights.hpp"
#include "workloads/messages/tensor_parallel.hpp"
#include "workloads/models/model.hpp"

using namespace tersor;
using namespace tersor::workloads;

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::filesystem::path reference_file() {
  const std::string root = variable("TERSOR_DATA");
  return std::filesystem::path(root.empty() ? "../shared/data" : root) / "reference" /
         "minilm-mrpc-forward.json";
}

std::filesystem::path weights_file() {
  return cache_folder() / "models/minilm-l6/model.safetensors";
}

template <typename T>
std::vector<T> flat(const nlohmann::json& rows) {
  std::vector<T> values;
  for (const auto& row : rows)
    for (const auto& value : row) values.push_back(value.get<T>());
  return values;
}

double largest_difference(std::span<const float> found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    largest = std::max(largest, std::fabs(static_cast<double>(found[i]) - expected[i]));
  return largest;
}

}  // namespace

TEST_CASE("minilm: forward equals transformers, sharded or not") {
  for (const auto& file : {reference_file(), weights_file()})
    if (!std::filesystem::exists(file)) {
      std::cout << "SKIPPED: " << file.string() << " is missing" << std::endl;
      return;
    }
  std::ifstream stream(reference_file());
  const nlohmann::json reference = nlohmann::json::parse(stream);
  datasets::Batch batch;
  batch.rows = 8;
  batch.sequence = reference.at("max_length");
  batch.ids = flat<std::int64_t>(reference.at("input_ids"));
  batch.types = flat<std::int64_t>(reference.at("token_type_ids"));
  batch.mask = flat<std::int64_t>(reference.at("attention_mask"));
  protocol::Cell config;
  config.model.name = "minilm-l6";
  config.data.sequence = batch.sequence;
  config.model.pooling = "cls";
  const at::NoGradGuard no_grad;
  for (const int ranks : {1, 2, 4}) {
    const auto collective = make_emulated_collective(ranks, SumOrder::kLibrary);
    TensorParallel group(*collective, 1, false, 1);
    const Pass pass = make_pass({.phase = compressors::Phase::kEval});
    Weights weights(weights_file().string(), 1);
    const auto model = make_model("minilm-l6", {group, weights, config, 30522, 2});
    const Activations last = model->run_blocks(model->embed(batch, pass), batch, pass);
    const at::Tensor hidden = last.parts[0].view({batch.rows, batch.sequence, model->hidden()});
    const double cls = largest_difference(floats_of(hidden.select(1, 0).contiguous()),
                                          flat<double>(reference.at("cls_hidden")));
    const double pooled =
        largest_difference(floats_of(model->pool(last, batch, pass).parts[0].contiguous()),
                           flat<double>(reference.at("pooler_output")));
    INFO(ranks << " ranks: largest differences " << cls << " and " << pooled);
    CHECK(cls < 1e-5);
    CHECK(pooled < 1e-5);
    const std::span<const float> values = floats_of(hidden);
    for (std::size_t row = 0; row < 8; ++row) {
      double sum = 0, count = 0;
      for (std::size_t i = 0; i < 64; ++i)
        for (std::size_t j = 0; j < 384 && batch.mask[row * 64 + i]; ++j, ++count)
          sum += std::fabs(static_cast<double>(values[(row * 64 + i) * 384 + j]));
      CHECK(sum / count ==
            Approx(reference.at("hidden_abs_mean_over_real_tokens")[row].get<double>())
                .epsilon(1e-5));
    }
  }
}

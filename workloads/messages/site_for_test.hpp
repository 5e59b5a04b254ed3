// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "workloads/messages/site.hpp"
#include "workloads/messages/tensor_parallel.hpp"

namespace tersor::workloads::testing {

inline constexpr Shape kShape{2, 3, 16};

/// Keeps the samples that a site hands out.
struct Samples : MessageRecorder {
  void record(ErrorSample sample) override { errors.push_back(std::move(sample)); }
  void record(StoredMessage) override {}
  std::vector<ErrorSample> errors;
};

/// One site of an emulated group, with what each of its ranks contributes.
struct Run {
  explicit Run(int ranks, const std::string& spec, SumOrder order = SumOrder::kLibrary,
               int nodes = 1)
      : collective(make_emulated_collective(ranks, order)),
        group(*collective, 7, false, 1, nodes),
        site(group.add_site({"tp", "layer0.mlp", 1, compressors::Direction::kForward},
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
    const bool is_dense = site.is_dense(pass, kShape, DType::kFloat32);
    site.sum(pass, {buffers, kShape, DType::kFloat32},
             is_dense ? buffers[0] : std::as_writable_bytes(std::span(out)));
    return is_dense ? copies[0] : out;
  }
  std::vector<float> exact() const {
    std::vector<float> total = contributions[0];
    for (std::size_t r = 1; r < contributions.size(); ++r)
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += contributions[r][i];
    return total;
  }

  std::unique_ptr<Collective> collective;
  TensorParallel group;
  Site& site;
  PassContext pass;
  std::vector<std::vector<float>> contributions;
};

}  // namespace tersor::workloads::testing

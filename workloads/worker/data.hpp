// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>

#include "datasets/dataset.hpp"
#include "protocol/job_file.hpp"
#include "workloads/stages/batch_source.hpp"

namespace tersor::workloads {

/// The data of a job, encoded once.
struct JobData {
  const datasets::DatasetInfo& info;
  std::unique_ptr<BatchSource> train;
  std::unique_ptr<BatchSource> dev;
  std::int64_t vocabulary = 0;   ///< ids of the tokenizer
  nlohmann::ordered_json facts;  ///< for the start record
};

/// Throws Error(kMissing) or Error(kData) where there is no such data.
JobData load_data(const protocol::JobFile& job);

}  // namespace tersor::workloads

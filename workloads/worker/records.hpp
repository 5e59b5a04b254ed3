// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "workloads/messages/tensor_parallel.hpp"
#include "workloads/stages/stage.hpp"

namespace tersor::workloads {

/// Takes the records of one rank (docs/spool.md).
class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void write(const nlohmann::ordered_json& record) = 0;
};

/// Sets a number; what is not finite becomes null and marks the object.
void set_number(nlohmann::ordered_json& object, std::string_view key, double value);

nlohmann::ordered_json to_json(const StepTimes& ns);
nlohmann::ordered_json to_json(const TrafficRow& row);
nlohmann::ordered_json to_json(const ErrorSample& sample);

nlohmann::ordered_json to_json(const Evaluation& evaluation);

}  // namespace tersor::workloads

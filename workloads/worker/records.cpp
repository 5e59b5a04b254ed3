// SPDX-License-Identifier: Apache-2.0
#include "workloads/worker/records.hpp"

#include <cmath>
#include <string>

namespace tersor::workloads {
namespace {

using nlohmann::ordered_json;

/// "node." among the ranks of a node, "nodes." among the nodes' first ranks.
std::string collective_name(const TrafficRow& row) {
  const std::string name(to_string(row.entry.collective));
  switch (row.entry.level) {
    case compressors::GroupLevel::kAll: return name;
    case compressors::GroupLevel::kNode: return "node." + name;
    case compressors::GroupLevel::kNodes: return "nodes." + name;
  }
  return name;
}

}  // namespace

void set_number(ordered_json& object, std::string_view key, double value) {
  const bool is_finite = std::isfinite(value);
  object[std::string(key)] = is_finite ? ordered_json(value) : ordered_json(nullptr);
  if (!is_finite) object["nonfinite"] = true;
}

ordered_json to_json(const StepTimes& ns) {
  return {{"total", ns.total},         {"forward", ns.forward}, {"backward", ns.backward},
          {"optimizer", ns.optimizer}, {"encode", ns.encode},   {"transfer", ns.transfer},
          {"decode", ns.decode}};
}

ordered_json to_json(const TrafficRow& row) {
  return {{"type", "traffic"},
          {"site", row.site.kind},
          {"site_name", row.site.name},
          {"direction",
           row.site.direction == compressors::Direction::kForward ? "forward" : "backward"},
          {"phase", row.entry.phase == compressors::Phase::kTrain ? "train" : "eval"},
          {"collective", collective_name(row)},
          {"dtype", to_string(row.entry.dtype)},
          {"spec", row.spec},
          {"calls", row.calls},
          {"raw_bytes", row.raw_bytes},
          {"payload_bytes", row.payload_bytes},
          {"metadata_bytes", row.metadata_bytes},
          {"sent_bytes", row.wire_bytes},
          {"handed_bytes", row.input_bytes},
          {"encode_ns", row.ns.encode},
          {"transfer_ns", row.ns.transfer},
          {"decode_ns", row.ns.decode}};
}

ordered_json to_json(const ErrorSample& sample) {
  ordered_json record{{"type", "error"},
                      {"step", sample.step},
                      {"site", sample.site},
                      {"site_name", sample.site_name}};
  set_number(record, "message_relative_l2", sample.message_relative_l2);
  set_number(record, "message_cosine", sample.message_cosine);
  set_number(record, "sum_relative_l2", sample.sum_relative_l2);
  set_number(record, "sum_cosine", sample.sum_cosine);
  return record;
}

ordered_json to_json(const Evaluation& evaluation) {
  const TaskScores& scores = evaluation.scores;
  ordered_json record{
      {"type", "eval"},          {"epoch", evaluation.epoch},
      {"step", evaluation.step}, {"inference", evaluation.is_compressed ? "on" : "off"},
      {"split", "dev"},          {"rows", scores.labels.size()}};
  set_number(record, "loss", evaluation.loss);
  record["ns"] = evaluation.ns;
  ordered_json values = ordered_json::object();
  for (const MetricValue& metric : evaluation.metrics)
    set_number(values, metric.name, metric.value);
  record["metrics"] = values;
  record["primary"] = evaluation.metrics.empty() ? "" : evaluation.metrics.front().name;
  ordered_json predictions = ordered_json::array();
  for (const double value : scores.predictions)
    predictions.push_back(std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr));
  record["predictions"] = predictions;
  record["labels"] = scores.labels;
  return record;
}

}  // namespace tersor::workloads

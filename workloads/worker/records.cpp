// SPDX-License-Identifier: Apache-2.0
#include "workloads/worker/records.hpp"

#include "common/error.hpp"

namespace tersor::workloads {
namespace {

using protocol::finite_number;

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

std::int64_t count(std::uint64_t value) { return static_cast<std::int64_t>(value); }

}  // namespace

protocol::Traffic to_record(const TrafficRow& row) {
  const bool is_forward = row.site.direction == compressors::Direction::kForward;
  protocol::Traffic record{
      .site = row.site.kind,
      .site_name = row.site.name,
      .direction = is_forward ? "forward" : "backward",
      .phase = row.entry.phase == compressors::Phase::kTrain ? "train" : "eval",
      .collective = collective_name(row),
      .dtype = std::string(to_string(row.entry.dtype)),
      .spec = row.spec,
      .calls = count(row.calls),
      .raw_bytes = count(row.raw_bytes),
      .payload_bytes = count(row.payload_bytes),
      .metadata_bytes = count(row.metadata_bytes),
      .wire_bytes = count(row.wire_bytes),
      .input_bytes = count(row.input_bytes),
      .encode_ns = row.ns.encode,
      .transfer_ns = row.ns.transfer,
      .decode_ns = row.ns.decode};
  static_assert(protocol::kTrafficAt.size() == kOtherRanks.size());
  for (std::size_t i = 0; i < kOtherRanks.size(); ++i) {
    TERSOR_CHECK(protocol::kTrafficAt[i].ranks == kOtherRanks[i], "the ranks of a record");
    if (const auto bytes = row.wire_bytes_at.bytes[i])
      record.*protocol::kTrafficAt[i].bytes = count(*bytes);
  }
  return record;
}

protocol::MessageError to_record(const ErrorSample& sample) {
  return {.step = sample.step,
          .site = sample.site,
          .site_name = sample.site_name,
          .message_relative_l2 = finite_number(sample.message_relative_l2),
          .message_cosine = finite_number(sample.message_cosine),
          .message_reason = sample.no_message,
          .sum_relative_l2 = finite_number(sample.sum_relative_l2),
          .sum_cosine = finite_number(sample.sum_cosine)};
}

protocol::Eval to_record(const Evaluation& evaluation) {
  const TaskScores& scores = evaluation.scores;
  protocol::Eval record{
      .epoch = evaluation.epoch,
      .step = evaluation.step,
      .inference = evaluation.is_compressed ? "on" : "off",
      .split = "dev",
      .rows = static_cast<std::int64_t>(scores.labels.size()),
      .loss = finite_number(evaluation.loss),
      .ns = evaluation.ns,
      .primary = evaluation.metrics.empty() ? "" : evaluation.metrics.front().name,
      .predictions = {scores.predictions.begin(), scores.predictions.end()},
      .labels = {scores.labels.begin(), scores.labels.end()}};
  for (const MetricValue& metric : evaluation.metrics)
    record.metrics.emplace_back(metric.name, finite_number(metric.value));
  return record;
}

}  // namespace tersor::workloads

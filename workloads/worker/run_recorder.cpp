// SPDX-License-Identifier: Apache-2.0
#include "workloads/worker/run_recorder.hpp"

#include <algorithm>
#include <iostream>
#include <string>
#include <utility>

#include "common/safetensors.hpp"

namespace tersor::workloads {

using nlohmann::ordered_json;

void RunRecorder::record(const StepReport& report) {
  ordered_json record{{"type", "step"},
                      {"step", report.step},
                      {"epoch", report.epoch},
                      {"ns", to_json(report.result.ns)}};
  if (is_first_) {
    set_number(record, "loss", report.result.loss);
    record["learning_rate"] = report.learning_rate;
    set_number(record, "gradient_norm", report.result.gradient_norm);
  }
  recorder_.write(record);
  if (!is_first_) return;
  for (const ErrorSample& sample : report.errors) recorder_.write(to_json(sample));
  print_progress(report);
  write_messages(report.step, report.messages);
}

void RunRecorder::record(const Evaluation& evaluation) {
  if (is_first_) recorder_.write(to_json(evaluation));
}

void RunRecorder::print_progress(const StepReport& report) const {
  const std::int64_t done = report.step + 1;
  if (!file_.has_progress || (done % 10 != 0 && done != report.steps)) return;
  ordered_json line{{"step", done}, {"steps", report.steps}};
  set_number(line, "loss", report.result.loss);
  line["epoch"] = report.epoch;
  std::cout << line.dump() << std::endl;
}

void RunRecorder::write_messages(std::int64_t step,
                                 const std::vector<StoredMessage>& messages) const {
  if (messages.empty()) return;
  std::vector<std::pair<std::string, TensorView>> tensors;
  for (const StoredMessage& message : messages)
    tensors.emplace_back(message.site_name,
                         TensorView{message.bits.data(), message.shape, message.dtype});
  const std::string digits = std::to_string(step);
  constexpr std::size_t kDigits = 6;
  const std::string padding(kDigits - std::min(kDigits, digits.size()), '0');
  const protocol::Cell& cell = file_.config;
  write_safetensors(file_.folder / ("messages-" + padding + digits + ".safetensors"), tensors,
                    {{"step", digits},
                     {"cell_key", file_.cell_key},
                     {"seed", std::to_string(file_.seed)},
                     {"model", cell.model.name},
                     {"dataset", cell.data.name},
                     {"compressor", nlohmann::json(cell.compression.codecs).dump()},
                     {"rank", "0"},
                     {"ranks", std::to_string(ranks_)}});
}

}  // namespace tersor::workloads

// SPDX-License-Identifier: Apache-2.0
#include "workloads/worker/run_recorder.hpp"

#include <algorithm>
#include <iostream>
#include <string>
#include <utility>

#include "common/safetensors.hpp"

namespace tersor::workloads {

using protocol::finite_number;

void RunRecorder::record(const StepReport& report) {
  protocol::Step record{.step = report.step, .epoch = report.epoch, .ns = report.result.ns};
  if (is_first_)
    record.training = {.loss = finite_number(report.result.loss),
                       .learning_rate = finite_number(report.learning_rate),
                       .gradient_norm = finite_number(report.result.gradient_norm)};
  recorder_.write(record);
  if (!is_first_) return;
  for (const ErrorSample& sample : report.errors) recorder_.write(to_record(sample));
  print_progress(report);
  write_messages(report.step, report.messages);
}

void RunRecorder::record(const Evaluation& evaluation) {
  if (is_first_) recorder_.write(to_record(evaluation));
}

void RunRecorder::print_progress(const StepReport& report) const {
  const std::int64_t done = report.step + 1;
  if (!file_.has_progress || (done % 10 != 0 && done != report.steps)) return;
  const protocol::Progress progress{.step = done,
                                    .steps = report.steps,
                                    .loss = finite_number(report.result.loss),
                                    .epoch = report.epoch};
  std::cout << to_json(progress).dump() << std::endl;
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
  write_safetensors(folder_ / ("messages-" + padding + digits + ".safetensors"), tensors,
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

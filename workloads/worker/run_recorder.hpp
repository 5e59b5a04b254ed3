// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "workloads/stages/stage.hpp"
#include "workloads/worker/job_file.hpp"
#include "workloads/worker/records.hpp"

namespace tersor::workloads {

/// Puts down what a stage reports: records of the spool, rank 0's messages as files, and progress
/// on standard output. What all ranks share comes from rank 0.
class RunRecorder : public StageRecorder {
 public:
  /// References must outlive it.
  RunRecorder(const JobFile& file, Recorder& recorder, bool is_first, int ranks)
      : file_(file), recorder_(recorder), is_first_(is_first), ranks_(ranks) {}

  void record(const StepReport& report) override;
  void record(const Evaluation& evaluation) override;

 private:
  void write_messages(std::int64_t step, const std::vector<StoredMessage>& messages) const;
  void print_progress(const StepReport& report) const;

  const JobFile& file_;
  Recorder& recorder_;
  bool is_first_;
  int ranks_;
};

}  // namespace tersor::workloads

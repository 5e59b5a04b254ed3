// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <vector>

#include "protocol/job_file.hpp"
#include "workloads/stages/stage.hpp"
#include "workloads/worker/records.hpp"

namespace tersor::workloads {

/// Puts down what a stage reports: records of the spool, rank 0's messages as files in `folder`,
/// and progress on standard output. What all ranks share comes from rank 0.
class RunRecorder : public StageRecorder {
 public:
  /// References must outlive it.
  RunRecorder(const protocol::JobFile& file, const std::filesystem::path& folder,
              Recorder& recorder, bool is_first, int ranks)
      : file_(file), folder_(folder), recorder_(recorder), is_first_(is_first), ranks_(ranks) {}

  void record(const StepReport& report) override;
  void record(const Evaluation& evaluation) override;

 private:
  void write_messages(std::int64_t step, const std::vector<StoredMessage>& messages) const;
  void print_progress(const StepReport& report) const;

  const protocol::JobFile& file_;
  const std::filesystem::path& folder_;
  Recorder& recorder_;
  bool is_first_;
  int ranks_;
};

}  // namespace tersor::workloads

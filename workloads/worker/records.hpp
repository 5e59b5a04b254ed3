// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "protocol/records.hpp"
#include "workloads/messages/tensor_parallel.hpp"
#include "workloads/stages/stage.hpp"

namespace tersor::workloads {

/// Takes the records of one rank (docs/spool.md).
class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void write(const protocol::Record& record) = 0;
};

protocol::Traffic to_record(const TrafficRow& row);
protocol::MessageError to_record(const ErrorSample& sample);

protocol::Eval to_record(const Evaluation& evaluation);

}  // namespace tersor::workloads

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <exception>
#include <string>

#include "protocol/status.hpp"

namespace tersor::workloads {

/// What an exception that ends a job means: the only place that tells one of torch from another.
protocol::Verdict verdict_of(const std::exception& error);

/// Its message, without the stack that torch appends.
std::string reason_of(const std::exception& error);

}  // namespace tersor::workloads

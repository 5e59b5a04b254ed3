// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "common/endpoint.hpp"

namespace tersor::workloads::testing {

/// A port that nobody listens at now.
inline int free_port() { return BoundSocket(kLoopback, 0).port(); }

}  // namespace tersor::workloads::testing

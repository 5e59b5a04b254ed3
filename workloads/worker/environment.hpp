// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tersor::workloads {

/// torchrun's variables.
struct Launch {
  int rank = 0;
  int world = 1;
  int local_rank = 0;
  std::string address = "127.0.0.1";
  int port = 29500;
  int timeout_seconds = 300;  ///< TERSOR_TIMEOUT: for the meeting and for each collective
  bool is_pinned = true;      ///< TERSOR_PIN=off switches it off
};
/// Throws Error(kUsage) on a value that is no number or out of range.
Launch read_launch();

/// Keeps the process on `threads` cores of those it may use: from LOCAL_RANK * threads on, round
/// and round. Returns them; empty where the system refused.
std::vector<int> pin_to_cores(int local_rank, int threads);

/// The `environment` and `hardware` objects of the start record.
nlohmann::ordered_json environment_facts();
nlohmann::ordered_json hardware_facts();

}  // namespace tersor::workloads

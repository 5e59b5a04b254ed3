// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/variable_for_test.hpp"
#include "workloads/comm/collective.hpp"
#include "workloads/comm/port_for_test.hpp"

/// Groups of real and of emulated ranks, for tests that hold for both.
namespace tersor::workloads::testing {

/// c10d's flight recorder is one for the process, and its map of groups has no lock: ranks that are
/// threads tear it. Off before the first group asks for it.
inline const tersor::testing::Variable kNoFlightRecorder("TORCH_FR_BUFFER_SIZE", "0");

using Body = std::function<void(std::unique_ptr<Collective>)>;

/// `body` once, for all ranks in this thread.
inline void run_emulated(int ranks, SumOrder order, const Body& body) {
  body(make_emulated_collective(ranks, order));
}

/// `body` for each rank of a Gloo group, in threads of their own; rethrows the first error. What
/// `body` finds out goes to a place of its rank: Catch's checks are for one thread.
inline void run_gloo(int ranks, SumOrder order, const Body& body,
                     const std::string& address = "127.0.0.1") {
  const int port = free_port();
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        body(make_gloo_collective({.address = address, .port = port, .rank = rank, .ranks = ranks},
                                  order));
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace tersor::workloads::testing

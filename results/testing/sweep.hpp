// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>

#include "results/db/store.hpp"
#include "results/testing/spools.hpp"

namespace tersor::results::testing {

/// Three seeds of four codecs, one diverged run, one infeasible cell, one emulated cell.
struct Sweep {
  TempFolder folder;
  std::filesystem::path path = folder / "a.db";

  Sweep() {
    Store store(path);
    const std::int64_t sweep = store.add_sweep("demo", "{}");
    const double base[] = {0.80, 0.81, 0.83};
    for (const std::uint64_t seed : {1, 2, 3}) {
      FakeRun run;
      run.seed = seed;
      run.accuracy = {0.5, base[seed - 1]};
      run.base_ns = 50'000'000 + static_cast<std::int64_t>(seed) * 1'000'000;
      store_run(store, run, folder / "spools", sweep);
      run.codec = "topk(ratio=0.01)";
      run.accuracy = {0.78, base[seed - 1] - 0.07};
      run.raw_bytes = 131072;
      run.payload_bytes = 2000;
      run.metadata_bytes = 700;
      run.collective = "all_gather";
      run.relative_error = 0.9;
      if (seed == 3) {
        run.status = "diverged";
        run.reason = "loss is not finite at step 12";
      }
      store_run(store, run, folder / "spools", sweep);
    }
    FakeRun shards;
    shards.hardware = "cpu-emulated-tp2";
    shards.kind = "emulated";
    shards.world = 1;
    store_run(store, shards, folder / "spools", sweep);
    FakeRun shaped;
    shaped.hardware = "cpu-tp2-1gbit";
    shaped.kind = "shaped";
    store.add_cell(shaped.cell_key(), shaped.config(), shaped.codecs());
    store.record_unstarted(shaped.cell_key(), 1, sweep,
                           {protocol::Status::kInfeasible, protocol::Cause::kRefused},
                           "needs root");
  }
};

}  // namespace tersor::results::testing

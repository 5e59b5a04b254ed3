// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "results/db/store.hpp"

namespace tersor::results::testing {

/// A folder of its own below the system's, removed at the end.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// A made-up run whose numbers can be computed by hand: its spool is written by docs/spool.md.
struct FakeRun {
  std::string codec = "none";
  std::string hardware = "cpu-tp2";
  std::string kind = "measured";
  std::string dataset = "sst2";
  std::uint64_t seed = 1;
  int attempt = 1;
  int world = 2;
  int tp = 2;
  int steps = 20;
  /// Accuracy after epoch 1, 2, ...; with compression on. Off gives `off_gain` more.
  std::vector<double> accuracy{0.75};
  double off_gain = 0.01;
  /// Step s on rank r takes base + (s % 3) * 1 ms + r * 2 ms; forward 0.4, backward 0.4, optimizer
  /// 0.1 of it, encode 1 ms, transfer 3 ms, decode 1 ms.
  std::int64_t base_ns = 50'000'000;
  /// Of one message; the site `layer0.attention` has one a step in each direction, the backward
  /// one is dense.
  std::int64_t raw_bytes = 131072;
  std::int64_t payload_bytes = 131072;
  std::int64_t metadata_bytes = 0;
  std::string collective = "all_reduce";
  double relative_error = 0;
  bool samples_gradients = false;  ///< one error record of the same site's gradients at step 0
  std::string status = "ok";
  std::string reason;

  std::string cell_key() const;
  nlohmann::ordered_json config() const;
  nlohmann::json codecs() const;
  std::string cause() const;  ///< that goes with the status
  /// Lines of one rank's file.
  std::vector<nlohmann::ordered_json> records(int rank) const;
  void write(const std::filesystem::path& folder) const;
  double step_ns(int step, int rank) const;
};

void write_lines(const std::filesystem::path& file,
                 const std::vector<nlohmann::ordered_json>& lines);
std::string read_text(const std::filesystem::path& file);
void write_text(const std::filesystem::path& file, const std::string& text);

/// add_cell, begin_run, write, ingest, finish_run with the status that the spool claims.
RunInfo store_run(Store& store, const FakeRun& run, const std::filesystem::path& spools,
                  std::int64_t sweep = 0);

/// The output of a shell command, and its exit status; standard error is part of it.
struct CommandResult {
  int status = 0;
  std::string output;
};
CommandResult run_command(const std::string& command);

}  // namespace tersor::results::testing

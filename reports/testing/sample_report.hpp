// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/engine/report.hpp"
#include "results/testing/spools.hpp"

namespace tersor::reports::testing {

/// Raw bytes of a step of the sample at its one compressed site.
constexpr std::int64_t kRaw = std::int64_t{32} * 32 * 384 * 4;

/// What SST-2 gave in PyTorch, three seeds of eight codecs, as measured rows on cpu-tp2; beside
/// them a failed codec, an emulated group and an infeasible cell.
void fill_sample(const std::filesystem::path& database, const std::filesystem::path& spools);

using CsvRow = std::map<std::string, std::string>;

/// Sets an environment variable for as long as it lives.
class Environment {
 public:
  Environment(const char* name, const char* value);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

/// A database made by `make`, and its report. Drawing takes a second, so most tests go without:
/// `python` is TERSOR_PYTHON, null leaves it as it is.
struct SampleReport {
  results::testing::TempFolder folder;
  std::filesystem::path db = folder / "sst2.db";
  std::filesystem::path out = folder / "report";
  ReportResult result;

  using Make = std::function<void(const std::filesystem::path&, const std::filesystem::path&)>;
  explicit SampleReport(const Make& make = fill_sample, const char* python = "/bin/false");
  std::string text(const std::string& name) const;
  std::vector<CsvRow> csv(const std::string& name) const;
};

/// The first row with these values; throws std::out_of_range where there is none.
CsvRow row_of(const std::vector<CsvRow>& rows, const CsvRow& wanted);

}  // namespace tersor::reports::testing

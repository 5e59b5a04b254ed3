// SPDX-License-Identifier: Apache-2.0
#include "reports/testing/sample_report.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace tersor::reports::testing {

using results::Store;
using results::testing::FakeRun;
using results::testing::read_text;
namespace fs = std::filesystem;

void fill_sample(const fs::path& path, const fs::path& spools) {
  Store store(path);
  const std::int64_t sweep = store.add_sweep("sst2-small", "{}");
  struct Setting {
    const char* codec;
    std::vector<double> accuracy;
    std::int64_t payload, metadata;
    const char* collective;
    double error;
    std::int64_t step_ms;
  };
  const std::vector<Setting> settings{
      {"none", {0.8131, 0.8062, 0.7982}, kRaw, 0, "all_reduce", 0, 485},
      {"cast", {0.8131, 0.8050, 0.7982}, kRaw / 2, 0, "all_reduce", 0.0017, 470},
      {"quantize", {0.8119, 0.8062, 0.7970}, kRaw / 4 + 768, 768, "all_gather", 0.004, 532},
      {"quantize(bits=2)", {0.8016, 0.8154, 0.8062}, kRaw / 16 + 768, 768, "all_gather", 0.6, 510},
      {"topk(ratio=0.1)",
       {0.7901, 0.7844, 0.7833},
       kRaw / 10 + 90000,
       90000,
       "all_gather",
       0.5,
       560},
      {"topk", {0.7305, 0.7408, 0.7351}, kRaw / 100 + 9000, 9000, "all_gather", 0.8, 570},
      {"randk(ratio=0.1)", {0.7729, 0.7787, 0.7775}, kRaw / 10, 0, "all_reduce", 0.95, 500},
      {"autoencoder", {0.8096, 0.7993, 0.8016}, 32 * 32 * 50 * 4, 0, "all_reduce", 0.3, 490}};
  for (const Setting& setting : settings)
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      FakeRun run;
      run.codec = setting.codec;
      run.seed = seed;
      run.accuracy = {setting.accuracy[seed - 1]};
      run.base_ns = setting.step_ms * 1'000'000 + static_cast<std::int64_t>(seed) * 1'500'000;
      run.raw_bytes = kRaw;
      run.payload_bytes = setting.payload;
      run.metadata_bytes = setting.metadata;
      run.collective = setting.collective;
      run.relative_error = setting.error;
      results::testing::store_run(store, run, spools, sweep);
    }
  FakeRun failed;
  failed.codec = "sign";
  failed.status = "failed";
  failed.reason = "worker of rank 1 died: signal 9 <kill>";
  results::testing::store_run(store, failed, spools, sweep);
  FakeRun emulated;
  emulated.hardware = "cpu-emulated-tp2";
  emulated.kind = "emulated";
  emulated.world = 1;
  emulated.base_ns = 777'000'000;
  results::testing::store_run(store, emulated, spools, sweep);
  emulated.codec = "cast";
  emulated.payload_bytes /= 2;
  results::testing::store_run(store, emulated, spools, sweep);
  FakeRun shaped;
  shaped.hardware = "cpu-tp2-1gbit";
  shaped.kind = "shaped";
  store.add_cell(shaped.cell_key(), shaped.config(), shaped.codecs());
  store.record_unstarted(shaped.cell_key(), 1, sweep,
                         {protocol::Status::kInfeasible, protocol::Cause::kRefused},
                         "network namespaces need root");
}

Environment::Environment(const char* name, const char* value) : name_(name) {
  if (const char* old = std::getenv(name)) old_ = old;
  setenv(name, value, 1);
}

Environment::~Environment() {
  if (old_)
    setenv(name_, old_->c_str(), 1);
  else
    unsetenv(name_);
}

SampleReport::SampleReport(const Make& make, const char* python) {
  make(db, folder / "spools");
  std::optional<Environment> chosen;
  if (python) chosen.emplace("TERSOR_PYTHON", python);
  result = write_report({db, out, "Sample & <title>"});
}

std::string SampleReport::text(const std::string& name) const { return read_text(out / name); }

namespace {

std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> fields{""};
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && is_quoted && i + 1 < line.size() && line[i + 1] == '"')
      fields.back() += line[++i];
    else if (line[i] == '"')
      is_quoted = !is_quoted;
    else if (line[i] == ',' && !is_quoted)
      fields.emplace_back();
    else
      fields.back() += line[i];
  }
  return fields;
}

}  // namespace

std::vector<CsvRow> SampleReport::csv(const std::string& name) const {
  std::istringstream in(text(name));
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> columns = csv_fields(line);
  std::vector<CsvRow> rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> fields = csv_fields(line);
    if (fields.size() != columns.size()) throw std::runtime_error(name + ": ragged row: " + line);
    rows.emplace_back();
    for (std::size_t i = 0; i < columns.size(); ++i) rows.back()[columns[i]] = fields[i];
  }
  return rows;
}

CsvRow row_of(const std::vector<CsvRow>& rows, const CsvRow& wanted) {
  for (const auto& row : rows)
    if (std::all_of(wanted.begin(), wanted.end(),
                    [&](const auto& pair) { return row.at(pair.first) == pair.second; }))
      return row;
  throw std::out_of_range("no such row");
}

}  // namespace tersor::reports::testing

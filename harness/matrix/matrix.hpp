// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/hardware/profile.hpp"
#include "harness/input/json_text.hpp"
#include "harness/matrix/axis.hpp"
#include "protocol/cell.hpp"

namespace tersor::harness {

/// One run that a matrix asks for.
struct RunSpec {
  protocol::Cell cell;
  std::string key;  ///< the cell's: its identity in the database (cell_identity.hpp)
  std::uint64_t seed = 1;
  std::string label;  ///< for people: compressor, data set, hardware, seed and what else varies
  int block = 0;      ///< place of the seed: a block has every cell once
};

/// A matrix file, expanded and checked; the format is in matrices/README.md. A cell is made when it
/// is asked for, so that 10^7 of them fit into memory.
class Matrix {
 public:
  /// More runs than this are refused without `allow_many`; more than kMostRuns always.
  static constexpr std::uint64_t kManyRuns = 10'000;
  static constexpr std::uint64_t kMostRuns = 100'000'000;

  /// Throws Error(kUsage) with file, line and column: a key, codec, parameter, data set, profile,
  /// model or value that does not exist, two equal runs, an exclude that takes nothing away, an
  /// include that is excluded, no run at all, or too many runs (with their count, before
  /// expansion).
  Matrix(const JsonText& file, const HardwareProfiles& profiles, bool allow_many = false);

  /// Reads `file`, or the matrix that the program carries where `file` is its bare name
  /// ("quickstart").
  static JsonText open(const std::filesystem::path& file);

  const std::string& name() const { return name_; }
  std::size_t size() const { return runs_.size(); }
  /// In running order: block by block, so that an interrupted sweep has whole blocks.
  RunSpec at(std::size_t index) const;

 private:
  struct Run {
    nlohmann::json cell;  ///< protocol::all_values
    std::uint64_t seed = 1;
  };
  /// Axis -> the values that it takes away; a run is excluded where all of them match.
  using Exclusion = std::vector<Axis>;

  void read_defaults(const JsonText& file, const AxisReader& reader);
  void read_axes(const JsonText& file, const AxisReader& reader);
  void refuse_many(const JsonText& file, const AxisReader& reader, bool allow_many) const;
  void read_exclusions(const JsonText& file, const AxisReader& reader);
  void read_includes(const JsonText& file, const AxisReader& reader);
  void include(const JsonText& file, const std::string& pointer, Run run);
  void choose_runs();

  const Axis* find_axis(const std::string& key) const;
  std::uint64_t product_count() const;
  std::uint64_t runs_per_seed() const;  ///< of the product; at least 1
  /// A compressor that is one spec becomes that of the run's grid (sites_at).
  static void settle(Run& run);
  static nlohmann::json value_at(const std::string& key, const nlohmann::json& value,
                                 const Run& run);
  Run product(std::uint64_t index) const;
  bool is_product(const Run& run) const;
  bool is_excluded(const Run& run, const Exclusion& exclusion) const;
  std::string label(const Run& run) const;
  RunSpec run_spec(const Run& run, int block) const;
  /// Specs written out: presets that depend on the message become those of the cell's.
  static protocol::Cell cell_of(const Run& run);

  std::string name_;
  Run base_;                ///< the file's defaults on protocol::Cell's
  std::vector<Axis> axes_;  ///< seed first (slowest), the rest in the file's order
  std::vector<Exclusion> exclusions_;
  std::vector<Run> included_;
  std::vector<std::uint64_t> seeds_;  ///< block -> seed
  std::vector<std::uint64_t> runs_;   ///< below product_count(): a product, else an included run
};

}  // namespace tersor::harness

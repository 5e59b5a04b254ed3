// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "protocol/cell.hpp"
#include "protocol/status.hpp"

namespace tersor::harness {

/// What a database knows of earlier runs, read once: the deciding run of every cell and seed, and
/// how long runs took.
class History {
 public:
  /// Nothing known.
  History() = default;
  /// A file that is not there knows nothing. Throws as results::Reader.
  explicit History(const std::filesystem::path& database);

  struct Past {
    protocol::Status status = protocol::Status::kPlanned;
    protocol::Cause cause = protocol::Cause::kNone;
    int attempt = 0;
    std::string reason;
  };
  const Past* find(const std::string& cell_key, std::uint64_t seed) const;

  /// Mean seconds of ok runs of the cell, else of cells of its kind; nothing where there was none.
  std::optional<double> seconds(const std::string& cell_key, const protocol::Cell& cell) const;
  /// Mean seconds of ok runs of a kind, else of all kinds.
  std::optional<double> kind_seconds(const std::string& kind) const;
  /// Cells whose runs take about as long: same model, data set and hardware.
  static std::string kind_of(const protocol::Cell& cell);
  /// A run of this session.
  void add_seconds(const std::string& cell_key, const protocol::Cell& cell, double seconds);

 private:
  struct Mean {
    double sum = 0;
    int count = 0;
  };
  void add(const std::string& key, const std::string& kind, double seconds);

  std::unordered_map<std::string, Past> past_;   ///< "cell_key seed"
  std::unordered_map<std::string, Mean> times_;  ///< by cell key, by kind, and "" for all
};

}  // namespace tersor::harness

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "datasets/dataset.hpp"

namespace tersor::datasets::testing {

/// A folder of its own that is removed at the end.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  /// Writes a file below the folder and returns its path.
  std::filesystem::path write(const std::string& name, std::string_view content) const;

 private:
  std::filesystem::path path_;
};

/// A file of the source tree.
std::string read_source(const std::string& path);

/// TERSOR_DATA, else ../shared/data beside the source tree; empty where it has no `needed` file,
/// and then a line "SKIPPED: ..." is printed.
std::filesystem::path data_root_or_skip(const std::string& needed);

/// MiniLM's vocab.txt in the cache of scripts/fetch; empty, with a line "SKIPPED: ...", where it is
/// not there.
std::filesystem::path vocabulary_or_skip();

/// Sums over a split, to compare with those of another reader of the same file.
struct SplitFacts {
  std::size_t rows = 0;
  double labels = 0;        ///< sum
  std::size_t bytes_a = 0;  ///< of all first texts
  std::size_t bytes_b = 0;  ///< of all second texts
  friend bool operator==(const SplitFacts&, const SplitFacts&) = default;
};
SplitFacts facts_of(const Split& split);

/// The message of the Error that `call` throws, or "no error was thrown".
template <typename Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error was thrown";
}

}  // namespace tersor::datasets::testing

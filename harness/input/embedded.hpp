// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tersor::harness {

/// A JSON file of the source tree that the program carries, so that it needs no tree to run.
struct EmbeddedFile {
  std::string group;  ///< "profiles", "matrices" or "models"
  std::string name;   ///< e.g. "cpu-tp2"
  std::string path;   ///< in the source tree, for messages
  std::string_view text;
};

/// All of them, in the order of their paths.
const std::vector<EmbeddedFile>& embedded_files();

/// Names of one group, ascending.
std::vector<std::string> embedded_names(std::string_view group);
/// Null where there is none.
const EmbeddedFile* find_embedded(std::string_view group, std::string_view name);

}  // namespace tersor::harness

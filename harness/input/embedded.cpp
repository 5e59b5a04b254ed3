// SPDX-License-Identifier: Apache-2.0
#include "harness/input/embedded.hpp"

#include <filesystem>
#include <utility>

namespace tersor::harness {

/// Path in the source tree and text; written by CMake.
std::vector<std::pair<std::string_view, std::string_view>> carried_files();

namespace {

/// Sizes of a model are in a folder of their own.
std::string group_of(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.parent_path();
  return (folder.parent_path().filename() == "models" ? folder.parent_path() : folder).filename();
}

}  // namespace

const std::vector<EmbeddedFile>& embedded_files() {
  static const std::vector<EmbeddedFile> files = [] {
    std::vector<EmbeddedFile> all;
    for (const auto& [path, text] : carried_files()) {
      const std::filesystem::path file(path);
      all.push_back({group_of(file), file.stem(), file.string(), text});
    }
    return all;
  }();
  return files;
}

std::vector<std::string> embedded_names(std::string_view group) {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_files())
    if (file.group == group) names.push_back(file.name);
  return names;
}

const EmbeddedFile* find_embedded(std::string_view group, std::string_view name) {
  for (const EmbeddedFile& file : embedded_files())
    if (file.group == group && file.name == name) return &file;
  return nullptr;
}

}  // namespace tersor::harness

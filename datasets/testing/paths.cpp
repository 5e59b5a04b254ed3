// SPDX-License-Identifier: Apache-2.0
#include "datasets/testing/paths.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "common/cache_folder.hpp"

namespace tersor::datasets::testing {

namespace fs = std::filesystem;

TempFolder::TempFolder() {
  std::string pattern = (fs::temp_directory_path() / "tersor-datasets-XXXXXX").string();
  TERSOR_CHECK(::mkdtemp(pattern.data()) != nullptr, pattern);
  path_ = pattern;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path TempFolder::write(const std::string& name, std::string_view content) const {
  const fs::path file = path_ / name;
  fs::create_directories(file.parent_path());
  std::ofstream stream(file, std::ios::binary);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  TERSOR_CHECK(stream.good(), file.string());
  return file;
}

std::string read_source(const std::string& path) {
  std::ifstream stream(fs::path(TERSOR_SOURCE_DIR) / path, std::ios::binary);
  TERSOR_CHECK(stream.good(), path + " is not in the source tree");
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

fs::path data_root_or_skip(const std::string& needed) {
  const char* given = std::getenv("TERSOR_DATA");
  const fs::path root = given != nullptr && *given != '\0'
                            ? fs::path(given)
                            : fs::path(TERSOR_SOURCE_DIR).parent_path() / "shared" / "data";
  if (fs::exists(root / needed)) return root;
  std::printf("SKIPPED: %s is not there; set TERSOR_DATA\n", (root / needed).c_str());
  return {};
}

fs::path vocabulary_or_skip() {
  const fs::path file = cache_folder() / "models" / "minilm-l6" / "vocab.txt";
  if (fs::exists(file)) return file;
  std::printf("SKIPPED: %s is not there; run scripts/fetch minilm-l6\n", file.c_str());
  return {};
}

SplitFacts facts_of(const Split& split) {
  SplitFacts facts;
  for (const Example& example : split.examples) {
    ++facts.rows;
    facts.labels += static_cast<double>(example.label);
    facts.bytes_a += example.text_a.size();
    facts.bytes_b += example.text_b.size();
  }
  return facts;
}

}  // namespace tersor::datasets::testing

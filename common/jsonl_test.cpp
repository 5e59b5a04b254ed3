// SPDX-License-Identifier: Apache-2.0
#include "common/jsonl.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "common/error.hpp"
#include "common/files.hpp"

namespace tersor {

TEST_CASE("JSON lines: a record is a line, added to what is there") {
  const auto path =
      std::filesystem::temp_directory_path() / ("tersor-jsonl-" + std::to_string(::getpid()));
  std::filesystem::remove(path);
  JsonLinesWriter(path).write({{"type", "start"}, {"text", "a\nb"}});
  JsonLinesWriter(path).write({{"type", "end"}});
  CHECK(read_text(path, 1000) == "{\"type\":\"start\",\"text\":\"a\\nb\"}\n{\"type\":\"end\"}\n");
  std::filesystem::remove(path);
  CHECK_THROWS_AS(JsonLinesWriter("no/such/folder/x.jsonl"), Error);
}

}  // namespace tersor

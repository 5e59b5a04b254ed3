// SPDX-License-Identifier: Apache-2.0
#include "common/file_part.hpp"

#include <stdlib.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

namespace fs = std::filesystem;
using tersor::read_last_lines;
using tersor::read_part;

TEST_CASE("parts of files, and no exception where there is none to read") {
  std::string pattern = (fs::temp_directory_path() / "tersor-part-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  const fs::path folder = pattern;
  std::ofstream(folder / "file") << "one\ntwo\nthree\n";
  std::error_code error;
  CHECK(read_part(folder / "file", 4, 3, error) == "two");
  CHECK(read_part(folder / "file", 8, 1000, error) == "three\n");
  CHECK(read_part(folder / "file", 1000, 10, error).empty());
  CHECK_FALSE(error);
  CHECK(read_last_lines(folder / "file", 1000, error) == "one\ntwo\nthree\n");
  CHECK(read_last_lines(folder / "file", 8, error) == "three\n");
  CHECK_FALSE(error);

  CHECK(read_part(folder / "none", 0, 10, error).empty());
  CHECK(error == std::errc::no_such_file_or_directory);
  CHECK(read_part(folder, 0, 10, error).empty());
  CHECK(error == std::errc::is_a_directory);
  REQUIRE(mkfifo((folder / "fifo").c_str(), 0600) == 0);
  CHECK(read_last_lines(folder / "fifo", 10, error).empty());
  CHECK(error == std::errc::invalid_seek);
  // A file whose reading fails: nothing stands at address 0.
  CHECK(read_part("/proc/self/mem", 0, 10, error).empty());
  CHECK(error == std::errc::io_error);
  // Files of /proc have no size, and are read all the same.
  CHECK(read_part("/proc/self/cmdline", 0, 1 << 20, error).find("test_") != std::string::npos);
  CHECK_FALSE(error);
  fs::remove_all(folder);
}

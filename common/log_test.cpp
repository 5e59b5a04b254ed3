// SPDX-License-Identifier: Apache-2.0
#include "common/log.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

using namespace tersor;

TEST_CASE("log lines have their level in front and nothing that moves a terminal") {
  std::vector<std::string> lines;
  set_log_writer([&](std::string_view line) { lines.emplace_back(line); });
  log_line(LogLevel::kNote, "cut after 3 rows");
  log_line(LogLevel::kWarning, "a\x1b[31mred");
  log_line(LogLevel::kError, "no such file");
  set_log_name("tersor-worker");
  set_log_level(LogLevel::kWarning);
  log_line(LogLevel::kNote, "dropped");
  log_line(LogLevel::kError, "refused");
  set_log_writer([](std::string_view) { throw std::runtime_error("full"); });
  log_line(LogLevel::kError, "lost");  // does not throw
  set_log_writer({});
  set_log_name("tersor");
  set_log_level(LogLevel::kNote);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] == "note: cut after 3 rows");
  CHECK(lines[1].find('\x1b') == std::string::npos);
  CHECK(lines[1].starts_with("warning: a"));
  CHECK(lines[2] == "tersor: no such file");
  CHECK(lines[3] == "tersor-worker: refused");
}

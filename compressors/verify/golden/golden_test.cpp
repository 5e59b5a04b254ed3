// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "common/files.hpp"
#include "common/npy.hpp"
#include "compressors/tools/golden.hpp"

using namespace tersor;
using namespace tersor::compressors;
namespace fs = std::filesystem;

namespace {

// SHA-256 from Python's hashlib, over struct.pack('<4f', 1, -2, 3.5, 0.25) and over twice that.
constexpr const char* kDigest = "ea2ea5050002b3fafb9c454c4b55fd0c5ca6ff82cbbd215d487f8d765f0681c6";
constexpr const char* kSumDigest =
    "627d6986c7f0c7220f0d545dd44a32f7e3e47d54c8c5ed9c348d2fcde3c100dc";

struct Folder {
  fs::path path = fs::temp_directory_path() / ("tersor-golden-" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }

  void write(const std::string& spec, const std::string& canonical, const std::string& sum,
             float last = 0.25f) const {
    const std::vector<float> values{1.0f, -2.0f, 3.5f, 0.25f};
    write_npy(path / "in.npy", {1, 1, 4}, values);
    std::vector<float> stored = values;
    stored[3] = last;
    write_file(path / "payload.bin", std::as_bytes(std::span(stored)));
    const nlohmann::json message{
        {"input", "in.npy"},
        {"shape", {1, 1, 4}},
        {"payload", {{"file", "payload.bin"}, {"offset", 0}, {"bytes", 16}}},
        {"payload_bytes", 16},
        {"metadata_bytes", 0},
        {"payload_sha256", kDigest},
        {"decoded_sha256", kDigest}};
    const nlohmann::json entry{{"name", "hand-made"},
                               {"kind", "sum"},
                               {"spec", spec},
                               {"canonical", canonical},
                               {"dtype", "float32"},
                               {"context", {{"ranks", 2}}},
                               {"messages", {message, message}},
                               {"sum_sha256", sum}};
    std::ofstream(path / "manifest.json")
        << nlohmann::json{{"format", 1},
                          {"purposes", nlohmann::json::object()},
                          {"streams", nlohmann::json::array()},
                          {"xxh64_low", {{"", 1373170073}}},
                          {"canonical", nlohmann::json::object()},
                          {"refused", {"nope", "none(none)"}},
                          {"cases", nlohmann::json::array({entry})}};
  }
};

}  // namespace

TEST_CASE("a golden folder of our own: equal, different, skipped, malformed") {
  const Folder folder;
  folder.write("none", "none", kSumDigest);
  const GoldenReport good = check_golden(folder.path);
  CHECK(good.total().equal == 4);
  CHECK(good.total().different == 0);

  folder.write("none", "none", kSumDigest, 0.75f);  // 0x3f400000 is stored, 0x3e800000 is right
  const GoldenReport bad = check_golden(folder.path);
  REQUIRE(bad.differences.size() == 1);
  CHECK(bad.differences[0] ==
        "hand-made: message 0: payload: byte 14 of 16: expected 0x40, got 0x80");

  folder.write("none", "none", kDigest);
  REQUIRE(check_golden(folder.path).differences.size() == 1);
  CHECK(check_golden(folder.path).differences[0].find("sum SHA-256") != std::string::npos);

  folder.write("none", "nun", kSumDigest);
  CHECK(check_golden(folder.path).differences.at(0) ==
        "hand-made: canonical form: expected nun, got none");

  folder.write("not_yet(bits=3)", "not_yet(bits=3)", kSumDigest);
  CHECK(check_golden(folder.path).total().skipped == 1);
  CHECK(check_golden(folder.path).skipped_codecs.at("not_yet") == 1);

  std::ofstream(folder.path / "manifest.json") << "{\"format\": 1,";
  CHECK_THROWS_AS(check_golden(folder.path), Error);
  std::ofstream(folder.path / "manifest.json") << "{\"format\": 2}";
  CHECK_THROWS_WITH(check_golden(folder.path), Catch::Contains("format 2 is not 1"));
  fs::remove(folder.path / "manifest.json");
  CHECK_THROWS_WITH(check_golden(folder.path), Catch::Contains("no such file"));
}

TEST_CASE("the reference's golden folder: every case of every codec in this build") {
  const char* given = std::getenv("TERSOR_GOLDEN");
  const fs::path folder = given != nullptr ? given : "../shared/reference/golden";
  if (!fs::exists(folder / "manifest.json")) {
    std::cout << "SKIPPED: no golden folder at " << folder << " (set TERSOR_GOLDEN)\n";
    return;
  }
  const GoldenReport report = check_golden(folder);
  for (const std::string& difference : report.differences) UNSCOPED_INFO(difference);
  CHECK(report.total().different == 0);
  CHECK(report.total().equal > 0);
}

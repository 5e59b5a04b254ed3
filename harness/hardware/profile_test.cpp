// SPDX-License-Identifier: Apache-2.0
#include "harness/hardware/profile.hpp"

#include <unistd.h>
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/error.hpp"

namespace fs = std::filesystem;
namespace protocol = tersor::protocol;
using tersor::harness::load_profiles;

namespace {

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("tersor-profiles-" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("the program carries the CPU profiles") {
  const auto profiles = load_profiles();
  for (const int tp : {1, 2, 4}) {
    const auto& hardware = profiles.at("cpu-tp" + std::to_string(tp)).config;
    CHECK(hardware.tp == tp);
    CHECK(hardware.processes() == tp);
    CHECK(hardware.kind == "measured");
    CHECK(hardware.device == "cpu");
  }
  for (const int tp : {2, 4}) {
    const auto& hardware = profiles.at("cpu-emulated-tp" + std::to_string(tp)).config;
    CHECK(hardware.tp == tp);
    CHECK(hardware.processes() == 1);
    CHECK(hardware.kind == "emulated");
  }
  const auto& grid = profiles.at("cpu-tp2-pp2").config;
  CHECK(std::pair(grid.tp, grid.pp) == std::pair(2, 2));
  CHECK(grid.processes() == 4);
  CHECK(profiles.at("cpu-pp4").config.processes() == 4);
  CHECK(profiles.at("cpu-emulated-pp4").config.processes() == 1);
  CHECK_THROWS_WITH(tersor::harness::find_profile(profiles, "cpu-tq2"),
                    Catch::Contains("did you mean 'cpu-tp2'?"));
}

TEST_CASE("a grid on a profile is named by what differs, and is the profile of that name") {
  using tersor::harness::grid_on;
  const auto profiles = load_profiles();
  CHECK(grid_on(profiles, "cpu", {{"tp", 2}}).name == "cpu-tp2");
  const auto grid = grid_on(profiles, "cpu-emulated", {{"pp", 3}, {"tp", 2}, {"threads", 1}});
  CHECK(grid.name == "cpu-emulated-tp2-pp3");
  CHECK(grid.emulated());
  CHECK(std::pair(grid.tp, grid.pp) == std::pair(2, 3));
  CHECK(grid_on(profiles, "cpu", {{"pp", 3}, {"name", "three"}}).name == "three");
  CHECK_THROWS_WITH(grid_on(profiles, "cpu", {{"pp", 2}, {"name", "cpu-tp2"}}),
                    Catch::Contains("'cpu-tp2', which has other values"));
  CHECK_THROWS_WITH(grid_on(profiles, "cpu-emulatd", {{"pp", 2}}),
                    Catch::Contains("did you mean 'cpu-emulated'?"));
}

TEST_CASE("own profiles join the carried ones, and are checked") {
  const Folder folder;
  folder.write("two-threads.json",
               R"({"name": "two-threads", "description": "d", "tp": 2, "threads": 2})");
  const auto profiles = load_profiles(folder.path());
  CHECK(profiles.at("two-threads").config.threads == 2);
  CHECK(profiles.count("cpu-tp1") == 1);

  folder.write("bad.json", "{\"name\": \"bad\",\n \"tp\": 0}");
  CHECK_THROWS_WITH(load_profiles(folder.path()),
                    Catch::Contains("bad.json:2:8: hardware: tp 0 not in [1, 1024]"));
  folder.write("bad.json", R"({"name": "other"})");
  CHECK_THROWS_WITH(load_profiles(folder.path()),
                    Catch::Contains("must be that of the file: 'bad'"));
  CHECK_THROWS_WITH(load_profiles(folder.path() / "none"), Catch::Contains("--profiles "));
}

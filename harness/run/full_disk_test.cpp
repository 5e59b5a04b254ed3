// SPDX-License-Identifier: Apache-2.0
// A sweep on a disk that fills up: a small file system, in a mount namespace of its own.
#include <catch2/catch.hpp>

#include "harness/testing/program.hpp"

using Catch::Contains;
using tersor::harness::testing::run_program;
using tersor::harness::testing::Workplace;

namespace {

/// $1: folder, $2: matrix, $3: tersor. The second run writes until there is no room.
constexpr const char* kScript = R"sh(
mount -t tmpfs -o size=1m tmpfs "$1" || exit 77
cd "$1"
TERSOR_FAKE="2=slow" "$3" run "$2" --db a.db > /dev/null 2> errors &
until ls a.db.runs/*-2-1/rank1.jsonl > /dev/null 2>&1; do sleep 0.02; done
cat /dev/zero > fill 2> /dev/null
wait $!
echo "first: $?"
cat errors
TERSOR_FAKE=ok "$3" run "$2" --db a.db
echo "still full: $?"
rm fill
TERSOR_FAKE=ok "$3" run "$2" --db a.db
echo "with room: $?"
"$3" query "SELECT seed, attempt, status, cause FROM run ORDER BY seed, attempt" --db a.db --format csv
rm -r a.db* errors
cat /dev/zero > fill 2> /dev/null
"$3" run "$2" --db a.db
echo "from the start: $?"
ls
)sh";

}  // namespace

TEST_CASE("a disk that fills up stops the sweep by its name, and nothing is lost") {
  const Workplace place;
  const auto matrix = place.write_matrix("1, 2, 3");
  const auto disk = place.path("disk");
  std::filesystem::create_directory(disk);
  const auto result = run_program({"/usr/bin/unshare", "-rm", "/bin/sh", "-c", kScript, "sh",
                                   disk.string(), matrix.string(), TERSOR_PROGRAM},
                                  {{"TERSOR_WORKER", TERSOR_FAKE_WORKER}});
  if (result.output.find("first: ") == std::string::npos) {
    WARN("no mount namespaces here: " << result.output);
    return;
  }
  INFO(result.output);
  const std::string named = "the disk of " + disk.string() + " has ";
  CHECK_THAT(result.output, Contains("first: 2\n") && Contains("still full: 2\n") &&
                                Contains("with room: 0\n") && Contains("from the start: 2\n"));
  const auto first = result.output.substr(0, result.output.find("still full"));
  CHECK_THAT(first, Contains(named) || Contains(disk.string() + ": No space left on device"));
  // The one after it knows why the run was left, and runs it again.
  CHECK_THAT(result.output,
             Contains("left running: failed (interrupted: " + disk.string()) &&
                 !Contains("harness died") &&
                 Contains("1,1,ok,none\n2,1,failed,interrupted\n2,2,ok,none\n3,1,ok,none\n"));
  CHECK_THAT(result.output, Catch::EndsWith("from the start: 2\nfill\n"));
}

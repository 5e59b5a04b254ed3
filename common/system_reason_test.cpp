// SPDX-License-Identifier: Apache-2.0
#include "common/system_reason.hpp"

#include <catch2/catch.hpp>
#include <cerrno>

namespace tersor {

TEST_CASE("a system's reason names the limit that was met, and how to raise it") {
  CHECK(system_reason(EMFILE) ==
        "Too many open files; this process has no descriptor left: raise `ulimit -n`");
  CHECK(system_reason(EFBIG) == "File too large; raise the limit of file sizes (`ulimit -f`)");
  CHECK(system_reason(EACCES) == "Permission denied");
}

}  // namespace tersor

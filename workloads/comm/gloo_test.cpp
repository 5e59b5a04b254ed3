// SPDX-License-Identifier: Apache-2.0
// Where Gloo's sockets are, and what its exceptions mean.
#include <c10/util/Exception.h>
#include <gloo/common/error.h>
#include <sys/socket.h>

#include <netdb.h>
#include <array>
#include <catch2/catch.hpp>
#include <new>
#include <set>
#include <system_error>

#include "common/endpoint.hpp"
#include "common/error.hpp"
#include "common/variable_for_test.hpp"
#include "workloads/comm/gloo_error.hpp"
#include "workloads/comm/group_for_test.hpp"

using namespace tersor;
using namespace tersor::workloads;
using workloads::testing::run_gloo;

namespace {

/// Addresses of this process's listening sockets.
std::set<std::string> listening() {
  std::set<std::string> found;
  constexpr int kMost = 1024;
  for (int file = 0; file < kMost; ++file) {
    int is_listening = 0;
    socklen_t length = sizeof is_listening;
    if (getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &length) != 0 || !is_listening)
      continue;
    sockaddr_storage address{};
    length = sizeof address;
    auto* own = reinterpret_cast<sockaddr*>(&address);
    std::array<char, NI_MAXHOST> text{};
    if (getsockname(file, own, &length) == 0 &&
        getnameinfo(own, length, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0)
      found.insert(text.data());
  }
  return found;
}

template <typename Given, typename Rethrow>
void check_becomes(const Given& given, ErrorKind kind, Rethrow&& rethrow) {
  INFO(given.what());
  try {
    try {
      throw given;
    } catch (...) {
      rethrow();
    }
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    CHECK_THAT(error.what(), Catch::StartsWith("all-reduce failed: "));
    return;
  }
  FAIL("no Error");
}

template <typename Given>
void check_stays(const Given& given) {
  int stayed = 0;
  for (const bool is_meeting : {false, true}) {
    try {
      try {
        throw given;
      } catch (...) {
        if (is_meeting) rethrow_from_meeting("meeting", kLoopback);
        rethrow_from_gloo("all-reduce");
      }
    } catch (const Given&) {
      ++stayed;
    }
  }
  CHECK(stayed == 2);
}

}  // namespace

TEST_CASE("gloo: ranks of one machine listen at the loopback alone, in either family") {
  for (const char* address : {"127.0.0.1", "::1", "localhost"}) {
    INFO(address);
    std::set<std::string> found;
    try {
      run_gloo(
          2, SumOrder::kLibrary,
          [&](std::unique_ptr<Collective> group) {
            group->barrier();
            if (group->first_rank() == 0) found = listening();
            group->barrier();
          },
          address);
    } catch (const Error& error) {
      if (std::string(address) != "::1") throw;
      WARN("no IPv6 here: " << error.what());
      continue;
    }
    CHECK_FALSE(found.empty());
    for (const std::string& one : found) {
      INFO(one);
      CHECK(is_loopback(one));
    }
  }
}

TEST_CASE("gloo: a named interface decides, one that is not there is named") {
  const auto nothing = [](std::unique_ptr<Collective> group) { group->barrier(); };
  {
    const tersor::testing::Variable interface("GLOO_SOCKET_IFNAME", "lo");
    run_gloo(2, SumOrder::kLibrary, nothing);
  }
  const tersor::testing::Variable interface("GLOO_SOCKET_IFNAME", "eth9x");
  try {
    make_gloo_collective({.port = workloads::testing::free_port(), .rank = 0, .ranks = 1},
                         SumOrder::kLibrary);
    FAIL("met at an interface that is not there");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kUsage);
    CHECK_THAT(error.what(), Catch::StartsWith("GLOO_SOCKET_IFNAME=eth9x: "));
  }
}

TEST_CASE("gloo: a taken port is no lost peer") {
  BoundSocket taken(kLoopback, 0);
  taken.listen();
  try {
    make_gloo_collective({.port = taken.port(), .rank = 0, .ranks = 2}, SumOrder::kLibrary);
    FAIL("two listen at one port");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kIo);
    CHECK_THAT(error.what(), Catch::Contains("another program listens there"));
  }
}

TEST_CASE("gloo: what an exception means") {
  const auto in_collective = [] { rethrow_from_gloo("all-reduce"); };
  const auto in_meeting = [] { rethrow_from_meeting("all-reduce", kLoopback); };
  for (const bool is_meeting : {false, true}) {
    const auto check = [&](const auto& given, ErrorKind kind) {
      if (is_meeting)
        check_becomes(given, kind, in_meeting);
      else
        check_becomes(given, kind, in_collective);
    };
    check(gloo::IoException("Connection reset by peer"), ErrorKind::kPeer);
    check(gloo::InvalidOperationException("size mismatch"), ErrorKind::kInternal);
    check(c10::DistNetworkError({"f", "x.cpp", 1}, "timed out"), ErrorKind::kPeer);
    check(std::system_error(EIO, std::generic_category()), ErrorKind::kIo);
  }
  check_stays(std::bad_alloc());
  check_stays(std::logic_error("a defect"));
  check_stays(Error(ErrorKind::kUsage, "own"));
  // While ranks meet, c10d hides what it met with behind its plain exception.
  check_becomes(c10::Error({"f", "x.cpp", 1}, "Gloo connectFullMesh failed"), ErrorKind::kPeer,
                in_meeting);
}

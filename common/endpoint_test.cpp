// SPDX-License-Identifier: Apache-2.0
#include "common/endpoint.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <vector>

#include "common/error.hpp"

using namespace tersor;
using Catch::Contains;
using Catch::StartsWith;

TEST_CASE("a host is one address, numeric, and never all interfaces") {
  CHECK(resolve_host("127.0.0.1") == "127.0.0.1");
  CHECK(resolve_host("::1") == "::1");
  CHECK(resolve_host("localhost") == "127.0.0.1");
  CHECK(is_loopback("127.3.2.1"));
  CHECK(is_loopback("::1"));
  CHECK_FALSE(is_loopback("192.0.2.127"));
  for (const char* all : {"0.0.0.0", "::"})
    CHECK_THROWS_WITH(resolve_host(all),
                      StartsWith("MASTER_ADDR=" + std::string(all) + " is all interfaces"));
  const std::string too_long(300, 'x');
  CHECK_THROWS_WITH(resolve_host(too_long), StartsWith("MASTER_ADDR=" + too_long + ": "));
}

TEST_CASE("an interface has an address, and one that is not there is named with those that are") {
  CHECK(address_of_interface("lo") == "127.0.0.1");
  CHECK(address_towards("127.0.0.1") == "127.0.0.1");
  CHECK_THROWS_WITH(address_of_interface("eth9x"),
                    StartsWith("GLOO_SOCKET_IFNAME=eth9x: there is no such network interface "
                               "(known: ") &&
                        Contains("lo"));
}

TEST_CASE("a port is held before anybody listens, and is somebody's afterwards") {
  BoundSocket held(kLoopback, 0);
  REQUIRE(held.port() > 0);
  {
    BoundSocket other(kLoopback, held.port());  // whoever was told the port
    other.listen();
    CHECK_THROWS_WITH(BoundSocket(kLoopback, held.port()),
                      StartsWith("a socket at 127.0.0.1, port " + std::to_string(held.port()) +
                                 ": Address already in use; another program listens there"));
  }
  BoundSocket again(kLoopback, held.port());
  check_reachable(kLoopback);
}

TEST_CASE("an address of another machine is no place to listen at") {
  CHECK_THROWS_WITH(BoundSocket("192.0.2.1", 0),  // for documents (RFC 5737)
                    Contains("it is no address of this machine"));
}

TEST_CASE("descriptors that ran out are called so") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  std::vector<int> files;
  const rlimit few{64, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
  for (int file = dup(STDERR_FILENO); file >= 0; file = dup(STDERR_FILENO)) files.push_back(file);
  std::string message, many;
  try {
    BoundSocket socket(kLoopback, 0);
  } catch (const Error& error) {
    message = error.what();
  }
  close(files.back());
  files.pop_back();
  expect_descriptors(1);
  try {
    expect_descriptors(2);
  } catch (const Error& error) {
    many = error.what();
  }
  for (const int file : files) close(file);
  setrlimit(RLIMIT_NOFILE, &before);
  CHECK(message ==
        "a socket at 127.0.0.1: Too many open files; this process has no descriptor "
        "left: raise `ulimit -n`");
  CHECK_THAT(many, StartsWith("the 2 descriptors that ranks need to meet: Too many open files"));
}

// SPDX-License-Identifier: Apache-2.0
#include "common/endpoint.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "common/error.hpp"
#include "common/system_reason.hpp"

namespace tersor {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
  void operator()(ifaddrs* list) const { freeifaddrs(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;
using Interfaces = std::unique_ptr<ifaddrs, FreeAddresses>;

/// `flags` AI_NUMERICHOST: no name server is asked. Null where there is nothing; `error` says why.
Addresses look_up(const std::string& host, int flags, std::string& error) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* list = nullptr;
  const int code = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (code == EAI_SYSTEM)
    error = std::strerror(errno);
  else if (code != 0)
    error = gai_strerror(code);
  return Addresses(code == 0 ? list : nullptr);
}

std::string text_of(const sockaddr* address, socklen_t length) {
  std::array<char, NI_MAXHOST> text{};
  if (getnameinfo(address, length, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
    return {};
  return text.data();
}

/// A numeric address with a port, as the socket calls take it.
struct SocketAddress {
  SocketAddress(const std::string& address, int port) {
    std::string error;
    const Addresses found = look_up(address, AI_NUMERICHOST, error);
    TERSOR_CHECK(found, "'" + address + "' is no numeric address: " + error);
    std::memcpy(&storage, found->ai_addr, found->ai_addrlen);
    length = found->ai_addrlen;
    const std::uint16_t number = htons(static_cast<std::uint16_t>(port));
    if (family() == AF_INET6)
      reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port = number;
    else
      reinterpret_cast<sockaddr_in*>(&storage)->sin_port = number;
  }
  int family() const { return storage.ss_family; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  int port() const {
    return ntohs(family() == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port
                                      : reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
  }

  sockaddr_storage storage{};
  socklen_t length = 0;
};

/// What the user can do about an error of a socket call.
std::string remedy_of(int error, int port) {
  switch (error) {
    case ENOMEM: return "; the kernel has no memory for sockets";
    case EADDRINUSE:
      return port == 0 ? "; no port of net.ipv4.ip_local_port_range is free"
                       : "; another program listens there: give another MASTER_PORT";
    case EADDRNOTAVAIL:
      return "; it is no address of this machine, or its interface is down: give an address of "
             "rank 0's as MASTER_ADDR, or the interface's name as GLOO_SOCKET_IFNAME";
    case EACCES: return "; ports below 1024 need privileges: give another MASTER_PORT";
    default: return {};
  }
}

/// `port` 0: any free one was asked for.
[[noreturn]] void fail(const std::string& what, int error, int port) {
  throw Error(ErrorKind::kIo, what + ": " + system_reason(error) + remedy_of(error, port));
}

std::string no_way(const std::string& what, const std::string& address, int error) {
  return what + ": " + std::strerror(error) +
         (is_loopback(address)
              ? "; the loopback interface is down or filtered: `ip link set lo up` brings it up"
              : "; give an address of rank 0 that this machine reaches as MASTER_ADDR");
}

}  // namespace

std::string resolve_host(const std::string& host) {
  std::string error;
  const Addresses found = look_up(host, 0, error);
  if (!found) throw Error(ErrorKind::kUsage, "MASTER_ADDR=" + host + ": " + error);
  const addrinfo* best = found.get();
  for (const addrinfo* one = best; one; one = one->ai_next)
    if (one->ai_family == AF_INET) {
      best = one;
      break;
    }
  const std::string address = text_of(best->ai_addr, best->ai_addrlen);
  if (address == "0.0.0.0" || address == "::")
    throw Error(ErrorKind::kUsage, "MASTER_ADDR=" + host +
                                       " is all interfaces, and whoever reaches one could write to "
                                       "the ranks' store; give one address of rank 0");
  return address;
}

bool is_loopback(const std::string& address) {
  return address == "::1" || address.starts_with("127.");
}

std::string address_towards(const std::string& address) {
  const std::string what = "the way to " + address;
  constexpr int kAnyPort = 9;  // of a datagram socket that sends nothing
  SocketAddress remote(address, kAnyPort);
  const int file = socket(remote.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (file < 0) fail(what, errno, 0);
  SocketAddress own = remote;
  own.length = sizeof own.storage;
  const bool is_found = connect(file, remote.get(), remote.length) == 0 &&
                        getsockname(file, own.get(), &own.length) == 0;
  const int error = errno;
  close(file);
  if (!is_found) throw Error(ErrorKind::kIo, no_way(what, address, error));
  return text_of(own.get(), own.length);
}

std::string address_of_interface(const std::string& name) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) fail("the network interfaces", errno, 0);
  const Interfaces all(list);
  std::string found;
  std::set<std::string> names;
  int family = AF_UNSPEC;
  for (const ifaddrs* one = all.get(); one; one = one->ifa_next) {
    names.insert(one->ifa_name);
    if (one->ifa_name != name || !one->ifa_addr || family == AF_INET) continue;
    const int own = one->ifa_addr->sa_family;
    if (own != AF_INET && (own != AF_INET6 || family == AF_INET6)) continue;
    found = text_of(one->ifa_addr, own == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    family = own;
  }
  if (!found.empty()) return found;
  std::string known;
  for (const std::string& one : names) known += (known.empty() ? "" : ", ") + one;
  throw Error(
      ErrorKind::kUsage,
      "GLOO_SOCKET_IFNAME=" + name + ": " +
          (names.contains(name) ? "the interface has no address"
                                : "there is no such network interface (known: " + known + ")") +
          "; name one, or unset the variable");
}

void expect_descriptors(int count) {
  std::vector<int> taken;
  int error = 0;
  for (int i = 0; i < count && error == 0; ++i) {
    const int file = dup(STDERR_FILENO);
    if (file >= 0)
      taken.push_back(file);
    else
      error = errno;
  }
  for (const int file : taken) close(file);
  if (error == EMFILE || error == ENFILE)
    fail("the " + std::to_string(count) + " descriptors that ranks need to meet", error, 0);
}

void check_reachable(const std::string& address) {
  constexpr int kLimitMs = 1000;
  BoundSocket server(address, 0);
  server.listen();
  const SocketAddress at(address, server.port());
  const std::string what = "a connection to " + address;
  const int file = socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file < 0) fail(what, errno, 0);
  int error = connect(file, at.get(), at.length) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd wanted{file, POLLOUT, 0};
    socklen_t length = sizeof error;
    if (poll(&wanted, 1, kLimitMs) != 1)
      error = ETIMEDOUT;
    else if (getsockopt(file, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
      error = errno;
  }
  close(file);
  if (error != 0) throw Error(ErrorKind::kIo, no_way(what, address, error));
}

BoundSocket::BoundSocket(const std::string& address, int port)
    : address_(address), is_port_given_(port != 0) {
  SocketAddress at(address, port);
  const int on = 1;
  port_ = port;
  file_ = socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file_ < 0) fail(name(), errno, port);
  if (setsockopt(file_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(file_, at.get(), at.length) != 0 || getsockname(file_, at.get(), &at.length) != 0) {
    const int error = errno;
    close(file_);
    fail(name(), error, port);
  }
  port_ = at.port();
}

BoundSocket::~BoundSocket() {
  if (file_ >= 0) close(file_);
}

void BoundSocket::listen() {
  if (::listen(file_, SOMAXCONN) != 0) fail(name(), errno, port_);
}

int BoundSocket::release() {
  const int file = file_;
  file_ = -1;
  return file;
}

std::string BoundSocket::name() const {
  return "a socket at " + address_ +
         (is_port_given_ ? ", port " + std::to_string(port_) : std::string());
}

}  // namespace tersor

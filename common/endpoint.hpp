// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace tersor {

// Where a job's sockets are. Nothing that meets at them knows a secret, so each listens at one
// address: the loopback's for ranks of one machine, one interface's in a cluster.

/// Where the ranks of one machine meet.
inline constexpr const char* kLoopback = "127.0.0.1";

/// The numeric address of `host`, which is MASTER_ADDR; IPv4 where it has both. Throws
/// Error(kUsage) on what no name server knows, and on 0.0.0.0 and ::, which are all interfaces.
std::string resolve_host(const std::string& host);

/// A numeric address in 127.0.0.0/8, or ::1.
bool is_loopback(const std::string& address);

/// This machine's own address on the way to `address` (both numeric): that of the interface that
/// packets to it leave by. Throws Error(kIo) where there is no way.
std::string address_towards(const std::string& address);

/// The first IPv4, else IPv6 address of a network interface. Throws Error(kUsage) with the
/// interfaces that there are where `name`, the value of GLOO_SOCKET_IFNAME, is none or has none.
std::string address_of_interface(const std::string& name);

/// Throws Error(kIo) with the remedy where this process cannot open `count` more files: libraries
/// that run out in the midst of something else say anything but that, or abort.
void expect_descriptors(int count);

/// Whether a connection to a socket at `address` (numeric, this machine's own) comes about. Throws
/// Error(kIo) where it does not within a second.
void check_reachable(const std::string& address);

/// A TCP socket that is bound to one address, address reuse on; closed unless release() hands it
/// on. As long as it is held and does not listen, nobody gets its port unasked, and a process that
/// was told the port can listen at it.
class BoundSocket {
 public:
  /// `port` 0: any that is free. Throws Error(kIo) where the port is taken, no port or descriptor
  /// is left, or the address is none of this machine's.
  BoundSocket(const std::string& address, int port);
  ~BoundSocket();
  BoundSocket(const BoundSocket&) = delete;
  BoundSocket& operator=(const BoundSocket&) = delete;

  /// Throws Error(kIo), also where another socket listens at the port already.
  void listen();
  int port() const { return port_; }
  int descriptor() const { return file_; }
  int release();

 private:
  std::string name() const;

  std::string address_;
  int file_ = -1;
  int port_ = 0;
  bool is_port_given_;
};

}  // namespace tersor

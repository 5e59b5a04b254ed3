// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tersor::workloads::testing {

/// A port that nobody listens on now; 0 where there is none.
inline int free_port() {
  const int file = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(file, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return 0;
  socklen_t length = sizeof address;
  getsockname(file, reinterpret_cast<sockaddr*>(&address), &length);
  close(file);
  return ntohs(address.sin_port);
}

}  // namespace tersor::workloads::testing

// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tersor::harness {

/// A free TCP port of the loopback interface, held (bound, never listening, address reuse on) until
/// destruction: the kernel gives it to nobody else, and rank 0 can listen on it.
class PortReservation {
 public:
  /// Throws Error(kIo).
  PortReservation();
  ~PortReservation();
  PortReservation(const PortReservation&) = delete;
  PortReservation& operator=(const PortReservation&) = delete;
  int port() const { return port_; }

 private:
  int socket_ = -1;
  int port_ = 0;
};

}  // namespace tersor::harness

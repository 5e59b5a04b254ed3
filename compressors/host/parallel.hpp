// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <type_traits>

namespace tersor::compressors {

namespace detail {
void run_pieces(int threads, std::int64_t pieces, void (*call)(void*, std::int64_t), void* body);
}

/// Calls body(piece) for 0 <= piece < pieces, on this thread and up to threads - 1 others of a pool
/// that the first call starts and the process keeps. Where another caller holds the pool, this
/// thread does all the work. Allocates nothing once the pool is there. An exception of a piece is
/// thrown here after all pieces have ended. Not after a fork without exec.
template <class Body>
void parallel_for(int threads, std::int64_t pieces, Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  detail::run_pieces(
      threads, pieces,
      [](void* erased, std::int64_t piece) { (*static_cast<Plain*>(erased))(piece); },
      const_cast<std::remove_const_t<Plain>*>(std::addressof(body)));
}

}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

/// Runs CUDA kernels on the CPU: every CUDA thread is a fiber, all on one thread of the process.
/// Tests steer it by this header; kernels see cuda_view.hpp. See README.md.
namespace tersor::emulator {

/// A launch that broke a rule of CUDA; what() says which thread, where and which rule.
struct LaunchError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Order : std::uint8_t { kForward, kReverse, kRandom };

struct Options {
  Order order = Order::kForward;  ///< of blocks, and of the threads that could run
  std::uint64_t seed = 1;         ///< of kRandom and of pre-emption
  unsigned resident_blocks = 1;   ///< blocks whose threads take turns
  std::uint64_t first_block = 0;  ///< blocks before it do not run: the end of a large message
  /// Another thread runs after one in so many memory accesses (kernels built with the checker).
  unsigned preempt_one_in = 0;
  /// Races, uninitialised reads (kernels built with the checker); bounds and alignment always.
  bool checks_races = true;
  bool counts = false;  ///< fill counts() (kernels built with the checker)
  /// A write outside allocate()'s memory is an error; else kernels may use any memory.
  bool only_device_memory = false;
  unsigned livelock_yields = 1u << 20;  ///< turns without progress that count as a livelock
};
Options& options();

/// Global memory traffic of a kernel. A request is one access of one warp; sectors have 32 bytes.
struct Traffic {
  std::uint64_t requests = 0;
  std::uint64_t sectors = 0;           ///< of all requests
  std::uint64_t bytes = 0;             ///< that the lanes asked for
  std::uint64_t distinct_sectors = 0;  ///< per launch: what a cache that forgets nothing would move
};
struct Counts {
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;
  Traffic loads;
  Traffic stores;
  std::uint64_t shared_requests = 0;
  std::uint64_t shared_wavefronts = 0;  ///< requests + bank conflicts
};
/// By kernel, as TERSOR_LAUNCH spells it, since reset_counts(). Launches and blocks are always
/// counted, the rest where Options::counts is set.
const std::map<std::string, Counts>& counts();
void reset_counts();

/// Device memory: exactly `bytes`, between guards, filled with 0xA5. Bytes are uninitialised until
/// a kernel or copy_in writes them.
void* allocate(std::size_t bytes);
void release(void* memory);
void copy_in(void* to, const void* from, std::size_t bytes);
/// Throws LaunchError where a byte was never written.
void copy_out(void* to, const void* from, std::size_t bytes);

struct Extent {
  unsigned x = 1, y = 1, z = 1;
};
/// Runs `body` in every thread of the grid; throws LaunchError.
void launch(const std::string& kernel, Extent grid, Extent block, std::size_t shared_bytes,
            const std::function<void()>& body);

}  // namespace tersor::emulator

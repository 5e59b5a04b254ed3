// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tests/cuda_emulator/cuda_view.hpp"

/// What the files of the emulator share.
namespace tersor::emulator {

constexpr unsigned kLanes = 32;
constexpr std::size_t kStackBytes = 128 * 1024;

enum class Turn : std::uint8_t { kReady, kAtBarrier, kInCollective, kDone };

struct Block;

struct Thread {
  uint3 index{};
  unsigned linear = 0;  ///< in the block
  unsigned lane = 0;
  unsigned warp = 0;  ///< in the block
  Block* block = nullptr;
  void* stack_pointer = nullptr;
  char* stack = nullptr;
  Turn turn = Turn::kReady;
  Site site{0, ""};  ///< of the barrier or collective that it waits in
  unsigned mask = 0;
  std::uint64_t result = 0;
  /// Vector clock over the lanes of the own warp: __syncwarp orders memory, barriers do by epochs.
  std::uint32_t clock = 1;
  std::array<std::uint32_t, kLanes> seen{};
  std::unordered_map<const void*, std::uint32_t> executions;  ///< per instruction, for requests
};

struct Collective {
  WarpOp op{};
  unsigned mask = 0;
  unsigned arrived = 0;
  Site site{0, ""};
  std::array<std::uint64_t, kLanes> values{};
  std::array<int, kLanes> sources{};
};

/// One access of one warp: what its lanes touched.
struct Request {
  bool is_write = false;
  bool is_shared = false;
  std::vector<std::pair<std::uintptr_t, std::uint32_t>> accesses;
};

struct SharedSlot {
  void* memory = nullptr;
  std::size_t bytes = 0;
};

struct Block {
  uint3 index{};
  std::uint32_t number = 0;  ///< in the grid
  std::vector<Thread> threads;
  unsigned warps = 0;
  unsigned alive = 0;
  // The barrier that threads wait at.
  unsigned arrived = 0;
  Barrier kind = Barrier::kSync;
  Site site{0, ""};
  int votes = 0;
  std::uint32_t epoch = 0;                           ///< changes at every barrier
  std::vector<std::vector<Collective>> collectives;  ///< unfinished, per warp
  std::vector<unsigned> exited;                      ///< lanes per warp
  std::map<const void*, SharedSlot> shared;          ///< nullptr: the dynamic part
  std::map<std::tuple<unsigned, const void*, std::uint32_t>, Request> requests;
};

struct Machine {
  Options options;
  Thread* running = nullptr;
  bool is_inside = false;  ///< a thread runs the emulator's own code, whose accesses do not count
  std::vector<Thread*> ready;
  std::size_t ready_head = 0;
  void* scheduler_stack_pointer = nullptr;
  const std::function<void()>* body = nullptr;
  std::string error;
  std::uint64_t random = 1;
  std::uint32_t epoch = 1;         ///< of the last barrier or block start anywhere
  std::uint32_t launch_epoch = 1;  ///< what is older was written before this launch
  unsigned threads_per_block = 0;
  std::size_t dynamic_bytes = 0;
  unsigned idle_turns = 0;
  std::map<std::string, Counts> counts;
  Counts* kernel_counts = nullptr;
  std::unordered_set<std::uintptr_t> loaded_sectors;
  std::unordered_set<std::uintptr_t> stored_sectors;
};
extern Machine machine;

/// While it lives, the running thread is inside the emulator.
struct Inside {
  Inside() { machine.is_inside = true; }
  ~Inside() { machine.is_inside = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

std::uint64_t next_random();
/// Ends the launch with this error; from a thread it does not return (what its stack owns leaks).
[[noreturn]] void fail(std::string what);
void wake(Thread& thread);
void to_scheduler();
std::string text_of(const Thread& thread);
std::string text_of(Site site);

// collectives.cpp
void release_barrier(Block& block);
void finish_collectives(Block& block, unsigned warp);
/// The thread's function returned.
void note_exit(Thread& thread);

// checker.cpp
void* shared_allocate(std::size_t bytes);
void shared_release(void* memory);
void count_requests(Block& block);
void count_distinct_sectors();

}  // namespace tersor::emulator

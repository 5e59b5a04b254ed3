// SPDX-License-Identifier: Apache-2.0
// What kernels do to memory. Files with kernels are compiled with -fsanitize=thread, so that every
// access calls a __tsan_ function; this file defines those and takes the place of the compiler's
// own run-time library, which knows nothing of CUDA's barriers.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tests/cuda_emulator/internal.hpp"

extern "C" char __executable_start, end;  // of the program's image, by the linker

namespace tersor::emulator {
namespace {

constexpr std::size_t kGuardBytes = 256;
constexpr std::uint32_t kNoBlock = ~0u;

/// Of one byte: its last write, and the reads since.
struct Shadow {
  std::uint32_t write_block = kNoBlock;
  std::uint32_t write_clock = 0;
  std::uint32_t write_epoch = 0;
  std::uint32_t read_block = kNoBlock;
  std::uint32_t read_lanes = 0;
  std::uint32_t read_clock = 0;
  std::uint32_t read_epoch = 0;
  std::uint16_t write_thread = 0;
  std::uint8_t read_warp = 0;
  bool is_write_atomic = false;
  bool has_many_readers = false;  ///< from more than one warp
};

struct Region {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool is_shared = false;
  std::vector<bool> is_written;
  std::vector<Shadow> shadow;  ///< made at the first checked access
};

std::map<std::uintptr_t, Region> regions;  // by the end of the guard behind each
std::array<Region*, 4> recent{};
std::size_t next_recent = 0;

void* guarded_allocate(std::size_t bytes, bool is_shared) {
  void* base = nullptr;
  if (posix_memalign(&base, kGuardBytes, bytes + 2 * kGuardBytes) != 0) throw std::bad_alloc();
  auto* memory = static_cast<char*>(base) + kGuardBytes;
  std::memset(memory, 0xA5, bytes);
  Region region;
  region.begin = reinterpret_cast<std::uintptr_t>(memory);
  region.end = region.begin + bytes;
  region.is_shared = is_shared;
  region.is_written.resize(bytes);
  regions[region.end + kGuardBytes] = std::move(region);
  return memory;
}

/// The region that holds the address or whose guards do; null where there is none.
Region* find_region(std::uintptr_t address) {
  for (Region* region : recent)
    if (region != nullptr && address >= region->begin - kGuardBytes &&
        address < region->end + kGuardBytes)
      return region;
  const auto found = regions.upper_bound(address);
  if (found == regions.end() || address < found->second.begin - kGuardBytes) return nullptr;
  recent[next_recent++ % recent.size()] = &found->second;
  return &found->second;
}

void guarded_release(void* memory) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const auto found = regions.upper_bound(begin);
  if (found == regions.end() || found->second.begin != begin)
    throw LaunchError("release of what allocate did not give");
  recent.fill(nullptr);
  regions.erase(found);
  std::free(static_cast<char*>(memory) - kGuardBytes);
}

struct Access {
  std::uintptr_t address;
  std::size_t bytes;
  bool is_write;
  bool is_atomic;
  const void* code;
};

std::string text_of(const Access& access, const Region& region) {
  char code[32];
  std::snprintf(code, sizeof code, " (code at %p)", access.code);
  return std::string(access.is_write ? "writes " : "reads ") + std::to_string(access.bytes) +
         " bytes of " + (region.is_shared ? "shared" : "global") + " memory at byte " +
         std::to_string(static_cast<std::int64_t>(access.address - region.begin)) + " of " +
         std::to_string(region.end - region.begin) + code;
}

[[noreturn]] void refuse(const char* rule, const Access& access, const Region& region,
                         const char* after = "") {
  fail(std::string(rule) + ": " + emulator::text_of(*machine.running) + " " +
       text_of(access, region) + after);
}

/// Whether the running thread is ordered after what `other` of its block did at epoch and clock.
bool is_ordered(const Thread& thread, unsigned other, std::uint32_t epoch, std::uint32_t clock) {
  if (epoch < thread.block->epoch) return true;
  return other / kLanes == thread.warp && thread.seen[other % kLanes] >= clock;
}

void check_after_write(const Thread& thread, const Access& access, const Region& region,
                       const Shadow& byte) {
  if (byte.write_block == kNoBlock || byte.write_epoch < machine.launch_epoch) return;
  const std::uint32_t own = thread.block->number;
  if (byte.write_block == own && byte.write_thread == thread.linear) return;
  if (access.is_atomic && byte.is_write_atomic) return;
  if (byte.write_block == own &&
      is_ordered(thread, byte.write_thread, byte.write_epoch, byte.write_clock))
    return;
  refuse("race", access, region, ", unordered with an earlier write by another thread");
}

void check_after_reads(const Thread& thread, const Access& access, const Region& region,
                       const Shadow& byte) {
  if (byte.read_block == kNoBlock || byte.read_epoch < machine.launch_epoch) return;
  const bool is_own_block = byte.read_block == thread.block->number;
  if (is_own_block && byte.read_epoch < thread.block->epoch) return;
  bool is_race = !is_own_block || byte.has_many_readers || byte.read_warp != thread.warp;
  for (unsigned lane = 0; lane < kLanes && !is_race; ++lane)
    is_race = (byte.read_lanes >> lane & 1u) != 0 && lane != thread.lane &&
              thread.seen[lane] < byte.read_clock;
  if (is_race) refuse("race", access, region, ", unordered with an earlier read by another thread");
}

void note_read(const Thread& thread, Shadow& byte) {
  const bool is_stale =
      byte.read_block == kNoBlock || byte.read_epoch < machine.launch_epoch ||
      (byte.read_block == thread.block->number && byte.read_epoch < thread.block->epoch);
  if (is_stale) {
    byte.read_block = thread.block->number;
    byte.read_warp = static_cast<std::uint8_t>(thread.warp);
    byte.read_lanes = 0;
    byte.read_clock = 0;
    byte.has_many_readers = false;
  } else if (byte.read_block != thread.block->number || byte.read_warp != thread.warp) {
    byte.has_many_readers = true;
    byte.read_block = thread.block->number;
  }
  byte.read_lanes |= 1u << thread.lane;
  byte.read_clock = std::max(byte.read_clock, thread.clock);
  byte.read_epoch = thread.block->epoch;
}

void note_write(const Thread& thread, const Access& access, Shadow& byte) {
  byte.write_block = thread.block->number;
  byte.write_thread = static_cast<std::uint16_t>(thread.linear);
  byte.write_clock = thread.clock;
  byte.write_epoch = thread.block->epoch;
  byte.is_write_atomic = access.is_atomic;
  byte.read_block = kNoBlock;
}

void check_races(Region& region, const Access& access) {
  if (region.shadow.empty()) region.shadow.resize(region.end - region.begin);
  const Thread& thread = *machine.running;
  const std::size_t first = access.address - region.begin;
  for (std::size_t i = first; i < first + access.bytes; ++i) {
    Shadow& byte = region.shadow[i];
    if ((!access.is_write || access.is_atomic) && !region.is_written[i])
      refuse("uninitialised", access, region);
    check_after_write(thread, access, region, byte);
    if (!access.is_write) {
      note_read(thread, byte);
      continue;
    }
    check_after_reads(thread, access, region, byte);
    note_write(thread, access, byte);
    region.is_written[i] = true;
  }
}

void count(const Region& region, const Access& access) {
  Thread& thread = *machine.running;
  // One place in the code may be a function that all vector accesses call: the two memories apart.
  const void* const place = static_cast<const char*>(access.code) + (region.is_shared ? 1 : 0);
  Request& request = thread.block->requests[{thread.warp, place, thread.executions[place]++}];
  request.is_write = access.is_write;
  request.is_shared = region.is_shared;
  request.accesses.emplace_back(access.address, static_cast<std::uint32_t>(access.bytes));
}

void on_access(const Access& access) {
  if (machine.running == nullptr || machine.is_inside) return;
  const Inside inside;
  const auto image = reinterpret_cast<std::uintptr_t>(&__executable_start);
  if (access.address >= image && access.address < reinterpret_cast<std::uintptr_t>(&end)) return;
  const auto stack = reinterpret_cast<std::uintptr_t>(machine.running->stack);
  // A handler that a signal runs in the midst of a kernel, on a stack of its own, is no kernel:
  // that of Catch reports SIGTERM at a time-out.
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (here < stack || here >= stack + kStackBytes) return;
  if (access.address >= stack && access.address < stack + kStackBytes) return;
  Region* region = find_region(access.address);
  if (region == nullptr) {
    if (machine.options.only_device_memory && access.is_write)
      fail("write outside device memory: " + emulator::text_of(*machine.running));
    return;
  }
  if (access.address < region->begin || access.address + access.bytes > region->end)
    refuse("out of bounds", access, *region);
  if (access.address % access.bytes != 0) refuse("misaligned", access, *region);
  if (machine.options.counts) count(*region, access);
  if (machine.options.checks_races) {
    check_races(*region, access);
  } else if (access.is_write) {
    const auto first = static_cast<std::ptrdiff_t>(access.address - region->begin);
    std::fill_n(region->is_written.begin() + first, access.bytes, true);
  }
  const unsigned one_in = machine.options.preempt_one_in;
  if (one_in == 0 || access.is_atomic || next_random() % one_in != 0) return;
  machine.ready.push_back(machine.running);
  to_scheduler();
}

void on_range(const void* begin, std::size_t bytes, bool is_write, const void* code) {
  auto address = reinterpret_cast<std::uintptr_t>(begin);
  while (bytes > 0) {  // copies of structs: in naturally aligned pieces of at most 16 bytes
    std::size_t piece = 16;
    while (piece > bytes || address % piece != 0) piece /= 2;
    on_access({address, piece, is_write, false, code});
    address += piece;
    bytes -= piece;
  }
}

template <class Visit>
void for_each_unit(const Request& request, std::uintptr_t unit, Visit visit) {
  for (const auto& [address, bytes] : request.accesses)
    for (std::uintptr_t at = address / unit; at <= (address + bytes - 1) / unit; ++at) visit(at);
}

std::uint64_t wavefronts(const Request& request) {
  std::array<std::vector<std::uintptr_t>, 32> banks;
  for_each_unit(request, 4, [&](std::uintptr_t word) {
    auto& words = banks[word % 32];
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  });
  std::size_t most = 1;
  for (const auto& words : banks) most = std::max(most, words.size());
  return most;
}

}  // namespace

void* allocate(std::size_t bytes) { return guarded_allocate(bytes, false); }
void release(void* memory) { guarded_release(memory); }
void* shared_allocate(std::size_t bytes) { return guarded_allocate(bytes, true); }
void shared_release(void* memory) { guarded_release(memory); }

void* shared_memory(const void* key, std::size_t bytes) {
  SharedSlot& slot = machine.running->block->shared[key];
  if (slot.memory == nullptr) slot = {shared_allocate(bytes), bytes};
  return slot.memory;
}
void* dynamic_shared_memory() { return shared_memory(nullptr, machine.dynamic_bytes); }

void copy_in(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  std::memcpy(to, from, bytes);
  const auto address = reinterpret_cast<std::uintptr_t>(to);
  Region* region = find_region(address);
  if (region == nullptr || address < region->begin || address + bytes > region->end)
    throw LaunchError("copy to memory that is not the device's");
  const auto first = static_cast<std::ptrdiff_t>(address - region->begin);
  std::fill_n(region->is_written.begin() + first, bytes, true);
}

void copy_out(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  const Region* region = find_region(address);
  if (region == nullptr || address < region->begin || address + bytes > region->end)
    throw LaunchError("copy from memory that is not the device's");
  const std::size_t first = address - region->begin;
  for (std::size_t i = first; i < first + bytes; ++i)
    if (!region->is_written[i])
      throw LaunchError("byte " + std::to_string(i - first) + " of " + std::to_string(bytes) +
                        " was never written");
  std::memcpy(to, from, bytes);
}

void copy_unseen(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

void check_vector(const void* address, std::size_t bytes, bool is_write) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (at % bytes != 0) {
    const Inside inside;
    fail("misaligned " + std::to_string(bytes) +
         "-byte vector access: " + emulator::text_of(*machine.running));
  }
  on_access({at, bytes, is_write, false, __builtin_return_address(0)});
}

void note_atomic(void* address, std::size_t bytes) {
  on_access(
      {reinterpret_cast<std::uintptr_t>(address), bytes, true, true, __builtin_return_address(0)});
}

void count_requests(Block& block) {
  Counts& counts = *machine.kernel_counts;
  for (const auto& [key, request] : block.requests) {
    if (request.is_shared) {
      ++counts.shared_requests;
      counts.shared_wavefronts += wavefronts(request);
      continue;
    }
    Traffic& traffic = request.is_write ? counts.stores : counts.loads;
    auto& distinct = request.is_write ? machine.stored_sectors : machine.loaded_sectors;
    std::vector<std::uintptr_t> sectors;
    for_each_unit(request, 32, [&](std::uintptr_t sector) { sectors.push_back(sector); });
    std::sort(sectors.begin(), sectors.end());
    sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
    distinct.insert(sectors.begin(), sectors.end());
    ++traffic.requests;
    traffic.sectors += sectors.size();
    for (const auto& access : request.accesses) traffic.bytes += access.second;
  }
  block.requests.clear();
}

void count_distinct_sectors() {
  machine.kernel_counts->loads.distinct_sectors += machine.loaded_sectors.size();
  machine.kernel_counts->stores.distinct_sectors += machine.stored_sectors.size();
}

}  // namespace tersor::emulator

// ---- the compiler's callbacks
using tersor::emulator::on_access;
using tersor::emulator::on_range;

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

#define TERSOR_CALLBACK(name, bytes, is_write)                               \
  void __tsan_##name##bytes(void* at) {                                      \
    on_access({reinterpret_cast<std::uintptr_t>(at), bytes, is_write, false, \
               __builtin_return_address(0)});                                \
  }
#define TERSOR_CALLBACKS(bytes)                 \
  TERSOR_CALLBACK(read, bytes, false)           \
  TERSOR_CALLBACK(write, bytes, true)           \
  TERSOR_CALLBACK(unaligned_read, bytes, false) \
  TERSOR_CALLBACK(unaligned_write, bytes, true)
TERSOR_CALLBACKS(1)
TERSOR_CALLBACKS(2)
TERSOR_CALLBACKS(4)
TERSOR_CALLBACKS(8)
TERSOR_CALLBACKS(16)

void __tsan_read_range(void* at, std::size_t bytes) {
  on_range(at, bytes, false, __builtin_return_address(0));
}
void __tsan_write_range(void* at, std::size_t bytes) {
  on_range(at, bytes, true, __builtin_return_address(0));
}
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
  on_range(from, bytes, false, __builtin_return_address(0));
  on_range(to, bytes, true, __builtin_return_address(0));
  return std::memcpy(to, from, bytes);
}
void* __tsan_memset(void* to, int value, std::size_t bytes) {
  on_range(to, bytes, true, __builtin_return_address(0));
  return std::memset(to, value, bytes);
}
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
  on_range(from, bytes, false, __builtin_return_address(0));
  on_range(to, bytes, true, __builtin_return_address(0));
  return std::memmove(to, from, bytes);
}

// Atomics of the standard library in the host part of such a file.
#define TERSOR_ATOMICS(bits)                                                                    \
  std::uint##bits##_t __tsan_atomic##bits##_load(const volatile std::uint##bits##_t* at, int) { \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                               \
  }                                                                                             \
  void __tsan_atomic##bits##_store(volatile std::uint##bits##_t* at, std::uint##bits##_t value, \
                                   int) {                                                       \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                              \
  }                                                                                             \
  std::uint##bits##_t __tsan_atomic##bits##_fetch_add(volatile std::uint##bits##_t* at,         \
                                                      std::uint##bits##_t value, int) {         \
    return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);                                     \
  }
TERSOR_ATOMICS(8)
TERSOR_ATOMICS(32)
TERSOR_ATOMICS(64)
}

// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "compressors/verify/fuzz/target.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define TERSOR_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TERSOR_HAS_ASAN 1
#endif
#endif

namespace tersor::fuzz {
namespace {

std::atomic<std::size_t> live_bytes{0};
std::atomic<std::size_t> most_bytes{0};

void count_new(std::size_t bytes) {
  const std::size_t now = live_bytes += bytes;
  std::size_t most = most_bytes;
  while (now > most && !most_bytes.compare_exchange_weak(most, now)) {
  }
}

}  // namespace

AllocationMeter::AllocationMeter() : at_start_(live_bytes) { most_bytes = at_start_; }

std::size_t AllocationMeter::peak_bytes() const { return most_bytes - at_start_; }

void require(bool condition, const std::string& message) {
  if (condition) return;
  std::fprintf(stderr, "does not hold: %s\n", message.c_str());
  std::abort();
}

}  // namespace tersor::fuzz

#ifdef TERSOR_HAS_ASAN
// Its operators find overruns and mismatched pairs: they stay, and report to these hooks.
// GCC 12 has the functions and not their header.
extern "C" int __sanitizer_install_malloc_and_free_hooks(  // NOLINT(bugprone-reserved-identifier)
    void (*on_malloc)(const volatile void*, std::size_t), void (*on_free)(const volatile void*));
extern "C" std::size_t __sanitizer_get_allocated_size(  // NOLINT(bugprone-reserved-identifier)
    const volatile void* block);

namespace {
const int kHooks = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t bytes) { tersor::fuzz::count_new(bytes); },
    [](const volatile void* block) {
      if (block != nullptr) tersor::fuzz::live_bytes -= __sanitizer_get_allocated_size(block);
    });
}  // namespace
#else
namespace {

void* allocate(std::size_t bytes, std::size_t alignment) {
  void* block =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(bytes == 0 ? 1 : bytes)
          : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (block == nullptr) throw std::bad_alloc();
  tersor::fuzz::count_new(::malloc_usable_size(block));
  return block;
}

void release(void* block) noexcept {
  if (block == nullptr) return;
  tersor::fuzz::live_bytes -= ::malloc_usable_size(block);
  std::free(block);
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { release(block); }
void operator delete(void* block, std::size_t) noexcept { release(block); }
void operator delete(void* block, std::align_val_t) noexcept { release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { release(block); }
#endif

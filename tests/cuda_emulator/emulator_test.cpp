// SPDX-License-Identifier: Apache-2.0
// Kernels with one planted bug each, which the emulator must refuse, and right ones, which it must
// run. This file is compiled with -fsanitize=thread (see README.md).
#include <signal.h>

#include <catch2/catch.hpp>
#include <vector>

#include "compressors/device/device.cuh"

using namespace tersor;
using namespace tersor::compressors;

namespace {

constexpr unsigned kThreads = 64;

struct Words {
  unsigned* data;
  explicit Words(std::size_t count)
      : data(static_cast<unsigned*>(emulator::allocate(count * sizeof(unsigned)))) {}
  ~Words() { emulator::release(data); }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
};

struct ScopedOptions {
  emulator::Options before = emulator::options();
  ~ScopedOptions() { emulator::options() = before; }
};

/// What the emulator says of a launch of 64 threads on 64 initialised words; "" where nothing.
template <class Kernel>
std::string run(Kernel kernel, unsigned blocks = 1) {
  const Words words(kThreads);
  const std::vector<unsigned> zeros(kThreads, 0);
  emulator::copy_in(words.data, zeros.data(), kThreads * sizeof(unsigned));
  try {
    TERSOR_LAUNCH(kernel, blocks, kThreads, 0, nullptr, words.data);
  } catch (const emulator::LaunchError& error) {
    return error.what();
  }
  return "";
}

__global__ void reverse(unsigned* out) {
  TERSOR_SHARED_ARRAY(unsigned, s, kThreads);
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[kThreads - 1 - threadIdx.x];
}
__global__ void missing_barrier(unsigned* out) {
  TERSOR_SHARED_ARRAY(unsigned, s, kThreads);
  s[threadIdx.x] = 0;
  __syncthreads();
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = s[kThreads - 1 - threadIdx.x];
}
/// No barrier between the reads of one round and the writes of the next.
__global__ void missing_second_barrier(unsigned* out) {
  TERSOR_SHARED_ARRAY(unsigned, s, kThreads);
  for (unsigned round = 0; round < 2; ++round) {
    s[threadIdx.x] = threadIdx.x + round;
    __syncthreads();
    out[threadIdx.x] = s[kThreads - 1 - threadIdx.x];
  }
}
__global__ void neighbours(unsigned* out) {
  TERSOR_SHARED_ARRAY(unsigned, s, kThreads);
  s[threadIdx.x] = threadIdx.x;
  __syncwarp();
  const unsigned x = s[threadIdx.x ^ 1u];
  __syncwarp();
  s[threadIdx.x] = x;
  out[threadIdx.x] = x;
}
/// A shuffle meets, but does not order memory.
__global__ void shuffle_as_barrier(unsigned* out) {
  TERSOR_SHARED_ARRAY(unsigned, s, kThreads);
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = __shfl_xor_sync(0xFFFFFFFFu, threadIdx.x, 1);
  out[threadIdx.x] += s[threadIdx.x ^ 1u];
}
__global__ void shared_overflow(unsigned* out) {
  TERSOR_SHARED_ARRAY(unsigned, s, kThreads);
  const volatile unsigned at = threadIdx.x + 1;
  s[at] = at;
  __syncthreads();
  out[threadIdx.x] = at;
}
__global__ void uninitialised_shared(unsigned* out) {
  TERSOR_SHARED_ARRAY(unsigned, s, kThreads);
  if (threadIdx.x < kThreads - 1) s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}
__global__ void divergent_barrier(unsigned* out) {
  if (threadIdx.x < 40)
    __syncthreads();
  else
    __syncthreads();
  out[threadIdx.x] = 0;
}
__global__ void early_exit(unsigned* out) {
  if (threadIdx.x == 63) return;
  __syncthreads();
  out[threadIdx.x] = 0;
}
/// The full mask inside a divergent branch.
__global__ void bad_mask(unsigned* out) {
  unsigned x = threadIdx.x;
  if (threadIdx.x < 16) x = __shfl_xor_sync(0xFFFFFFFFu, x, 1);
  __syncthreads();
  out[threadIdx.x] = x;
}
__global__ void not_in_own_mask(unsigned* out) {
  out[threadIdx.x] = __shfl_xor_sync(0x0000FFFFu, threadIdx.x, 1);
}
__global__ void inactive_source(unsigned* out) {
  unsigned x = threadIdx.x;
  if (threadIdx.x % 32 < 16) x = __shfl_sync(0x0000FFFFu, x, 20);
  out[threadIdx.x] = x;
}
__global__ void global_race(unsigned* out) { out[0] = blockIdx.x; }
__global__ void global_read_race(unsigned* out) {
  if (blockIdx.x == 0)
    out[threadIdx.x] = 1;
  else
    out[0] = out[threadIdx.x];
}
__global__ void atomics(unsigned* out) { atomicAdd(out + threadIdx.x % 2, 1u); }
__global__ void global_overflow(unsigned* out) { out[threadIdx.x + 1] = 1; }
__global__ void misaligned_vector(unsigned* out) {
  if (threadIdx.x > 0) return;
  const uint4 v = load_vector(reinterpret_cast<const uint4*>(out + 1));
  out[0] = v.x + v.y + v.z + v.w;
}
/// Waits for the block before it: right only where blocks start in order.
__global__ void chained(unsigned* out) {
  if (threadIdx.x > 0) return;
  if (blockIdx.x > 0)
    while (atomicAdd(out + blockIdx.x - 1, 0u) == 0) __nanosleep(20);
  atomicExch(out + blockIdx.x, 1u);
}
__global__ void votes(unsigned* out) {
  const int odd = __syncthreads_count(threadIdx.x % 2);
  const unsigned ballot = __ballot_sync(0xFFFFFFFFu, threadIdx.x % 32 < 3);
  const unsigned most = __reduce_max_sync(0xFFFFFFFFu, threadIdx.x % 7);
  const unsigned before = __shfl_up_sync(0xFFFFFFFFu, threadIdx.x, 1);
  if (threadIdx.x == 33)
    for (unsigned i = 0; i < 4; ++i)
      out[i] = i == 0 ? static_cast<unsigned>(odd) : i == 1 ? ballot : i == 2 ? most : before;
}

bool says(const std::string& text, const char* word) { return text.find(word) != text.npos; }

}  // namespace

TEST_CASE("emulator: right kernels run under every schedule") {
  const ScopedOptions scope;
  for (const auto order :
       {emulator::Order::kForward, emulator::Order::kReverse, emulator::Order::kRandom})
    for (const unsigned resident : {1u, 3u})
      for (const unsigned preempt : {0u, 4u}) {
        emulator::options().order = order;
        emulator::options().resident_blocks = resident;
        emulator::options().preempt_one_in = preempt;
        CHECK(run(reverse) == "");
        CHECK(run(neighbours) == "");
        CHECK(run(atomics, 5) == "");
        const Words words(kThreads);
        TERSOR_LAUNCH(votes, 1, kThreads, 0, nullptr, words.data);
        unsigned got[4];
        emulator::copy_out(got, words.data, sizeof got);
        CHECK(got[0] == 32);
        CHECK(got[1] == 7);
        CHECK(got[2] == 6);
        CHECK(got[3] == 32);
      }
}

TEST_CASE("emulator: planted bugs of shared memory are refused") {
  CHECK(says(run(missing_barrier), "race"));
  CHECK(says(run(missing_second_barrier), "race"));
  CHECK(says(run(shuffle_as_barrier), "race"));
  CHECK(says(run(shared_overflow), "out of bounds"));
  CHECK(says(run(uninitialised_shared), "uninitialised"));
}

TEST_CASE("emulator: planted bugs of barriers and warp collectives are refused") {
  CHECK(says(run(divergent_barrier), "divergent __syncthreads"));
  CHECK(says(run(early_exit), "exited"));
  CHECK(says(run(bad_mask), "deadlock"));
  CHECK(says(run(not_in_own_mask), "not in its own mask"));
  CHECK(says(run(inactive_source), "reads lane 20"));
}

TEST_CASE("emulator: planted bugs of global memory are refused") {
  CHECK(says(run(global_race, 2), "race"));
  CHECK(says(run(global_read_race, 2), "race"));
  CHECK(says(run(global_overflow), "out of bounds"));
  CHECK(says(run(misaligned_vector), "misaligned"));
}

TEST_CASE("emulator: an order of blocks that CUDA does not promise") {
  const ScopedOptions scope;
  emulator::options().livelock_yields = 1000;
  CHECK(run(chained, 8) == "");
  emulator::options().order = emulator::Order::kReverse;
  CHECK(says(run(chained, 8), "livelock"));
}

TEST_CASE("emulator: bytes that no kernel wrote do not leave the device") {
  const Words words(kThreads);
  std::vector<unsigned> got(kThreads);
  CHECK_THROWS_WITH(emulator::copy_out(got.data(), words.data, kThreads * 4),
                    Catch::Contains("byte 0 of 256 was never written"));
  TERSOR_LAUNCH(reverse, 1, kThreads, 0, nullptr, words.data);
  CHECK_NOTHROW(emulator::copy_out(got.data(), words.data, kThreads * 4));
  CHECK(got[0] == 63);
  CHECK_THROWS_AS(emulator::copy_out(got.data(), words.data + 1, kThreads * 4),
                  emulator::LaunchError);
}

TEST_CASE("emulator: a write outside device memory is refused where asked") {
  const ScopedOptions scope;
  std::vector<unsigned> host(kThreads);
  emulator::options().only_device_memory = true;
  CHECK_THROWS_AS((TERSOR_LAUNCH(reverse, 1, kThreads, 0, nullptr, host.data())),
                  emulator::LaunchError);
}

namespace {
unsigned* written_by_handler = nullptr;
void handle(int) { *written_by_handler = 1; }
__global__ void interrupted(unsigned* out) {
  if (threadIdx.x == 0) raise(SIGUSR1);
  out[threadIdx.x] = 2;
}
}  // namespace

TEST_CASE("emulator: what a signal's handler writes in the midst of a kernel is not the kernel's") {
  const ScopedOptions scope;
  emulator::options().only_device_memory = true;
  std::vector<unsigned> host(1);
  written_by_handler = host.data();
  std::vector<std::byte> memory(1 << 16);
  stack_t own{}, before_stack{};
  own.ss_sp = memory.data();
  own.ss_size = memory.size();
  REQUIRE(sigaltstack(&own, &before_stack) == 0);
  struct sigaction action {
  }, before{};
  action.sa_handler = handle;
  action.sa_flags = SA_ONSTACK;
  REQUIRE(sigaction(SIGUSR1, &action, &before) == 0);
  CHECK(run(interrupted) == "");
  CHECK(host[0] == 1);
  sigaction(SIGUSR1, &before, nullptr);
  sigaltstack(&before_stack, nullptr);
}

namespace {
__global__ void copy_vectors(const uint4* from, uint4* to, unsigned stride) {
  store_vector(to + threadIdx.x, load_vector(from + threadIdx.x * stride));
}
__global__ void bank_conflicts(unsigned* out, unsigned stride) {
  TERSOR_SHARED_ARRAY(unsigned, s, 32 * 32);
  s[threadIdx.x * stride] = threadIdx.x;
  __syncwarp();
  out[threadIdx.x] = s[(threadIdx.x ^ 1u) * stride];
}
}  // namespace

TEST_CASE("emulator: sectors and bank conflicts are counted") {
  const ScopedOptions scope;
  emulator::options().counts = true;
  const Words from(2 * 32 * 4);
  const Words to(32 * 4);
  const std::vector<unsigned> zeros(2 * 32 * 4, 0);
  emulator::copy_in(from.data, zeros.data(), zeros.size() * 4);
  for (const unsigned stride : {1u, 2u}) {
    emulator::reset_counts();
    TERSOR_LAUNCH(copy_vectors, 1, 32, 0, nullptr, reinterpret_cast<const uint4*>(from.data),
                  reinterpret_cast<uint4*>(to.data), stride);
    const emulator::Counts& c = emulator::counts().at("copy_vectors");
    CHECK(c.loads.requests == 1);
    CHECK(c.loads.sectors ==
          16 * stride);  // 32 lanes x 16 bytes = 16 sectors; every other half: 32
    CHECK(c.loads.bytes == 512);
    CHECK(c.stores.sectors == 16);
    CHECK(c.stores.distinct_sectors == 16);
  }
  for (const unsigned stride : {1u, 2u, 32u}) {
    emulator::reset_counts();
    TERSOR_LAUNCH(bank_conflicts, 1, 32, 0, nullptr, to.data, stride);
    const emulator::Counts& c = emulator::counts().at("bank_conflicts");
    CHECK(c.shared_requests == 2);
    CHECK(c.shared_wavefronts == 2 * stride);
  }
}

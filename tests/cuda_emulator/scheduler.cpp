// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <new>

#include "tests/cuda_emulator/internal.hpp"

#if !defined(__x86_64__)
#error "the emulator's fibers are written for x86-64"
#endif

// Saves the callee-saved registers on the old stack and takes those of the new one.
asm(R"(
.text
.globl tersor_emulator_switch
.type tersor_emulator_switch,@function
tersor_emulator_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size tersor_emulator_switch,.-tersor_emulator_switch
)");
extern "C" void tersor_emulator_switch(void** save, void* load);

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace tersor::emulator {

Machine machine;

namespace {

std::vector<char*> stacks;

extern "C" void tersor_emulator_entry() {
  (*machine.body)();
  note_exit(*machine.running);
  to_scheduler();
  __builtin_unreachable();
}

char* stack_of(std::size_t which) {
  while (stacks.size() <= which) {
    void* memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    stacks.push_back(static_cast<char*>(memory));
  }
  return stacks[which];
}

void prepare_stack(Thread& thread, char* stack) {
  thread.stack = stack;
  auto* top = reinterpret_cast<std::uint64_t*>(stack + kStackBytes);
  *--top = 0;  // as after a call: the stack pointer is 8 modulo 16 at entry
  *--top = reinterpret_cast<std::uint64_t>(&tersor_emulator_entry);
  for (int i = 0; i < 6; ++i) *--top = 0;
  thread.stack_pointer = top;
}

/// The blocks of one launch, some of them resident.
class Grid {
 public:
  Grid(Extent grid, Extent block) : grid_(grid), block_(block) {
    const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
    const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
    if (blocks == 0 || threads == 0 || threads > 1024 || grid.x > 0x7FFFFFFFu || grid.y > 65535 ||
        grid.z > 65535)
      throw LaunchError("invalid launch: " + std::to_string(blocks) + " blocks of " +
                        std::to_string(threads) + " threads");
    const std::uint64_t skipped = std::min(machine.options.first_block, blocks - 1);
    order_.resize(blocks - skipped);
    for (std::uint64_t i = skipped; i < blocks; ++i)
      order_[i - skipped] = static_cast<std::uint32_t>(i);
    const Order order = machine.options.order;
    if (order == Order::kReverse) std::reverse(order_.begin(), order_.end());
    if (order == Order::kRandom)
      for (std::uint64_t i = order_.size() - 1; i > 0; --i)
        std::swap(order_[i], order_[next_random() % (i + 1)]);
    machine.threads_per_block = static_cast<unsigned>(threads);
    resident_.resize(std::clamp<std::uint64_t>(machine.options.resident_blocks, 1, order_.size()));
    for (std::size_t slot = 0; slot < resident_.size(); ++slot) start_next(slot);
  }
  ~Grid() {
    for (auto& block : resident_)
      if (block) drop_shared(*block);
  }
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  std::uint64_t blocks() const { return order_.size(); }

  /// Where nothing is ready: replaces finished blocks. False when all are done; a block whose
  /// threads all wait is a deadlock.
  bool refill() {
    bool is_anything_left = false;
    for (std::size_t slot = 0; slot < resident_.size(); ++slot) {
      if (!resident_[slot]) continue;
      Block& block = *resident_[slot];
      if (block.alive > 0) {
        machine.error = deadlock(block);
        return false;
      }
      count_requests(block);
      drop_shared(block);
      if (next_ == order_.size()) {
        resident_[slot].reset();
        continue;
      }
      start_next(slot);
      is_anything_left = true;
    }
    return is_anything_left;
  }

 private:
  void start_next(std::size_t slot) {
    if (!resident_[slot]) resident_[slot] = std::make_unique<Block>();
    Block& block = *resident_[slot];
    const std::uint32_t number = order_[next_++];
    const unsigned threads = machine.threads_per_block;
    block.index = {number % grid_.x, number / grid_.x % grid_.y, number / (grid_.x * grid_.y)};
    block.number = number;
    block.threads.resize(threads);
    block.warps = (threads + kLanes - 1) / kLanes;
    block.alive = threads;
    block.arrived = 0;
    block.votes = 0;
    block.collectives.assign(block.warps, {});
    block.exited.assign(block.warps, 0);
    if (threads % kLanes != 0) block.exited.back() = ~0u << threads % kLanes;
    block.epoch = ++machine.epoch;
    for (unsigned i = 0; i < threads; ++i) {
      Thread& thread = block.threads[i];
      thread.index = {i % block_.x, i / block_.x % block_.y, i / (block_.x * block_.y)};
      thread.linear = i;
      thread.lane = i % kLanes;
      thread.warp = i / kLanes;
      thread.block = &block;
      thread.clock = 1;
      thread.seen.fill(0);
      thread.executions.clear();
      prepare_stack(thread, stack_of(slot * threads + i));
    }
    const bool is_reversed = machine.options.order == Order::kReverse;
    for (unsigned i = 0; i < threads; ++i) wake(block.threads[is_reversed ? threads - 1 - i : i]);
  }

  static void drop_shared(Block& block) {
    for (auto& [key, slot] : block.shared) shared_release(slot.memory);
    block.shared.clear();
  }

  static std::string deadlock(const Block& block) {
    std::string text = "deadlock:";
    int shown = 0;
    for (const Thread& thread : block.threads) {
      if (thread.turn != Turn::kAtBarrier && thread.turn != Turn::kInCollective) continue;
      if (++shown > 4) break;
      text += " [" + text_of(thread) + " waits at " + text_of(thread.site);
      if (thread.turn == Turn::kInCollective) text += ", mask " + std::to_string(thread.mask);
      text += "]";
    }
    return text;
  }

  Extent grid_;
  Extent block_;
  std::vector<std::uint32_t> order_;
  std::size_t next_ = 0;
  std::vector<std::unique_ptr<Block>> resident_;
};

Thread& take_ready() {
  auto& ready = machine.ready;
  std::size_t& head = machine.ready_head;
  if (machine.options.order == Order::kRandom)
    std::swap(ready[head], ready[head + next_random() % (ready.size() - head)]);
  Thread& thread = *ready[head++];
  if (head > 4096 && head * 2 > ready.size()) {
    ready.erase(ready.begin(), ready.begin() + static_cast<std::ptrdiff_t>(head));
    head = 0;
  }
  return thread;
}

void run(Thread& thread) {
  machine.running = &thread;
  machine.is_inside = false;
  threadIdx = thread.index;
  blockIdx = thread.block->index;
  tersor_emulator_switch(&machine.scheduler_stack_pointer, thread.stack_pointer);
  machine.running = nullptr;
}

}  // namespace

Options& options() { return machine.options; }
const std::map<std::string, Counts>& counts() { return machine.counts; }
void reset_counts() { machine.counts.clear(); }
unsigned lane_id() { return machine.running->lane; }

std::uint64_t next_random() {
  machine.random ^= machine.random << 13;
  machine.random ^= machine.random >> 7;
  machine.random ^= machine.random << 17;
  return machine.random;
}

std::string text_of(Site site) { return std::string(site.file) + ":" + std::to_string(site.line); }

std::string text_of(const Thread& thread) {
  return "block " + std::to_string(thread.block->number) + " thread " +
         std::to_string(thread.linear);
}

void to_scheduler() {
  tersor_emulator_switch(&machine.running->stack_pointer, machine.scheduler_stack_pointer);
}

void wake(Thread& thread) {
  machine.idle_turns = 0;
  thread.turn = Turn::kReady;
  machine.ready.push_back(&thread);
}

void fail(std::string what) {
  if (machine.running == nullptr) throw LaunchError(what);
  if (machine.error.empty()) machine.error.swap(what);
  std::string().swap(what);  // the fiber never comes back: it may own no memory
  to_scheduler();
  __builtin_unreachable();
}

void yield() {
  const Inside inside;
  Thread& thread = *machine.running;
  if (++machine.idle_turns > machine.options.livelock_yields)
    fail("livelock: " + text_of(thread) + " spins and nothing it waits for can run");
  machine.ready.push_back(&thread);
  to_scheduler();
}

void launch(const std::string& kernel, Extent grid, Extent block, std::size_t shared_bytes,
            const std::function<void()>& body) {
  if (machine.running != nullptr) fail("a launch inside a launch");
  machine.body = &body;
  machine.random = machine.options.seed * 0x9E3779B97F4A7C15u | 1u;
  machine.error.clear();
  machine.dynamic_bytes = shared_bytes;
  machine.launch_epoch = ++machine.epoch;
  machine.ready.clear();
  machine.ready_head = 0;
  machine.idle_turns = 0;
  machine.loaded_sectors.clear();
  machine.stored_sectors.clear();
  machine.kernel_counts = &machine.counts[kernel];
  blockDim = dim3(block.x, block.y, block.z);
  gridDim = dim3(grid.x, grid.y, grid.z);
  Grid blocks(grid, block);
  while (machine.error.empty()) {
    if (machine.ready_head < machine.ready.size()) {
      run(take_ready());
      continue;
    }
    machine.ready.clear();
    machine.ready_head = 0;
    if (!blocks.refill()) break;
  }
  if (!machine.error.empty()) throw LaunchError(kernel + ": " + machine.error);
  ++machine.kernel_counts->launches;
  machine.kernel_counts->blocks += blocks.blocks();
  count_distinct_sectors();
}

}  // namespace tersor::emulator

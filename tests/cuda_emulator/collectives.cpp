// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/cuda_emulator/internal.hpp"

namespace tersor::emulator {
namespace {

bool is_same(Site a, Site b) { return a.line == b.line; }

std::uint64_t combine(std::uint64_t sum, std::uint64_t value, WarpOp op) {
  switch (op) {
    case WarpOp::kAdd: return sum + value;
    case WarpOp::kMax: return std::max(sum, value);
    case WarpOp::kMin: return std::min(sum, value);
    case WarpOp::kOr: return sum | value;
    case WarpOp::kAnd: return sum & value;
    default: return 0;
  }
}

template <class Visit>
void for_each_lane(unsigned lanes, Visit visit) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if ((lanes >> lane & 1u) != 0) visit(lane);
}

/// __syncwarp: each lane has seen what the others did before it.
void join_clocks(Block& block, unsigned warp, unsigned lanes) {
  std::array<std::uint32_t, kLanes> joined{};
  for_each_lane(lanes, [&](unsigned lane) {
    Thread& thread = block.threads[warp * kLanes + lane];
    thread.seen[lane] = thread.clock;
    for (unsigned i = 0; i < kLanes; ++i) joined[i] = std::max(joined[i], thread.seen[i]);
  });
  for_each_lane(lanes, [&](unsigned lane) {
    Thread& thread = block.threads[warp * kLanes + lane];
    thread.seen = joined;
    ++thread.clock;
  });
}

/// What every lane of the group gets; of a shuffle and a match each lane gets its own.
std::uint64_t joint_result(const Collective& group) {
  unsigned ballot = 0;
  std::uint64_t sum = 0;
  bool is_first = true;
  for_each_lane(group.arrived, [&](unsigned lane) {
    const std::uint64_t value = group.values[lane];
    if (value != 0) ballot |= 1u << lane;
    sum = is_first ? value : combine(sum, value, group.op);
    is_first = false;
  });
  switch (group.op) {
    case WarpOp::kSync: return 0;
    case WarpOp::kBallot: return ballot;
    case WarpOp::kAny: return ballot != 0;
    case WarpOp::kAll: return ballot == group.arrived;
    default: return static_cast<std::uint32_t>(sum);
  }
}

std::uint64_t lanes_with(const Collective& group, std::uint64_t value) {
  unsigned matching = 0;
  for_each_lane(group.arrived, [&](unsigned lane) {
    if (group.values[lane] == value) matching |= 1u << lane;
  });
  return matching;
}

void finish(Block& block, unsigned warp, const Collective& group) {
  if (group.op == WarpOp::kSync) join_clocks(block, warp, group.arrived);
  const std::uint64_t joint = joint_result(group);
  for_each_lane(group.arrived, [&](unsigned lane) {
    Thread& thread = block.threads[warp * kLanes + lane];
    const unsigned source = static_cast<unsigned>(group.sources[lane]) % kLanes;
    if (group.op == WarpOp::kShuffle && (group.arrived >> source & 1u) == 0) {
      if (machine.error.empty())
        machine.error = "shuffle at " + text_of(group.site) + ": " + text_of(thread) +
                        " reads lane " + std::to_string(source) +
                        ", which is not in the mask or has exited";
      return;
    }
    thread.result = joint;
    if (group.op == WarpOp::kShuffle) thread.result = group.values[source];
    if (group.op == WarpOp::kMatchAny) thread.result = lanes_with(group, group.values[lane]);
    wake(thread);
  });
}

}  // namespace

void release_barrier(Block& block) {
  int result = block.votes;
  if (block.kind == Barrier::kAnd) result = block.votes == static_cast<int>(block.arrived);
  if (block.kind == Barrier::kOr) result = block.votes > 0;
  block.arrived = 0;
  block.votes = 0;
  block.epoch = ++machine.epoch;
  for (Thread& thread : block.threads) {
    if (thread.turn != Turn::kAtBarrier) continue;
    thread.result = static_cast<std::uint64_t>(result);
    wake(thread);
  }
}

void finish_collectives(Block& block, unsigned warp) {
  auto& groups = block.collectives[warp];
  for (std::size_t i = 0; i < groups.size();) {
    const unsigned needed = groups[i].mask & ~block.exited[warp];
    if (groups[i].arrived == 0 || (groups[i].arrived & needed) != needed) {
      ++i;
      continue;
    }
    const Collective group = groups[i];
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(i));
    finish(block, warp, group);
  }
}

void note_exit(Thread& thread) {
  Block& block = *thread.block;
  thread.turn = Turn::kDone;
  machine.idle_turns = 0;
  --block.alive;
  block.exited[thread.warp] |= 1u << thread.lane;
  finish_collectives(block, thread.warp);
  if (block.arrived == 0 || block.arrived < block.alive) return;
  if (machine.error.empty())
    machine.error = "__syncthreads at " + text_of(block.site) + " is not reached by " +
                    text_of(thread) + ", which exited";
}

int block_barrier(Barrier kind, int predicate, Site site) {
  const Inside inside;
  Thread& thread = *machine.running;
  Block& block = *thread.block;
  if (block.alive < block.threads.size())
    fail("__syncthreads at " + text_of(site) + ": threads of the block have exited before it");
  if (block.arrived == 0) {
    block.kind = kind;
    block.site = site;
  } else if (kind != block.kind || !is_same(site, block.site)) {
    fail("divergent __syncthreads: " + text_of(thread) + " at " + text_of(site) + ", others at " +
         text_of(block.site));
  }
  thread.site = site;
  thread.turn = Turn::kAtBarrier;
  if (predicate != 0) ++block.votes;
  if (++block.arrived == block.alive) release_barrier(block);
  to_scheduler();
  return static_cast<int>(thread.result);
}

std::uint64_t warp_op(WarpOp op, unsigned mask, std::uint64_t value, int source, Site site) {
  const Inside inside;
  Thread& thread = *machine.running;
  Block& block = *thread.block;
  if ((mask >> thread.lane & 1u) == 0)
    fail("warp collective at " + text_of(site) + ": " + text_of(thread) +
         " is not in its own mask");
  auto& groups = block.collectives[thread.warp];
  auto group = std::find_if(groups.begin(), groups.end(), [&](const Collective& g) {
    return g.mask == mask && (g.arrived >> thread.lane & 1u) == 0;
  });
  if (group == groups.end()) {
    groups.emplace_back();
    group = groups.end() - 1;
    group->op = op;
    group->mask = mask;
    group->site = site;
  } else if (group->op != op || !is_same(site, group->site)) {
    fail("divergent warp collective: " + text_of(thread) + " at " + text_of(site) + ", others at " +
         text_of(group->site));
  }
  group->arrived |= 1u << thread.lane;
  group->values[thread.lane] = value;
  group->sources[thread.lane] = source;
  thread.site = site;
  thread.mask = mask;
  thread.turn = Turn::kInCollective;
  finish_collectives(block, thread.warp);
  to_scheduler();
  return thread.result;
}

}  // namespace tersor::emulator

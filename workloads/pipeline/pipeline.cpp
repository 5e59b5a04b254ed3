// SPDX-License-Identifier: Apache-2.0
#include "workloads/pipeline/pipeline.hpp"

#include <map>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "workloads/layers/operators.hpp"

namespace tersor::workloads {

/// Where one stage is in a step.
struct Pipeline::Progress {
  struct InFlight {
    Activations in, out;
  };
  int stage = 0;
  std::vector<Action> actions;
  std::size_t next = 0;
  std::int64_t forwards = 0, backwards = 0;  ///< done
  std::map<std::int64_t, InFlight> in_flight{};

  bool is_done() const { return next == actions.size(); }
  const Action& action() const { return actions[next]; }
};

Pipeline::Pipeline(std::vector<StageProgram> programs, int stages, bool overlaps)
    : programs_(std::move(programs)), stages_(stages), overlaps_(overlaps) {}

/// A process with one stage waits for its peers; one with all of them takes what has arrived.
bool Pipeline::is_ready(const Progress& progress, const std::vector<Progress>& all) const {
  if (std::ssize(all) != stages_) return true;
  const Action& action = progress.action();
  if (action.kind == Action::Kind::kForward)
    return progress.stage == 0 ||
           all[static_cast<std::size_t>(progress.stage - 1)].forwards > action.micro_batch;
  return progress.stage == stages_ - 1 ||
         all[static_cast<std::size_t>(progress.stage + 1)].backwards > action.micro_batch;
}

PipelineTimes Pipeline::run(const PipelineSchedule& schedule, const std::vector<Pass>& passes,
                            const std::function<bool()>& stops) {
  std::vector<Progress> all;
  for (const StageProgram& program : programs_)
    all.push_back({.stage = program.stage,
                   .actions = schedule.actions(program.stage, stages_, std::ssize(passes))});
  const bool can_stop = std::ssize(programs_) == stages_;
  PipelineTimes times;
  for (bool is_done = false, moved = true; !is_done;) {
    TERSOR_CHECK(moved, "the stages of schedule " + schedule.name + " wait for each other");
    is_done = true, moved = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].is_done() && is_ready(all[i], all)) {
        run_action(programs_[i], all[i], passes, times);
        moved = true;
        if (can_stop && stops()) return times;
      }
      is_done = is_done && all[i].is_done();
    }
  }
  finish();
  return times;
}

void Pipeline::run_action(const StageProgram& program, Progress& progress,
                          const std::vector<Pass>& passes, PipelineTimes& times) {
  const Action action = progress.actions[progress.next++];
  const Pass& pass = passes[static_cast<std::size_t>(action.micro_batch)];
  StageBoundaries& at = program.boundaries;
  const std::int64_t start = steady_ns(), excluded = program.ledger.excluded_ns();
  Waiting waiting;
  const std::size_t parts = program.parts(*pass);
  Progress::InFlight& own = progress.in_flight[action.micro_batch];
  const bool is_forward = action.kind == Action::Kind::kForward;
  std::vector<at::Tensor> gradients;
  if (is_forward && !at.is_first()) {
    own.in = at.receive(program.in_shape(action.micro_batch), parts, *pass, waiting);
    for (at::Tensor& part : own.in.parts) part.set_requires_grad(true);
  }
  if (!is_forward && !at.is_last()) gradients = at.receive_gradients(own.out, *pass, waiting);
  // A stage may be sent to by both neighbours while it sends to them: it waits for its own messages
  // only when it has theirs.
  if (!overlaps_) at.finish_sends();
  if (overlaps_ && !progress.is_done()) expect_next(program, progress, passes);
  if (is_forward) {
    own.out = program.forward(action.micro_batch, own.in);
    if (!at.is_last()) at.send(own.out, *pass);
    ++progress.forwards;
  } else {
    backward(own.out.parts, gradients);
    if (!at.is_first()) at.send_gradients(own.in, *pass);
    progress.in_flight.erase(action.micro_batch);
    ++progress.backwards;
  }
  const std::int64_t spent =
      steady_ns() - start - waiting.idle_ns - (program.ledger.excluded_ns() - excluded);
  (is_forward ? times.forward : times.backward) += spent;
  times.bubble += waiting.idle_ns;
}

/// Of a forward that has not come yet the shape is known beforehand, of its backward it is not.
void Pipeline::expect_next(const StageProgram& program, const Progress& progress,
                           const std::vector<Pass>& passes) const {
  StageBoundaries& at = program.boundaries;
  const Action& next = progress.action();
  const PassContext& pass = *passes[static_cast<std::size_t>(next.micro_batch)];
  if (next.kind == Action::Kind::kForward) {
    if (!at.is_first())
      at.expect_activations(program.in_shape(next.micro_batch), program.parts(pass), pass);
  } else if (!at.is_last()) {
    const auto found = progress.in_flight.find(next.micro_batch);
    if (found != progress.in_flight.end() && !found->second.out.parts.empty())
      at.expect_gradients(found->second.out, pass);
  }
}

Activations Pipeline::forward(const Pass& pass) {
  Activations x;
  for (const StageProgram& program : programs_) {
    StageBoundaries& at = program.boundaries;
    Waiting waiting;
    if (!at.is_first()) x = at.receive(program.in_shape(0), program.parts(*pass), *pass, waiting);
    // Two messages on their way: a slow stage holds back those before it.
    at.finish_sends(1);
    x = program.forward(0, x);
    if (at.is_last()) return x;
    at.send(x, *pass);
  }
  return {};
}

void Pipeline::finish() {
  for (const StageProgram& program : programs_) program.boundaries.finish_sends();
}

}  // namespace tersor::workloads

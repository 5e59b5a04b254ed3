// SPDX-License-Identifier: Apache-2.0
#include "workloads/worker/spool.hpp"

#include <string>
#include <utility>
#include <variant>

#include "common/clock.hpp"
#include "common/error.hpp"

namespace tersor::workloads {
namespace {

std::filesystem::path file_in(const std::filesystem::path& folder, int rank) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Error(ErrorKind::kIo,
                "spool folder " + folder.string() + " cannot be made: " + error.message());
  return folder / ("rank" + std::to_string(rank) + ".jsonl");
}

}  // namespace

Spool::Spool(const std::filesystem::path& folder, int rank)
    : lines_(file_in(folder, rank)), start_ns_(steady_ns()) {}

void Spool::set_bare_start(protocol::Start start) {
  const std::lock_guard lock(mutex_);
  bare_start_ = std::move(start);
}

void Spool::write(const protocol::Record& record) {
  const std::lock_guard lock(mutex_);
  if (is_ended_) return;
  if (std::holds_alternative<protocol::Start>(record)) is_started_ = true;
  if (std::holds_alternative<protocol::Step>(record)) ++steps_;
  write_line(record);
}

void Spool::write_line(const protocol::Record& record) {
  lines_.write(to_json(record));
  ++records_;
}

void Spool::end(protocol::End end) {
  const std::lock_guard lock(mutex_);
  if (is_ended_) return;
  is_ended_ = true;
  if (!is_started_ && bare_start_) write_line(*bare_start_);
  end.wall_ns = steady_ns() - start_ns_;
  end.steps = steps_;
  end.records = records_;
  write_line(end);
}

}  // namespace tersor::workloads

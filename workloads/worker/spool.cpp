// SPDX-License-Identifier: Apache-2.0
#include "workloads/worker/spool.hpp"

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

void Spool::set_bare_start(nlohmann::ordered_json start) {
  const std::lock_guard lock(mutex_);
  bare_start_ = std::move(start);
}

void Spool::write(const nlohmann::ordered_json& record) {
  const std::lock_guard lock(mutex_);
  if (is_ended_) return;
  const auto type = record.find("type");
  if (type != record.end() && *type == "start") is_started_ = true;
  if (type != record.end() && *type == "step") ++steps_;
  lines_.write(record);
}

void Spool::end(const Ending& ending) {
  const std::lock_guard lock(mutex_);
  if (is_ended_) return;
  is_ended_ = true;
  if (!is_started_ && !bare_start_.is_null()) lines_.write(bare_start_);
  nlohmann::ordered_json record{{"type", "end"},
                                {"status", ending.status},
                                {"reason", ending.reason},
                                {"wall_ns", steady_ns() - start_ns_},
                                {"steps", steps_}};
  if (!ending.checksum.empty()) record["checksum"] = ending.checksum;
  lines_.write(record);
}

}  // namespace tersor::workloads

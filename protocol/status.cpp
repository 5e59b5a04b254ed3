// SPDX-License-Identifier: Apache-2.0
#include "protocol/status.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "common/error.hpp"

namespace tersor::protocol {
namespace {

constexpr std::array<std::string_view, 9> kStatuses{
    "planned", "running", "ok", "failed", "diverged", "timeout", "oom", "skipped", "infeasible"};
static_assert(kStatuses.size() == static_cast<std::size_t>(Status::kInfeasible) + 1);

constexpr std::array<std::string_view, 14> kCauses{"none",
                                                   "interrupted",
                                                   "lost_peer",
                                                   "stalled",
                                                   "time_limit",
                                                   "out_of_memory_host",
                                                   "out_of_memory_device",
                                                   "refused",
                                                   "non_finite",
                                                   "fail_fast",
                                                   "killed",
                                                   "system",
                                                   "defect",
                                                   "unknown"};
static_assert(kCauses.size() == static_cast<std::size_t>(Cause::kUnknown) + 1);

template <typename Value>
Value parse(std::string_view text, const char* what, std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<Value>(found - names.begin());
  std::string list;
  for (const std::string_view name : names) list.append(list.empty() ? "" : ", ").append(name);
  throw Error(ErrorKind::kData,
              std::string(what) + " '" + std::string(text) + "' is none of " + list);
}

}  // namespace

std::string_view to_string(Status status) { return kStatuses.at(static_cast<std::size_t>(status)); }
std::string_view to_string(Cause cause) { return kCauses.at(static_cast<std::size_t>(cause)); }

Status parse_status(std::string_view text) { return parse<Status>(text, "status", kStatuses); }
Cause parse_cause(std::string_view text) { return parse<Cause>(text, "cause", kCauses); }

std::span<const std::string_view> status_names() { return kStatuses; }
std::span<const std::string_view> cause_names() { return kCauses; }

Cause usual_cause(Status status) {
  switch (status) {
    case Status::kPlanned:
    case Status::kRunning:
    case Status::kOk: return Cause::kNone;
    case Status::kDiverged: return Cause::kNonFinite;
    case Status::kTimeout: return Cause::kTimeLimit;
    case Status::kOom: return Cause::kOutOfMemoryHost;
    case Status::kSkipped: return Cause::kFailFast;
    case Status::kInfeasible: return Cause::kRefused;
    case Status::kFailed: return Cause::kUnknown;
  }
  return Cause::kUnknown;
}

}  // namespace tersor::protocol

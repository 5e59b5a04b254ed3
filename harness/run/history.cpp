// SPDX-License-Identifier: Apache-2.0
#include "harness/run/history.hpp"

#include <system_error>
#include <variant>

#include "results/query/reader.hpp"

namespace tersor::harness {
namespace {

std::string run_name(const std::string& cell_key, std::uint64_t seed) {
  return cell_key + " " + std::to_string(seed);
}

template <typename T>
const T& as(const results::Value& value) {
  return std::get<T>(value);
}

}  // namespace

History::History(const std::filesystem::path& database) {
  std::error_code ignored;
  if (!std::filesystem::exists(database, ignored)) return;
  results::Reader reader(database);
  const auto found = reader.query(
      "SELECT c.cell_key, r.seed, r.status, r.attempt, r.reason, r.wall_ns, r.cause, "
      "c.model || ' ' || c.dataset || ' ' || c.hardware "
      "FROM v_deciding d JOIN run r ON r.id = d.run_id JOIN cell c ON c.id = r.cell_id");
  for (const auto& row : found.rows) {
    const auto& key = as<std::string>(row[0]);
    const auto seed = static_cast<std::uint64_t>(as<std::int64_t>(row[1]));
    const auto status = protocol::parse_status(as<std::string>(row[2]));
    past_[run_name(key, seed)] = {status, protocol::parse_cause(as<std::string>(row[6])),
                                  static_cast<int>(as<std::int64_t>(row[3])),
                                  as<std::string>(row[4])};
    if (status == protocol::Status::kOk && !results::is_null(row[5]))
      add(key, as<std::string>(row[7]), static_cast<double>(as<std::int64_t>(row[5])) / 1e9);
  }
}

const History::Past* History::find(const std::string& cell_key, std::uint64_t seed) const {
  const auto found = past_.find(run_name(cell_key, seed));
  return found == past_.end() ? nullptr : &found->second;
}

std::optional<double> History::seconds(const std::string& cell_key,
                                       const protocol::Cell& cell) const {
  for (const std::string& name : {cell_key, kind_of(cell)})
    if (const auto found = times_.find(name); found != times_.end())
      return found->second.sum / found->second.count;
  return std::nullopt;
}

std::optional<double> History::kind_seconds(const std::string& kind) const {
  for (const std::string& name : {kind, std::string()})
    if (const auto found = times_.find(name); found != times_.end())
      return found->second.sum / found->second.count;
  return std::nullopt;
}

void History::add_seconds(const std::string& cell_key, const protocol::Cell& cell, double seconds) {
  add(cell_key, kind_of(cell), seconds);
}

void History::add(const std::string& key, const std::string& kind, double seconds) {
  for (const std::string& name : {key, kind, std::string()}) {
    times_[name].sum += seconds;
    ++times_[name].count;
  }
}

std::string History::kind_of(const protocol::Cell& cell) {
  return cell.model.name + " " + cell.data.name + " " + cell.hardware.name;
}

}  // namespace tersor::harness

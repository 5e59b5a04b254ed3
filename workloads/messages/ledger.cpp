// SPDX-License-Identifier: Apache-2.0
#include "workloads/messages/ledger.hpp"

namespace tersor::workloads {

std::string SiteIdentity::full_name() const {
  return direction == compressors::Direction::kForward ? name : name + ".backward";
}

TrafficRow& Ledger::Account::row(const Entry& entry) {
  TrafficRow& row = rows_[{entry.phase, entry.level, entry.collective, entry.is_compressed}];
  if (row.calls == 0) {
    row.site = site_;
    row.entry = entry;
    row.spec = entry.is_compressed ? spec_ : "none";
  }
  return row;
}

void Ledger::Account::add(const Entry& entry, const Round& round, std::uint64_t raw_bytes) {
  TrafficRow& at = row(entry);
  ++at.calls;
  at.raw_bytes += raw_bytes;
  at.payload_bytes += round.payload_bytes;
  at.metadata_bytes += round.metadata_bytes;
  at.wire_bytes += round.volume.wire_bytes;
  at.input_bytes += round.volume.input_bytes;
  at.wire_bytes_at += round.wire_bytes_at;
  add(entry, round.spent);
}

void Ledger::Account::add(const Entry& entry, const Durations& spent) {
  row(entry).ns += spent;
  ledger_.step_ += spent;
}

Ledger::Account& Ledger::open(SiteIdentity site, std::string spec) {
  return accounts_.emplace_back(*this, std::move(site), std::move(spec));
}

std::vector<TrafficRow> Ledger::rows() const {
  std::vector<TrafficRow> rows;
  for (const Account& account : accounts_)
    for (const auto& [key, row] : account.rows_) rows.push_back(row);
  return rows;
}

void Ledger::start_step() {
  step_ = {};
  excluded_ns_ = 0;
}

}  // namespace tersor::workloads

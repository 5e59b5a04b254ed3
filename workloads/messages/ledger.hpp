// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "common/tensor.hpp"
#include "compressors/api/codec.hpp"
#include "workloads/comm/collective.hpp"
#include "workloads/messages/durations.hpp"
#include "workloads/messages/messenger.hpp"

namespace tersor::workloads {

/// Who a site is, in random streams, in records and in the cell's `compressor`.
struct SiteIdentity {
  std::string kind;          ///< "tp" or "tp.backward"
  std::string name;          ///< e.g. "layer3.attention"
  std::uint16_t number = 0;  ///< site_numbers.hpp
  compressors::Direction direction = compressors::Direction::kForward;

  /// Gradients end in `.backward`.
  std::string full_name() const;
};

/// What an exchange counts as. Those that agree share a row of the ledger.
struct Entry {
  compressors::Phase phase = compressors::Phase::kTrain;
  compressors::GroupLevel level = compressors::GroupLevel::kAll;
  CollectiveKind collective = CollectiveKind::kAllReduce;
  bool is_compressed = false;
  DType dtype = DType::kFloat32;
};

/// Sums over the calls of one site and entry, for the process's first rank; times of all its ranks.
struct TrafficRow {
  SiteIdentity site;
  Entry entry;
  std::string spec;  ///< `none` where it was not compressed
  std::uint64_t calls = 0;
  std::uint64_t raw_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t metadata_bytes = 0;
  std::uint64_t wire_bytes = 0;
  std::uint64_t input_bytes = 0;
  WireBytesAt wire_bytes_at = WireBytesAt::zero();
  Durations ns;
};

/// Bytes and times of the messages of one process. Not thread-safe.
class Ledger {
 public:
  /// The rows of one site.
  class Account {
   public:
    Account(Ledger& ledger, SiteIdentity site, std::string spec)
        : ledger_(ledger), site_(std::move(site)), spec_(std::move(spec)) {}

    /// One call: a round of a message of `raw_bytes` (0 where another round counts them).
    void add(const Entry& entry, const Round& round, std::uint64_t raw_bytes);
    /// Time alone.
    void add(const Entry& entry, const Durations& spent);

   private:
    friend class Ledger;
    TrafficRow& row(const Entry& entry);

    Ledger& ledger_;
    SiteIdentity site_;
    std::string spec_;
    std::map<std::tuple<compressors::Phase, compressors::GroupLevel, CollectiveKind, bool>,
             TrafficRow>
        rows_;
  };

  /// Valid as long as the ledger. `spec` is what compressed messages are recorded as.
  Account& open(SiteIdentity site, std::string spec);
  /// All rows, by site in the order of opening.
  std::vector<TrafficRow> rows() const;

  /// Times since start_step().
  void start_step();
  const Durations& step() const { return step_; }
  std::int64_t excluded_ns() const { return excluded_ns_; }
  /// Its scope is left out of the step's time: samples and copies that are no part of the job.
  Timer exclude() { return Timer(excluded_ns_); }

 private:
  std::deque<Account> accounts_;
  Durations step_;
  std::int64_t excluded_ns_ = 0;
};

}  // namespace tersor::workloads

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "compressors/api/codec.hpp"
#include "workloads/comm/collective.hpp"
#include "workloads/messages/ledger.hpp"
#include "workloads/messages/rank_groups.hpp"
#include "workloads/messages/site.hpp"

namespace tersor::workloads {

/// The tensor-parallel group of a job: its ranks, its sites, and what their messages cost. Not
/// thread-safe; one per process.
class TensorParallel {
 public:
  /// `collective` outlives it; `nodes` divides its ranks. `has_loopback`: codecs are on at one rank
  /// too.
  TensorParallel(Collective& collective, std::uint64_t seed, bool has_loopback, int threads,
                 int nodes = 1);

  Collective& collective() { return groups_.all(); }
  int ranks() const { return groups_.all().ranks(); }
  int first_rank() const { return groups_.all().first_rank(); }
  std::size_t locals() const { return static_cast<std::size_t>(groups_.all().local_ranks()); }
  /// What the process groups of the first local rank were handed.
  std::uint64_t input_bytes() const { return groups_.input_bytes(); }
  std::uint64_t seed() const { return host_.seed; }
  bool has_codecs() const { return host_.has_codecs; }
  Ledger& ledger() { return ledger_; }

  /// `codec` null: dense. The site lives as long as the group.
  Site& add_site(SiteIdentity identity, std::shared_ptr<const compressors::Codec> codec);
  const std::deque<Site>& sites() const { return sites_; }
  /// Sites with a codec, by kind ("tp", "tp.backward"); none where codecs are off.
  std::int64_t compressed_sites(std::string_view kind) const;
  std::vector<TrafficRow> traffic() const { return ledger_.rows(); }
  std::uint64_t codec_state_bytes() const;

 private:
  RankGroups groups_;
  Ledger ledger_;
  SiteHost host_;
  std::deque<Site> sites_;
};

}  // namespace tersor::workloads

// SPDX-License-Identifier: Apache-2.0
#include "workloads/messages/tensor_parallel.hpp"

namespace tersor::workloads {

TensorParallel::TensorParallel(Collective& collective, std::uint64_t seed, bool has_loopback,
                               int threads, int nodes)
    : groups_(collective, nodes),
      host_{groups_, ledger_, seed, groups_.all().ranks() > 1 || has_loopback, threads} {}

Site& TensorParallel::add_site(SiteIdentity identity,
                               std::shared_ptr<const compressors::Codec> codec) {
  return sites_.emplace_back(host_, std::move(identity), std::move(codec));
}

std::int64_t TensorParallel::compressed_sites(std::string_view kind) const {
  std::int64_t count = 0;
  for (const Site& site : sites_) count += site.codec() && site.identity().kind == kind;
  return has_codecs() ? count : 0;
}

std::uint64_t TensorParallel::codec_state_bytes() const {
  std::uint64_t bytes = 0;
  for (const Site& site : sites_) bytes += site.state_bytes();
  return bytes;
}

}  // namespace tersor::workloads

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>

#include "compressors/api/codec.hpp"
#include "workloads/comm/collective.hpp"
#include "workloads/messages/ledger.hpp"
#include "workloads/messages/messenger.hpp"
#include "workloads/messages/pass.hpp"

namespace tersor::workloads {

/// Measures, where a pass asks for it, what compression did to a message and to the sum at a site
/// (METHODS section 2, last paragraph). Its time and its collectives are left out of the ledger.
class ErrorSampler {
 public:
  /// Both outlive it.
  ErrorSampler(Collective& ranks, Ledger& ledger) : ranks_(ranks), ledger_(ledger) {}

  /// Compares `out` with the exact sum of the contributions, which are still as they were handed
  /// in. Where one encode and decode shows the whole way of a message, rank 0 compares its own too:
  /// `codec` is null where it does not (a learned codec). All ranks call it.
  void sample(const PassContext& pass, const SiteIdentity& site, const Message& message,
              std::span<const std::byte> out, const compressors::Codec* codec,
              const compressors::Context& context) const;

 private:
  void sample_message(const compressors::Codec& codec, compressors::Context context,
                      const Message& message, ErrorSample& sample) const;

  Collective& ranks_;
  Ledger& ledger_;
};

}  // namespace tersor::workloads

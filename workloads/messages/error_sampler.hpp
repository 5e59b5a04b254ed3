// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

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
  /// What a message needs to be encoded again when its own way is over.
  struct Before {
    const compressors::Codec* codec = nullptr;  ///< null: no_message says why
    compressors::Context context{};
    std::optional<std::vector<std::byte>> state{};  ///< of rank 0, of codecs that have one
    std::string no_message{};
  };

  /// Both outlive it.
  ErrorSampler(Collective& ranks, Ledger& ledger) : ranks_(ranks), ledger_(ledger) {}

  /// Before a message is sent. `state`: that of the first local rank, or null.
  Before remember(const PassContext& pass, const compressors::Codec& codec,
                  const compressors::Context& context, const compressors::State* state) const;

  /// Compares `out` with the exact sum of the contributions, which are still as they were handed
  /// in, and what a receiver gets of rank 0's message with what rank 0 handed in. All ranks call
  /// it.
  void sample(const PassContext& pass, const SiteIdentity& site, const Message& message,
              std::span<const std::byte> out, const Before& before) const;

 private:
  void sample_message(const Before& before, const Message& message, ErrorSample& sample) const;

  Collective& ranks_;
  Ledger& ledger_;
};

}  // namespace tersor::workloads

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/tensor.hpp"
#include "compressors/api/codec.hpp"

namespace tersor::workloads {

/// One message of rank 0, as its receivers get it, and the sum at the site against their
/// uncompressed values; NaN where undefined.
struct ErrorSample {
  std::uint32_t step = 0;
  std::uint16_t site = 0;
  std::string site_name;
  double message_relative_l2 = 0;
  double message_cosine = 0;
  std::string no_message{};  ///< why there is no error of one message; empty: there is
  double sum_relative_l2 = 0;
  double sum_cosine = 0;
};

/// What rank 0 handed over at a site.
struct StoredMessage {
  std::string site_name;  ///< gradients end in `.backward`
  Shape shape;
  DType dtype = DType::kFloat32;
  std::vector<std::byte> bits;
};

/// Takes what a pass asks to record of its messages. Called on the thread that runs the pass.
class MessageRecorder {
 public:
  virtual ~MessageRecorder() = default;
  virtual void record(ErrorSample sample) = 0;
  virtual void record(StoredMessage message) = 0;
};

/// One forward and the backward that belongs to it: what all their messages have in common. It is
/// a value: made for each forward, handed down through the model, kept by the autograd nodes that
/// need it again, so that several micro-batches may be in flight.
struct PassContext {
  compressors::Phase phase = compressors::Phase::kTrain;
  std::uint32_t step = 0;
  std::uint16_t call = 0;  ///< micro-batch of the step; batch of an evaluation
  bool compress = true;    ///< false: warm-up, or evaluation with compression off
  /// One per sample. Owned: a backward may come when its batch is gone.
  std::vector<std::int64_t> sample_ids{};
  bool samples_errors = false;   ///< the same on all ranks, since a sample is a collective
  bool stores_messages = false;  ///< copies of what rank 0 hands over
  std::shared_ptr<MessageRecorder> recorder{};  ///< set where one of the above is
};
using Pass = std::shared_ptr<const PassContext>;

inline Pass make_pass(PassContext context) {
  return std::make_shared<const PassContext>(std::move(context));
}

/// Calls that a step, or one evaluation, can count: random streams have 16 bits for them.
inline constexpr std::int64_t kMaxCalls = 65536;
/// Throws Error(kUsage) where `index` is not in [0, kMaxCalls).
std::uint16_t pass_call(std::int64_t index);

}  // namespace tersor::workloads

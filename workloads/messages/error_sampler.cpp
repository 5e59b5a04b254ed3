// SPDX-License-Identifier: Apache-2.0
#include "workloads/messages/error_sampler.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace tersor::workloads {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

struct Distance {
  double relative_l2 = kUndefined;
  double cosine = kUndefined;
};

Distance distance(std::span<const float> value, std::span<const float> reference) {
  double error = 0, dot = 0, value_square = 0, reference_square = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const double v = value[i], r = reference[i];
    error += (v - r) * (v - r);
    dot += v * r;
    value_square += v * v;
    reference_square += r * r;
  }
  Distance result;
  if (reference_square > 0) result.relative_l2 = std::sqrt(error / reference_square);
  if (value_square > 0 && reference_square > 0)
    result.cosine = dot / std::sqrt(value_square * reference_square);
  return result;
}

/// Why no payload of one rank shows what its receivers get; empty: one does.
std::string no_single_message(const compressors::Codec& codec) {
  if (codec.topology().size() > 1) return "the sum goes by several stages";
  if (codec.rounds() > 1)
    return "a message takes " + std::to_string(codec.rounds()) +
           " rounds, and what a rank receives depends on all ranks";
  return {};
}

}  // namespace

ErrorSampler::Before ErrorSampler::remember(const PassContext& pass,
                                            const compressors::Codec& codec,
                                            const compressors::Context& context,
                                            const compressors::State* state) const {
  Before before;
  before.no_message = no_single_message(codec);
  if (!pass.samples_errors || ranks_.first_rank() != 0 || !before.no_message.empty()) return before;
  const Timer timer = ledger_.exclude();
  before.codec = &codec;
  before.context = context;
  if (state) before.state = state->save();
  return before;
}

/// A reduced payload overwrote the message, and a state has moved on: encodes again from what was,
/// which draws the same numbers, and decodes as a receiver does.
void ErrorSampler::sample_message(const Before& before, const Message& message,
                                  ErrorSample& sample) const {
  const compressors::Codec& codec = *before.codec;
  const auto count = static_cast<std::size_t>(message.shape.elements());
  std::vector<float> decoded(count), input(count);
  compressors::widen(message.dtype, message.contributions[0].data(), input);
  compressors::Context context = before.context;
  context.ranks = static_cast<std::uint32_t>(ranks_.ranks());
  context.local_input = {message.contributions[0].data(), message.shape, message.dtype};
  const auto state = codec.make_state(message.shape, message.dtype, context.ranks);
  if (before.state) state->restore(*before.state);
  std::vector<std::byte> payload(
      codec.payload_bytes(message.shape, message.dtype, context, 0, state.get()));
  payload.resize(codec.encode(0, context.local_input, payload, state.get(), context));
  codec.decode(payload, message.shape, message.dtype, decoded, state.get(), context);
  const Distance found = distance(decoded, input);
  sample.message_relative_l2 = found.relative_l2;
  sample.message_cosine = found.cosine;
}

void ErrorSampler::sample(const PassContext& pass, const SiteIdentity& site, const Message& message,
                          std::span<const std::byte> out, const Before& before) const {
  if (!pass.samples_errors) return;
  const Timer timer = ledger_.exclude();
  ErrorSample sample;
  sample.step = pass.step;
  sample.site = site.number;
  sample.site_name = site.full_name();
  sample.message_relative_l2 = sample.message_cosine = kUndefined;
  sample.no_message = before.no_message;
  if (before.codec) sample_message(before, message, sample);
  const auto count = static_cast<std::size_t>(message.shape.elements());
  std::vector<std::vector<float>> exact(message.contributions.size(), std::vector<float>(count));
  std::vector<std::span<std::byte>> buffers;
  for (std::size_t l = 0; l < exact.size(); ++l) {
    compressors::widen(message.dtype, message.contributions[l].data(), exact[l]);
    buffers.push_back(std::as_writable_bytes(std::span(exact[l])));
  }
  if (ranks_.ranks() > 1) ranks_.all_reduce(buffers, count, DType::kFloat32);
  std::vector<float> value(count);
  compressors::widen(message.dtype, out.data(), value);
  const Distance found = distance(value, exact[0]);
  sample.sum_relative_l2 = found.relative_l2;
  sample.sum_cosine = found.cosine;
  pass.recorder->record(std::move(sample));
}

}  // namespace tersor::workloads

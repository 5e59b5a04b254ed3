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

bool has_single_message(const compressors::Codec& codec) {
  return codec.rounds() == 1 && codec.topology().size() == 1 &&
         codec.properties().state == compressors::StateKind::kNone;
}

}  // namespace

void ErrorSampler::sample_message(const compressors::Codec& codec, compressors::Context context,
                                  const Message& message, ErrorSample& sample) const {
  const auto count = static_cast<std::size_t>(message.shape.elements());
  std::vector<float> decoded(count), input(count);
  compressors::widen(message.dtype, message.contributions[0].data(), input);
  context.ranks = static_cast<std::uint32_t>(ranks_.ranks());
  context.local_input = {message.contributions[0].data(), message.shape, message.dtype};
  // A reduced payload overwrote the message: encode again, which draws the same numbers.
  std::vector<std::byte> payload(codec.payload_bytes(message.shape, message.dtype, context));
  payload.resize(codec.encode(0, context.local_input, payload, nullptr, context));
  codec.decode(payload, message.shape, message.dtype, decoded, nullptr, context);
  const Distance found = distance(decoded, input);
  sample.message_relative_l2 = found.relative_l2;
  sample.message_cosine = found.cosine;
}

void ErrorSampler::sample(const PassContext& pass, const SiteIdentity& site, const Message& message,
                          std::span<const std::byte> out, const compressors::Codec* codec,
                          const compressors::Context& context) const {
  if (!pass.samples_errors) return;
  const Timer timer = ledger_.exclude();
  ErrorSample sample;
  sample.step = pass.step;
  sample.site = site.number;
  sample.site_name = site.full_name();
  sample.message_relative_l2 = sample.message_cosine = kUndefined;
  if (codec && has_single_message(*codec) && ranks_.first_rank() == 0)
    sample_message(*codec, context, message, sample);
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

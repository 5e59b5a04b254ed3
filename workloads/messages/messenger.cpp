// SPDX-License-Identifier: Apache-2.0
#include "workloads/messages/messenger.hpp"

#include "common/error.hpp"
#include "common/wire_bytes.hpp"

namespace tersor::workloads {

using compressors::Exchange;

Messenger::Messenger(Collective& collective, compressors::RankPlaces places)
    : collective_(collective),
      places_(places),
      payloads_(static_cast<std::size_t>(collective.local_ranks())),
      encoded_(payloads_.size()),
      parts_(payloads_.size()),
      arrived_(payloads_.size()) {}

/// In a subgroup ranks count from 0; draws take those of the whole group.
compressors::Context Messenger::context(std::size_t local) const {
  compressors::Context context = base_;
  context.rank =
      static_cast<std::uint32_t>(collective_.first_rank()) + static_cast<std::uint32_t>(local);
  context.ranks = static_cast<std::uint32_t>(collective_.ranks());
  context.places = places_;
  return context;
}

std::vector<Round> Messenger::sum(const compressors::Codec& codec, const Message& message,
                                  const compressors::Context& base,
                                  std::span<compressors::State* const> states,
                                  std::span<const Buffer> outs) {
  TERSOR_CHECK(message.contributions.size() == locals() && states.size() == locals() &&
                   (outs.size() == 1 || outs.size() == locals()),
               "a message has one contribution and state per local rank");
  codec_ = &codec;
  message_ = &message;
  states_ = states;
  base_ = base;
  workspace_.resize(codec.workspace_bytes(message.shape, message.dtype, context(0)));
  base_.workspace = workspace_;
  const int rounds = codec.rounds();
  std::vector<Round> done;
  for (int number = 0; number < rounds; ++number) {
    Round round{.number = number, .volume = {}, .spent = {}};
    Exchanged exchanged;
    // Encoding may change a state on which the sizes depend.
    const std::size_t metadata_bytes =
        codec.metadata_bytes(message.shape, message.dtype, context(0), number, states[0]);
    find_sizes(number);
    {
      Timer timer(round.spent.encode);
      encode_round(number);
    }
    {
      Timer timer(round.spent.transfer);
      exchanged = exchange_round(number);
    }
    {
      Timer timer(round.spent.decode);
      if (number + 1 == rounds)
        combine(outs);
      else
        for (std::size_t l = 0; l < locals(); ++l)
          codec.absorb(number, arrived_[l], message.shape, message.dtype, states[l], context(l));
    }
    round.volume = exchanged.volume;
    if (codec.is_of_payload(number)) {
      round.payload_bytes = encoded_[0].size() + exchanged.size_bytes;
      round.metadata_bytes = metadata_bytes + exchanged.size_bytes;
    }
    done.push_back(round);
  }
  return done;
}

/// Both ends know the payloads' sizes before anything is sent, where the codec's are fixed.
void Messenger::find_sizes(int round) {
  sizes_.clear();
  if (codec_->exchange(round) == Exchange::kAllToAll || !codec_->properties().fixed_size) return;
  for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(collective_.ranks()); ++r)
    sizes_.push_back(
        codec_->part_bytes(message_->shape, message_->dtype, context(0), round, r, states_[0]));
}

void Messenger::encode_round(int round) {
  for (std::size_t l = 0; l < locals(); ++l) {
    const compressors::Context own = context(l);
    std::vector<std::byte>& payload = payloads_[l];
    payload.resize(codec_->payload_bytes(message_->shape, message_->dtype, own, round, states_[l]));
    const TensorView in{message_->contributions[l].data(), message_->shape, message_->dtype};
    const std::size_t bytes = codec_->encode(round, in, payload, states_[l], own);
    encoded_[l] = Buffer(payload).first(bytes);
  }
}

Messenger::Exchanged Messenger::exchange_round(int round) {
  switch (codec_->exchange(round)) {
    case Exchange::kAllReduce:
      if (codec_->rounds() > 1 || collective_.sum_order() == SumOrder::kLibrary)
        return exchange_sum(round);
      return exchange_gather();
    case Exchange::kGather: return exchange_gather();
    case Exchange::kAllToAll: return exchange_parts(round);
  }
  throw Error(ErrorKind::kInternal, "unknown exchange");
}

Messenger::Exchanged Messenger::exchange_sum(int round) {
  const DType dtype = codec_->reduce_dtype(round, message_->dtype);
  const std::size_t count = encoded_[0].size() / item_bytes(dtype);
  const Volume volume = collective_.all_reduce(encoded_, count, dtype);
  for (auto& arrived : arrived_) arrived.assign(1, encoded_[0]);
  return {volume, 0};
}

Messenger::Exchanged Messenger::exchange_gather() {
  const auto ranks = static_cast<std::uint32_t>(collective_.ranks());
  Exchanged result;
  if (!codec_->properties().fixed_size) {
    std::vector<std::size_t> locals;
    for (const Buffer& payload : encoded_) locals.push_back(payload.size());
    const std::uint64_t before = collective_.input_bytes();
    sizes_ = collective_.exchange_sizes(locals);
    result.size_bytes = collective_.input_bytes() - before;
  }
  std::size_t total = 0;
  for (const std::size_t bytes : sizes_) total += bytes;
  received_.resize(total);
  const std::vector<Bytes> payloads(encoded_.begin(), encoded_.end());
  result.volume = collective_.all_gather(payloads, sizes_, received_);
  result.volume.input_bytes += result.size_bytes;
  result.volume.wire_bytes += all_gather_wire_bytes(result.size_bytes, collective_.ranks());
  std::vector<Bytes> arrived;
  for (std::size_t r = 0, at = 0; r < ranks; at += sizes_[r++])
    arrived.push_back(Bytes(received_).subspan(at, sizes_[r]));
  for (auto& view : arrived_) view = arrived;
  return result;
}

Messenger::Exchanged Messenger::exchange_parts(int round) {
  const auto ranks = static_cast<std::uint32_t>(collective_.ranks());
  std::vector<std::vector<std::size_t>> sent(locals()), received(locals());
  std::vector<Buffer> outs;
  for (std::size_t l = 0; l < locals(); ++l) {
    std::size_t total = 0;
    for (std::uint32_t r = 0; r < ranks; ++r) {
      const compressors::Context own = context(l);
      sent[l].push_back(
          codec_->part_bytes(message_->shape, message_->dtype, own, round, r, states_[l]));
      compressors::Context sender = own;
      sender.rank = r;
      received[l].push_back(codec_->part_bytes(message_->shape, message_->dtype, sender, round,
                                               own.rank, states_[l]));
      total += received[l].back();
    }
    parts_[l].resize(total);
    outs.push_back(parts_[l]);
  }
  const std::vector<Bytes> payloads(encoded_.begin(), encoded_.end());
  Exchanged result;
  result.volume = collective_.all_to_all(payloads, sent, received, outs);
  for (std::size_t l = 0; l < locals(); ++l) {
    arrived_[l].clear();
    for (std::size_t r = 0, at = 0; r < ranks; at += received[l][r++])
      arrived_[l].push_back(Bytes(parts_[l]).subspan(at, received[l][r]));
  }
  return result;
}

/// Ranks with a state combine too, so that their receivers' halves stay equal; the sum is the same.
void Messenger::combine(std::span<const Buffer> outs) {
  const auto count = static_cast<std::size_t>(message_->shape.elements());
  for (std::size_t l = locals(); l-- > 0;) {
    const bool is_wanted = l < outs.size();
    if (!is_wanted && !states_[l]) continue;
    compressors::Context at = context(l);
    at.local_input = {message_->contributions[l].data(), message_->shape, message_->dtype};
    const bool is_direct = is_wanted && message_->dtype == DType::kFloat32;
    if (!is_direct) scratch_.resize(count);
    const std::span<float> sum =
        is_direct ? std::span(reinterpret_cast<float*>(outs[l].data()), count) : scratch_;
    codec_->combine(arrived_[l], message_->shape, message_->dtype, sum, states_[l], at);
    if (is_wanted && !is_direct) compressors::round_to(message_->dtype, sum, outs[l].data());
  }
}

}  // namespace tersor::workloads

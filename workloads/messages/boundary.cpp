// SPDX-License-Identifier: Apache-2.0
#include "workloads/messages/boundary.hpp"

#include <cstring>
#include <string>

#include "common/error.hpp"

namespace tersor::workloads {

using compressors::Codec;

BoundaryEnd::BoundaryEnd(const BoundaryPlace& place, SiteIdentity identity,
                         std::shared_ptr<const Codec> codec)
    : place_(place),
      identity_(std::move(identity)),
      codec_(std::move(codec)),
      none_(compressors::make_codec("none")),
      account_(place_.ledger.open(identity_, codec_ ? codec_->canonical() : "none")) {}

const Codec& BoundaryEnd::active(const PassContext& pass, const Shape& shape, DType dtype) const {
  return is_compressed(pass) ? codec_->effective(shape, dtype) : *none_;
}

compressors::Context BoundaryEnd::context(const PassContext& pass) const {
  compressors::Context context;
  context.seed = place_.seed;
  context.step = pass.step;
  context.call = pass.call;
  context.site = identity_.number;
  context.direction = identity_.direction;
  context.phase = pass.phase;
  context.sample_ids = pass.sample_ids;
  context.threads = place_.threads;
  return context;
}

compressors::State* BoundaryEnd::state(const Codec& codec, const Shape& shape, DType dtype) {
  if (codec.properties().state == compressors::StateKind::kNone) return nullptr;
  auto [found, is_new] = states_.try_emplace(shape.samples);
  if (is_new) found->second = codec.make_state(shape, dtype, 1);
  return found->second.get();
}

Entry BoundaryEnd::entry(const PassContext& pass, CollectiveKind collective, DType dtype) const {
  return {pass.phase, compressors::GroupLevel::kAll, collective, is_compressed(pass), dtype};
}

std::uint64_t BoundaryEnd::state_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [samples, state] : states_) bytes += state->bytes();
  return bytes;
}

void BoundarySender::start(const PassContext& pass, const TensorView& message) {
  if (free_.empty()) free_.push_back(std::make_unique<Outgoing>());
  std::unique_ptr<Outgoing> sent = std::move(free_.back());
  free_.pop_back();
  const Codec& codec = active(pass, message.shape, message.dtype);
  compressors::State* const own = state(codec, message.shape, message.dtype);
  sent->entry = entry(pass, CollectiveKind::kSend, message.dtype);
  sent->round = {};
  sent->raw_bytes = message.bytes();
  {
    Timer timer(sent->round.spent.encode);
    compressors::Context at = context(pass);
    workspace_.resize(codec.workspace_bytes(message.shape, message.dtype, at));
    at.workspace = workspace_;
    std::size_t used = 0;
    for (int number = 0; number < codec.rounds(); ++number) {
      // Encoding may change a state on which the sizes depend.
      sent->round.metadata_bytes +=
          codec.metadata_bytes(message.shape, message.dtype, at, number, own);
      sent->payload.resize(used +
                           codec.payload_bytes(message.shape, message.dtype, at, number, own));
      const std::span<std::byte> part = std::span(sent->payload).subspan(used);
      const std::size_t bytes = codec.encode(number, message, part, own, at);
      used += bytes;
      const std::array<std::span<const std::byte>, 1> received{part.first(bytes)};
      if (number + 1 < codec.rounds())
        codec.absorb(number, received, message.shape, message.dtype, own, at);
      else if (number > 0) {  // what the last round brings is part of the sender's state too
        scratch_.resize(static_cast<std::size_t>(message.shape.elements()));
        codec.combine(received, message.shape, message.dtype, scratch_, own, at);
      }
    }
    sent->payload.resize(used);
  }
  sent->bytes = sent->payload.size();
  sent->round.payload_bytes = sent->bytes;
  if (!codec.properties().fixed_size) {
    sent->round.payload_bytes += sizeof(sent->bytes);
    sent->round.metadata_bytes += sizeof(sent->bytes);
  }
  {
    Timer timer(sent->round.spent.transfer);
    sent->header_work = place_.world.start_send(std::as_bytes(std::span(&sent->bytes, 1)),
                                                place_.from, place_.to, place_.tag);
    sent->payload_work = place_.world.start_send(std::span<const std::byte>(sent->payload),
                                                 place_.from, place_.to, place_.tag);
  }
  under_way_.push_back(std::move(sent));
}

void BoundarySender::finish(std::size_t left) {
  while (under_way_.size() > left) {
    std::unique_ptr<Outgoing> sent = std::move(under_way_.front());
    under_way_.pop_front();
    {
      Timer timer(sent->round.spent.transfer);
      const Volume header = sent->header_work->wait();
      sent->round.volume = sent->payload_work->wait();
      sent->round.volume.collective = CollectiveKind::kSend;
      sent->round.volume.input_bytes += header.input_bytes;
      sent->round.volume.wire_bytes += header.wire_bytes;
    }
    account_.add(sent->entry, sent->round, sent->raw_bytes);
    free_.push_back(std::move(sent));
  }
}

void BoundaryReceiver::expect(const PassContext& pass, const Shape& shape, DType dtype) {
  if (header_work_) return;
  const Codec& codec = active(pass, shape, dtype);
  const compressors::State* const own = state(codec, shape, dtype);
  const compressors::Context at = context(pass);
  most_ = 0;
  for (int number = 0; number < codec.rounds(); ++number)
    most_ += codec.payload_bytes(shape, dtype, at, number, own);
  header_work_ = place_.world.start_receive(std::as_writable_bytes(std::span(&bytes_, 1)),
                                            place_.from, place_.to, place_.tag);
  if (codec.properties().fixed_size) start_payload(most_);
}

void BoundaryReceiver::start_payload(std::size_t bytes) {
  payload_.resize(bytes);
  payload_work_ = place_.world.start_receive(std::span<std::byte>(payload_), place_.from, place_.to,
                                             place_.tag);
}

Waiting BoundaryReceiver::receive(const PassContext& pass, const Shape& shape, DType dtype,
                                  std::span<std::byte> out) {
  const Codec& codec = active(pass, shape, dtype);
  compressors::State* const own = state(codec, shape, dtype);
  compressors::Context at = context(pass);
  workspace_.resize(codec.workspace_bytes(shape, dtype, at));
  at.workspace = workspace_;
  Waiting waiting;
  Round round{.number = 0, .volume = {CollectiveKind::kReceive, 0, 0}, .spent = {}};
  {
    Timer timer(waiting.idle_ns);
    expect(pass, shape, dtype);
    header_work_->wait();
    header_work_.reset();
  }
  if (bytes_ > most_ || (payload_work_ && bytes_ != most_))
    throw Error(ErrorKind::kPayload, identity_.full_name() + ": a message of " +
                                         std::to_string(bytes_) + " bytes from rank " +
                                         std::to_string(place_.from) + ", " + codec.canonical() +
                                         " has " + std::to_string(most_));
  {
    Timer timer(waiting.exposed_ns);
    if (!payload_work_) start_payload(bytes_);
    payload_work_->wait();
    payload_work_.reset();
  }
  round.spent.transfer = waiting.exposed_ns;
  {
    Timer timer(round.spent.decode);
    std::size_t begin = 0;
    for (int number = 0; number < codec.rounds(); ++number) {
      const bool is_last = number + 1 == codec.rounds();
      const std::size_t bytes =
          is_last ? payload_.size() - begin : codec.payload_bytes(shape, dtype, at, number, own);
      const std::array<std::span<const std::byte>, 1> received{
          std::span<const std::byte>(payload_).subspan(begin, bytes)};
      begin += bytes;
      if (!is_last) {
        codec.absorb(number, received, shape, dtype, own, at);
      } else if (codec.rounds() == 1 && !own) {  // what a single message means: `none` copies bits
        codec.decode_bits(received[0], shape, dtype, out.data(), own, at);
      } else {
        const auto count = static_cast<std::size_t>(shape.elements());
        scratch_.resize(count);
        codec.combine(received, shape, dtype, scratch_, own, at);
        compressors::round_to(dtype, scratch_, out.data());
      }
    }
  }
  account_.add(entry(pass, CollectiveKind::kReceive, dtype), round, 0);
  return waiting;
}

}  // namespace tersor::workloads

// SPDX-License-Identifier: Apache-2.0
#include "compressors/bench/bench_row.hpp"

#include <cstring>

#include "common/error.hpp"

namespace tersor::compressors::bench {

Row::Row(const Codec& codec, const Material& material, Operation operation, std::uint32_t ranks,
         int threads)
    : codec_(codec),
      in_(material.view()),
      operation_(operation),
      sender_(codec.make_state(in_.shape, in_.dtype, ranks)),
      receiver_(codec.make_state(in_.shape, in_.dtype, ranks)),
      payloads_(ranks),
      out_(static_cast<std::size_t>(in_.shape.elements())),
      copied_(in_.bytes()) {
  context_.seed = 1;
  context_.ranks = ranks;
  context_.threads = threads;
  context_.sample_ids = material.ids;
  workspace_.resize(codec.workspace_bytes(in_.shape, in_.dtype, context_));
  context_.workspace = workspace_;
  // Two messages first: the size of a stateful codec's payload then stays.
  for (int message = 0; message < 2; ++message) {
    payloads_[0].resize(codec.payload_bytes(in_.shape, in_.dtype, context_, 0, sender_.get()));
    encode();
    decode();
  }
  for (std::uint32_t rank = 1; rank < ranks; ++rank) payloads_[rank] = payloads_[0];
  received_.assign(payloads_.begin(), payloads_.end());
}

// Of a codec of several rounds all of them: each one's sum over the ranks is that of one rank.
void Row::encode() {
  std::vector<std::byte>& payload = payloads_[0];
  payload_bytes_ = 0;
  for (int round = 0; round < codec_.rounds(); ++round) {
    if (codec_.rounds() > 1)
      payload.resize(codec_.payload_bytes(in_.shape, in_.dtype, context_, round, sender_.get()));
    payload.resize(codec_.encode(round, in_, payload, sender_.get(), context_));
    payload_bytes_ += payload.size();
    if (round + 1 == codec_.rounds()) break;
    const std::span<const std::byte> sum(payload);
    codec_.absorb(round, {&sum, 1}, in_.shape, in_.dtype, sender_.get(), context_);
  }
}

// Such a codec ends a message with the state that began it.
void Row::decode() {
  State* const state = codec_.rounds() > 1 ? sender_.get() : receiver_.get();
  codec_.decode(payloads_[0], in_.shape, in_.dtype, out_, state, context_);
}

void Row::work() {
  switch (operation_) {
    case Operation::kEncode: return encode();
    case Operation::kDecode: return decode();
    case Operation::kSum:
      return codec_.combine(received_, in_.shape, in_.dtype, out_, receiver_.get(), context_);
  }
}

void Row::copy() { std::memcpy(copied_.data(), in_.data, in_.bytes()); }

RowBytes Row::bytes() const {
  RowBytes bytes{in_.bytes(), payload_bytes_, 0};
  const std::size_t decoded = out_.size() * sizeof(float);
  if (operation_ == Operation::kEncode)
    bytes.moved = bytes.raw + bytes.payload;
  else
    bytes.moved = payloads_.size() * bytes.payload + decoded;
  return bytes;
}

bool takes(const Codec& codec, const Shape& shape, DType dtype) {
  try {
    codec.payload_bytes(shape, dtype, {});
    for (int round = 0; round < codec.rounds(); ++round)
      if (codec.rounds() > 1 && codec.exchange(round) != Exchange::kAllReduce) return false;
    return !codec.properties().learned;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace tersor::compressors::bench

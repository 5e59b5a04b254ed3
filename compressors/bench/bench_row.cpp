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
    codec.decode(payloads_[0], in_.shape, in_.dtype, out_, receiver_.get(), context_);
  }
  for (std::uint32_t rank = 1; rank < ranks; ++rank) payloads_[rank] = payloads_[0];
  received_.assign(payloads_.begin(), payloads_.end());
}

void Row::encode() {
  std::vector<std::byte>& payload = payloads_[0];
  payload.resize(codec_.encode(0, in_, payload, sender_.get(), context_));
}

void Row::work() {
  switch (operation_) {
    case Operation::kEncode: return encode();
    case Operation::kDecode:
      return codec_.decode(payloads_[0], in_.shape, in_.dtype, out_, receiver_.get(), context_);
    case Operation::kSum:
      return codec_.combine(received_, in_.shape, in_.dtype, out_, receiver_.get(), context_);
  }
}

void Row::copy() { std::memcpy(copied_.data(), in_.data, in_.bytes()); }

RowBytes Row::bytes() const {
  RowBytes bytes{in_.bytes(), payloads_[0].size(), 0};
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
    return codec.rounds() == 1 && !codec.properties().learned;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace tersor::compressors::bench

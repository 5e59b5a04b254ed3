// SPDX-License-Identifier: Apache-2.0
// The frame's payload taken as the bits of a tensor: any codec encodes it to the bytes that it
// promised, twice the same, and decodes those inside its buffers.
#include <cstring>

#include "compressors/verify/fuzz/target.hpp"
#include "compressors/verify/golden/frames_for_test.hpp"

namespace tersor::fuzz {
namespace {

using namespace compressors;

constexpr std::size_t kMostElements = 4096;

struct Message {
  Frame frame;
  std::shared_ptr<const Codec> codec;
  TensorView view() const { return {frame.payload.data(), frame.shape, frame.dtype}; }
};

bool is_refusal(const Error& error) {
  return error.kind() == ErrorKind::kSpec || error.kind() == ErrorKind::kUnsupported ||
         error.kind() == ErrorKind::kUsage;
}

/// The frame's hidden size and dtype; as many rows as the payload fills.
bool shape_message(Message& message) {
  Frame& frame = message.frame;
  const std::size_t item = item_bytes(frame.dtype);
  const std::size_t elements = std::min(frame.payload.size() / item, kMostElements);
  const std::int64_t hidden = frame.shape.hidden;
  if (hidden <= 0 || static_cast<std::size_t>(hidden) > elements) return false;
  const std::int64_t rows = static_cast<std::int64_t>(elements) / hidden;
  const std::int64_t tokens =
      frame.shape.tokens > 0 && rows % frame.shape.tokens == 0 ? frame.shape.tokens : 1;
  frame.shape = {rows / tokens, tokens, hidden};
  if (!frame.ids.empty()) {
    frame.ids.resize(static_cast<std::size_t>(frame.shape.samples));
    for (std::size_t i = 0; i < frame.ids.size(); ++i) frame.ids[i] = static_cast<int>(i % 3);
  }
  return true;
}

std::vector<std::byte> encode(const Message& message, State* state) {
  const Context context = message.frame.context();
  const TensorView in = message.view();
  const std::size_t bytes = message.codec->payload_bytes(in.shape, in.dtype, context, 0, state);
  std::vector<std::byte> payload(bytes + 16, std::byte{0xA5});
  const std::size_t written =
      message.codec->encode(0, in, std::span(payload).first(bytes), state, context);
  require(written <= bytes, message.frame.spec + " writes more than it promised");
  for (std::size_t i = bytes; i < payload.size(); ++i)
    require(payload[i] == std::byte{0xA5}, message.frame.spec + " writes behind its payload");
  payload.resize(written);
  return payload;
}

void run_message(const Message& message) {
  const auto& codec = *message.codec;
  const TensorView in = message.view();
  const Context context = message.frame.context();
  const auto state = [&] { return codec.make_state(in.shape, in.dtype, context.ranks); };
  const auto sender = state();
  const auto payload = encode(message, sender.get());
  require(encode(message, state().get()) == payload, message.frame.spec + " encodes twice alike");
  if (codec.rounds() > 1 && codec.exchange(0) == Exchange::kAllReduce) return;
  std::vector<float> out(static_cast<std::size_t>(in.shape.elements()) + 4, 7.0f);
  const auto receiver = state();
  codec.decode(payload, in.shape, in.dtype, std::span(out).first(out.size() - 4), receiver.get(),
               context);
  for (std::size_t i = out.size() - 4; i < out.size(); ++i)
    require(out[i] == 7.0f, message.frame.spec + " decodes behind its buffer");
  std::vector<float> sum(out.size() - 4, 0.5f);
  codec.decode_accumulate(payload, in.shape, in.dtype, sum, state().get(), context);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const float expected = 0.5f + out[i];
    require(std::memcmp(&sum[i], &expected, sizeof expected) == 0 || expected != expected,
            message.frame.spec + " accumulates what it decodes");
  }
}

}  // namespace

void run_target(std::span<const std::byte> input) {
  std::vector<std::byte> mended(input.begin(), input.end());
  if (!compressors::testing::mend_checksums(mended)) return;
  const std::uint64_t header = kFrameFixedBytes + std::uint64_t{load<std::uint32_t>(&mended[72])} +
                               8 * std::uint64_t{load<std::uint32_t>(&mended[76])};
  store(&mended[64], static_cast<std::uint64_t>(mended.size() - header));
  compressors::testing::mend_checksums(mended);
  Message message;
  try {
    message.frame = read_frame(mended);
    message.codec = make_codec(message.frame.spec);
  } catch (const Error&) {
    return;  // frame_target and spec_target look at these
  }
  if (message.frame.ranks > 64 || message.codec->properties().learned || !shape_message(message))
    return;
  try {
    run_message(message);
  } catch (const Error& error) {
    require(is_refusal(error), message.frame.spec + ": " + error.what());
  }
}

}  // namespace tersor::fuzz

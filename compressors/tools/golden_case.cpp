// SPDX-License-Identifier: Apache-2.0
#include "compressors/tools/golden_case.hpp"

#include <algorithm>
#include <cstdio>

#include "common/error.hpp"
#include "common/files.hpp"
#include "common/hash.hpp"
#include "common/hex.hpp"
#include "common/npy.hpp"

namespace tersor::compressors {
namespace {

using Bytes = std::vector<std::byte>;
constexpr std::size_t kGuardBytes = 64;
constexpr std::byte kGuard{0xA5};

/// Runs `write` on a buffer of exactly `bytes` bytes between guards; returns what it wrote.
template <class Write>
Bytes guarded(const std::string& what, std::size_t bytes, Write write) {
  Bytes buffer(bytes + 2 * kGuardBytes, kGuard);
  const std::size_t written = write(std::span(buffer).subspan(kGuardBytes, bytes));
  const auto is_guard = [](std::byte byte) { return byte == kGuard; };
  const bool is_intact = std::all_of(buffer.begin(), buffer.begin() + kGuardBytes, is_guard) &&
                         std::all_of(buffer.end() - kGuardBytes, buffer.end(), is_guard);
  if (!is_intact) throw GoldenDifference{what + " wrote outside its buffer"};
  if (written > bytes) throw GoldenDifference{what + " claims more bytes than it had room for"};
  return {buffer.begin() + kGuardBytes,
          buffer.begin() + static_cast<std::ptrdiff_t>(kGuardBytes + written)};
}

Bytes encoded(const std::string& what, const Codec& codec, int round, const GoldenInput& in,
              State* state, const Context& context) {
  const std::size_t bytes = codec.payload_bytes(in.shape, in.dtype, context, round, state);
  return guarded(what, bytes, [&](std::span<std::byte> out) {
    return codec.encode(round, in.view(), out, state, context);
  });
}

std::string digest_of_rounded(const std::vector<float>& values, DType dtype) {
  Bytes bits(values.size() * item_bytes(dtype));
  round_to(dtype, values, bits.data());
  return sha256_hex(bits);
}

void check_shape(const nlohmann::json& shape, const Shape& got) {
  const Shape expected{shape.at(0), shape.at(1), shape.at(2)};
  if (!(expected == got)) throw GoldenDifference{"the input's shape is not the stored one"};
}

struct Message {
  GoldenInput in;
  Context context;
  std::vector<std::int64_t> ids;
};

Message load_message(GoldenFiles& files, const nlohmann::json& entry, const nlohmann::json& stored,
                     int threads) {
  Message message;
  const auto& shared = entry.at("context");
  message.in = files.input(stored.at("input"), parse_dtype(entry.at("dtype").get<std::string>()),
                           shared.value("tokens", std::int64_t{0}));
  message.context = golden_context(shared, {});
  message.context =
      golden_context(stored.value("context", nlohmann::json::object()), message.context);
  message.context.threads = threads;
  message.ids = stored.value("ids", std::vector<std::int64_t>{});
  return message;
}

void check_message(const std::string& where, GoldenFiles& files, const Codec& codec,
                   const nlohmann::json& stored, const Message& message, State* sender,
                   State* receiver, Bytes& payload) {
  const GoldenInput& in = message.in;
  Context context = message.context;
  context.sample_ids = message.ids;
  check_shape(stored.at("shape"), in.shape);
  const std::size_t promised = codec.payload_bytes(in.shape, in.dtype, context, 0, sender);
  const std::size_t metadata = codec.metadata_bytes(in.shape, in.dtype, context, 0, sender);
  payload = encoded(where + "encode", codec, 0, in, sender, context);
  expect_bytes(where + "payload", files.stored(stored.at("payload")), payload);
  expect_same(where + "payload bytes", stored.at("payload_bytes").get<std::uint64_t>(),
              payload.size());
  expect_same(where + "metadata bytes", stored.at("metadata_bytes").get<std::uint64_t>(), metadata);
  expect_same(where + "payload SHA-256", stored.at("payload_sha256"), sha256_hex(payload));
  if (codec.properties().fixed_size)
    expect_same(where + "payload_bytes()", payload.size(), promised);
  const Bytes decoded = guarded(where + "decode", in.bits.size(), [&](std::span<std::byte> out) {
    Bytes aligned(out.size());
    codec.decode_bits(payload, in.shape, in.dtype, aligned.data(), receiver, context);
    std::copy(aligned.begin(), aligned.end(), out.begin());
    return out.size();
  });
  expect_same(where + "decoded SHA-256", stored.at("decoded_sha256"), sha256_hex(decoded));
}

void run_messages(GoldenFiles& files, const Codec& codec, const nlohmann::json& entry,
                  int threads) {
  std::unique_ptr<State> sender;
  std::unique_ptr<State> receiver;
  std::vector<Bytes> payloads;
  Message message;
  int number = 0;
  for (const auto& stored : entry.at("messages")) {
    message = load_message(files, entry, stored, threads);
    if (number == 0) {
      sender = codec.make_state(message.in.shape, message.in.dtype, message.context.ranks);
      receiver = codec.make_state(message.in.shape, message.in.dtype, message.context.ranks);
    }
    const std::string where = "message " + std::to_string(number++) + ": ";
    check_message(where, files, codec, stored, message, sender.get(), receiver.get(),
                  payloads.emplace_back());
  }
  if (entry.at("kind") != "sum") return;
  const std::vector<std::span<const std::byte>> received(payloads.begin(), payloads.end());
  std::vector<float> sum(message.in.elements());
  Context context = golden_context(entry.at("context"), {});
  context.threads = threads;
  const auto state = codec.make_state(message.in.shape, message.in.dtype, context.ranks);
  codec.combine(received, message.in.shape, message.in.dtype, sum, state.get(), context);
  expect_same("sum SHA-256", entry.at("sum_sha256"), digest_of_rounded(sum, message.in.dtype));
}

/// Joins payloads in rank order.
Bytes joined(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

struct Rank {
  GoldenInput in;
  Context context;
  std::unique_ptr<State> state;
  std::vector<Bytes> chunks;  ///< of round one, by destination
};

std::vector<Rank> first_round(GoldenFiles& files, const Codec& codec, const nlohmann::json& entry,
                              int threads) {
  const auto& inputs = entry.at("inputs");
  std::vector<Rank> ranks(inputs.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    Rank& rank = ranks[r];
    rank.context = golden_context(entry.at("context"), {});
    rank.context.rank = static_cast<std::uint32_t>(r);
    rank.context.ranks = static_cast<std::uint32_t>(ranks.size());
    rank.context.threads = threads;
    rank.in = files.input(inputs[r], parse_dtype(entry.at("dtype").get<std::string>()), 0);
    check_shape(entry.at("shape"), rank.in.shape);
    rank.state = codec.make_state(rank.in.shape, rank.in.dtype, rank.context.ranks);
    const std::string where = "round 0, rank " + std::to_string(r) + ": ";
    const Bytes all = encoded(where + "encode", codec, 0, rank.in, rank.state.get(), rank.context);
    expect_bytes(where + "payload", files.stored(entry.at("first").at(r)), all);
    auto from = all.begin();
    for (std::size_t to = 0; to < ranks.size(); ++to) {
      const std::size_t bytes = codec.part_bytes(rank.in.shape, rank.in.dtype, rank.context, 0,
                                                 static_cast<std::uint32_t>(to), rank.state.get());
      expect_same(where + "bytes of chunk " + std::to_string(to),
                  entry.at("first_chunk_bytes").at(to).get<std::uint64_t>(), bytes);
      rank.chunks.emplace_back(from, from + static_cast<std::ptrdiff_t>(bytes));
      from += static_cast<std::ptrdiff_t>(bytes);
    }
  }
  return ranks;
}

void run_twostep(GoldenFiles& files, const Codec& codec, const nlohmann::json& entry, int threads) {
  std::vector<Rank> ranks = first_round(files, codec, entry, threads);
  std::vector<Bytes> second;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    Rank& rank = ranks[r];
    std::vector<std::span<const std::byte>> received;
    for (const Rank& sender : ranks) received.emplace_back(sender.chunks[r]);
    codec.absorb(0, received, rank.in.shape, rank.in.dtype, rank.state.get(), rank.context);
    second.push_back(encoded("round 1, rank " + std::to_string(r) + ": encode", codec, 1, rank.in,
                             rank.state.get(), rank.context));
  }
  expect_bytes("round 1: payloads", files.stored(entry.at("second")), joined(second));
  const std::vector<std::span<const std::byte>> received(second.begin(), second.end());
  for (Rank& rank : ranks) {
    std::vector<float> out(rank.in.elements());
    codec.combine(received, rank.in.shape, rank.in.dtype, out, rank.state.get(), rank.context);
    expect_same("output SHA-256 at rank " + std::to_string(rank.context.rank),
                entry.at("output_sha256"), digest_of_rounded(out, rank.in.dtype));
  }
}

}  // namespace

std::span<const std::byte> GoldenFiles::stored(const nlohmann::json& place) {
  const std::string file = place.at("file");
  auto found = files_.find(file);
  if (found == files_.end()) found = files_.emplace(file, read_file(folder_ / file)).first;
  const auto offset = place.at("offset").get<std::size_t>();
  const auto bytes = place.at("bytes").get<std::size_t>();
  if (offset > found->second.size() || bytes > found->second.size() - offset)
    throw Error(ErrorKind::kData, (folder_ / file).string() + " has " +
                                      std::to_string(found->second.size()) +
                                      " bytes, a case wants " + std::to_string(bytes) + " at " +
                                      std::to_string(offset));
  return std::span(found->second).subspan(offset, bytes);
}

GoldenInput GoldenFiles::input(const std::string& file, DType dtype, std::int64_t tokens) const {
  NpyArray array = read_npy(folder_ / file);
  GoldenInput in{message_shape(array.dims, tokens), dtype, {}};
  if (array.dtype == dtype) {
    in.bits = std::move(array.data);
    return in;
  }
  std::vector<float> values(in.elements());
  widen(array.dtype, array.data.data(), values);
  in.bits.resize(values.size() * item_bytes(dtype));
  round_to(dtype, values, in.bits.data());
  return in;
}

Context golden_context(const nlohmann::json& fields, Context base) {
  for (const auto& [key, value] : fields.items()) {
    if (key == "seed")
      base.seed = value.get<std::uint64_t>();
    else if (key == "step")
      base.step = value.get<std::uint32_t>();
    else if (key == "call")
      base.call = value.get<std::uint16_t>();
    else if (key == "site")
      base.site = value.get<std::uint16_t>();
    else if (key == "rank")
      base.rank = value.get<std::uint32_t>();
    else if (key == "ranks")
      base.ranks = value.get<std::uint32_t>();
    else if (key == "direction")
      base.direction = value == "backward" ? Direction::kBackward : Direction::kForward;
    else if (key == "phase")
      base.phase = value == "eval" ? Phase::kEval : Phase::kTrain;
  }
  return base;
}

void expect_bytes(const std::string& what, std::span<const std::byte> expected,
                  std::span<const std::byte> got) {
  const std::size_t shared = std::min(expected.size(), got.size());
  const auto pair = std::mismatch(
      expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(shared), got.begin());
  const auto at = static_cast<std::size_t>(pair.first - expected.begin());
  if (at < shared)
    throw GoldenDifference{what + ": byte " + std::to_string(at) + " of " +
                           std::to_string(expected.size()) + ": expected 0x" +
                           hex(std::span(&expected[at], 1)) + ", got 0x" +
                           hex(std::span(&got[at], 1))};
  if (expected.size() != got.size())
    throw GoldenDifference{what + ": expected " + std::to_string(expected.size()) + " bytes, got " +
                           std::to_string(got.size()) + ", equal up to the shorter end"};
}

void expect_same(const std::string& what, const std::string& expected, const std::string& got) {
  if (expected != got) throw GoldenDifference{what + ": expected " + expected + ", got " + got};
}

void expect_same(const std::string& what, std::uint64_t expected, std::uint64_t got) {
  expect_same(what, std::to_string(expected), std::to_string(got));
}

void run_golden_case(GoldenFiles& files, const nlohmann::json& entry,
                     const GoldenOptions& options) {
  auto codec = make_codec(entry.at("spec").get<std::string>());
  if (options.place) codec = options.place(std::move(codec));
  const int threads = options.threads;
  expect_same("canonical form", entry.at("canonical"), codec->canonical());
  const std::string kind = entry.at("kind");
  if (kind == "twostep")
    run_twostep(files, *codec, entry, threads);
  else if (kind == "message" || kind == "sum")
    run_messages(files, *codec, entry, threads);
  else
    throw Error(ErrorKind::kData, "golden case of unknown kind '" + kind + "'");
}

}  // namespace tersor::compressors

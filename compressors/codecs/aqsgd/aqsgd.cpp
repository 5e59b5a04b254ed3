// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/aqsgd/aqsgd.hpp"

#include <algorithm>
#include <cstring>

#include "common/error.hpp"
#include "compressors/codecs/aqsgd/aqsgd_cache.hpp"
#include "compressors/host/feedback_kernels.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/wire/bits.hpp"

namespace tersor::compressors {
namespace {

CodecInfo aqsgd_info() {
  CodecInfo info;
  info.name = "aqsgd";
  info.summary = "per sample, the change since its last visit";
  info.source = "Wang et al., AC-SGD / AQ-SGD, NeurIPS 2022";
  Parameter cache = Parameter::codec("cache", "format of the stored messages: or a codec");
  cache.choices = {"float32", "float16"};
  cache.default_text = "float32";
  info.parameters = {
      Parameter::codec("codec", "compresses the change; one round, no state"),
      cache,
      Parameter::choice("store", {"memory", "file"}, "where messages are stored"),
  };
  info.make = [](const Arguments& a) {
    AqSgdOptions o;
    o.codec = a.codec("cache");
    if (o.codec)
      o.format = AqSgdOptions::Format::kCodec;
    else if (a.choice("cache") == "float16")
      o.format = AqSgdOptions::Format::kFloat16;
    o.is_in_file = a.choice("store") == "file";
    return std::make_shared<AqSgd>(a.codec("codec"), std::move(o), a.canonical());
  };
  info.refuses = [](std::string_view parameter, std::string_view name,
                    const Codec& inner) -> std::string {
    if (parameter == "cache" && !inner.properties().deterministic)
      return "a cache codec must be deterministic, which " + inner.canonical() + " is not";
    return refuses_state_or_rounds(name, inner);
  };
  info.examples = {"aqsgd(quantize(bits=4))", "aqsgd(topk(ratio=0.1),cache=float16)",
                   "aqsgd(quantize(bits=4),cache=quantize(bits=8))",
                   "aqsgd(quantize(bits=2,scope=token),store=file)"};
  return info;
}

const CodecRegistrar kRegistrar(aqsgd_info());

}  // namespace

AqSgd::AqSgd(std::shared_ptr<const Codec> inner, AqSgdOptions options, std::string canonical)
    : Wrapper(std::move(inner), std::move(canonical)), options_(std::move(options)) {}

Properties AqSgd::properties() const {
  Properties p = stateful_properties(inner(), StateKind::kSample);
  p.sample_local = true;
  return p;
}

std::unique_ptr<State> AqSgd::make_state(const Shape&, DType, std::uint32_t) const {
  return std::make_unique<CacheState>(options_);
}

// Calls visit(sample, context) in sample order; the draws of a sample start at the index of its
// first element.
template <class Visit>
void AqSgd::for_each_sample(const Shape& shape, const Context& context, Visit&& visit) const {
  if (!context.sample_ids.empty() && std::ssize(context.sample_ids) != shape.samples)
    throw Error(ErrorKind::kUsage, "aqsgd: " + std::to_string(context.sample_ids.size()) +
                                       " sample ids for " + std::to_string(shape.samples) +
                                       " samples");
  const std::int64_t elements = shape.tokens * shape.hidden;
  for (std::int64_t s = 0; s < shape.samples; ++s) {
    Sample sample{context.sample_ids.empty() ? s : context.sample_ids[static_cast<std::size_t>(s)],
                  {1, shape.tokens, shape.hidden},
                  static_cast<std::size_t>(s * elements),
                  static_cast<std::size_t>(elements)};
    Context part = context;
    part.sample_ids = {};
    part.element_offset += s * elements;
    visit(sample, part);
  }
}

template <class Count>
std::size_t AqSgd::count_bytes(const Shape& shape, DType, const Context& context,
                               const State* state, std::size_t first_visit, Count&& count) const {
  if (shape.elements() == 0) return 0;
  const auto* caches = dynamic_cast<const CacheState*>(state);
  const Cache* known = nullptr;
  if (caches != nullptr) known = caches->sender.store.empty() ? &caches->receiver : &caches->sender;
  std::size_t bytes = 0;
  std::size_t done = 0;
  const auto came_before = [&](std::int64_t id) {
    const auto before = context.sample_ids.first(std::min(done, context.sample_ids.size()));
    return std::find(before.begin(), before.end(), id) != before.end();
  };
  for_each_sample(shape, context, [&](const Sample& sample, const Context& part) {
    const bool is_known = context.phase == Phase::kEval ||
                          (known != nullptr && known->has(sample.id)) || came_before(sample.id);
    ++done;
    bytes += is_known ? count(sample, part) : first_visit;
  });
  return bytes;
}

std::size_t AqSgd::payload_bytes(const Shape& shape, DType dtype, const Context& context, int,
                                 const State* state) const {
  const std::size_t raw = static_cast<std::size_t>(shape.tokens * shape.hidden) * item_bytes(dtype);
  return count_bytes(shape, dtype, context, state, raw,
                     [&](const Sample& sample, const Context& part) {
                       return inner().payload_bytes(sample.shape, dtype, part, 0, nullptr);
                     });
}

std::size_t AqSgd::metadata_bytes(const Shape& shape, DType dtype, const Context& context, int,
                                  const State* state) const {
  return count_bytes(shape, dtype, context, state, 0,
                     [&](const Sample& sample, const Context& part) {
                       return inner().metadata_bytes(sample.shape, dtype, part, 0, nullptr);
                     });
}

std::size_t AqSgd::workspace_bytes(const Shape& shape, DType dtype, const Context& context) const {
  const Shape one{1, shape.tokens, shape.hidden};
  const bool is_on_device = context.device == Device::kCuda;
  std::size_t bytes = inner().workspace_bytes(one, dtype, context);
  if (!is_on_device)
    bytes += 5 * Scratch::bytes_for<float>(one.elements());
  else
    bytes += inner().feedback_workspace_bytes(one, dtype, context);
  // A sample as it is recalled, where that is not the cache itself.
  if (is_on_device && options_.format != AqSgdOptions::Format::kFloat32)
    bytes += Scratch::bytes_for<float>(one.elements());
  if (options_.codec)
    bytes += Scratch::bytes_for<std::byte>(static_cast<std::int64_t>(
                 options_.codec->payload_bytes(one, DType::kFloat32, context, 0, nullptr))) +
             options_.codec->workspace_bytes(one, DType::kFloat32, context);
  // decode_bits there goes through decode().
  if (is_on_device) bytes += Scratch::bytes_for<float>(shape.elements());
  return bytes;
}

void AqSgd::keep(Cache& cache, const Sample& sample, std::span<const float> value,
                 const Context& context) const {
  Scratch scratch(context);
  const auto finite = scratch.take<float>(std::ssize(value));
  kernels::store_finite(value.data(), std::ssize(value), finite.data());
  if (options_.format == AqSgdOptions::Format::kFloat32)
    return cache.store.put(sample.id, std::as_bytes(finite));
  if (options_.format == AqSgdOptions::Format::kFloat16) {
    const auto half = scratch.take<std::uint16_t>(std::ssize(value));
    round_to(DType::kFloat16, finite, half.data());
    return cache.store.put(sample.id, std::as_bytes(half));
  }
  const auto payload = scratch.take<std::byte>(static_cast<std::int64_t>(
      options_.codec->payload_bytes(sample.shape, DType::kFloat32, context, 0, nullptr)));
  Context rest = context;
  rest.workspace = scratch.rest();
  const std::size_t size = options_.codec->encode(0, {finite.data(), sample.shape, DType::kFloat32},
                                                  payload, nullptr, rest);
  cache.store.put(sample.id, payload.first(size));
}

void AqSgd::recall(const Cache& cache, const Sample& sample, std::span<float> value,
                   const Context& context) const {
  std::vector<std::byte> buffer;
  const auto cached = cache.store.get(sample.id, buffer);
  if (options_.format == AqSgdOptions::Format::kCodec) {
    options_.codec->decode(cached, sample.shape, DType::kFloat32, value, nullptr, context);
    kernels::store_finite(value.data(), std::ssize(value), value.data());
    return;
  }
  const DType dtype =
      options_.format == AqSgdOptions::Format::kFloat32 ? DType::kFloat32 : DType::kFloat16;
  expect_payload_bytes(cached, value.size() * item_bytes(dtype), "aqsgd: stored sample");
  widen(dtype, cached.data(), value);
}

bool AqSgd::supports(Device device) const {
  if (device == Device::kCuda && options_.is_in_file) return false;
  return inner_supports(device) && (!options_.codec || options_.codec->supports(device));
}

std::size_t AqSgd::encode(int, const TensorView& in, std::span<std::byte> out, State* state,
                          const Context& context) const {
  if (in.shape.elements() == 0) return 0;
  auto* caches = dynamic_cast<CacheState*>(state);
  const bool is_training = context.phase == Phase::kTrain;
  TERSOR_CHECK(caches != nullptr || !is_training, "aqsgd needs the state that make_state gave");
  expect_room(out, payload_bytes(in.shape, in.dtype, context, 0, state), "aqsgd");
  const std::size_t item = item_bytes(in.dtype);
  std::size_t size = 0;
  for_each_sample(in.shape, context, [&](const Sample& sample, const Context& part) {
    const auto* data = static_cast<const std::byte*>(in.data) + sample.first * item;
    if (!is_training) {
      size += inner().encode(0, {data, sample.shape, in.dtype}, out.subspan(size), nullptr, part);
      return;
    }
    if (context.device == Device::kCuda) {
      size += encode_on_device({data, sample.shape, in.dtype}, out.subspan(size), caches->sender,
                               sample, part);
      return;
    }
    Scratch scratch(part);
    const auto value = scratch.take<float>(sample.shape.elements());
    const auto change = scratch.take<float>(sample.shape.elements());
    const auto rounded =
        scratch.take<std::byte>(sample.shape.elements() * static_cast<std::int64_t>(item));
    Context rest = part;
    rest.workspace = scratch.rest();
    widen(in.dtype, data, value);
    if (!caches->sender.has(sample.id)) {
      std::memcpy(out.data() + size, data, sample.elements * item);
      size += sample.elements * item;
      keep(caches->sender, sample, value, rest);
      return;
    }
    recall(caches->sender, sample, change, rest);
    for (std::size_t i = 0; i < value.size(); ++i) value[i] -= change[i];
    round_to(in.dtype, value, rounded.data());
    const auto sent = out.subspan(size);
    const std::size_t bytes =
        inner().encode(0, {rounded.data(), sample.shape, in.dtype}, sent, nullptr, rest);
    inner().decode(sent.first(bytes), sample.shape, in.dtype, value, nullptr, rest);
    for (std::size_t i = 0; i < value.size(); ++i) value[i] = change[i] + value[i];
    keep(caches->sender, sample, value, rest);
    size += bytes;
  });
  return size;
}

void AqSgd::decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                   std::span<float> out, State* state, const Context& context) const {
  PayloadReader reader(payload, "aqsgd");
  if (shape.elements() == 0) return reader.expect_end();
  auto* caches = dynamic_cast<CacheState*>(state);
  const bool is_training = context.phase == Phase::kTrain;
  TERSOR_CHECK(caches != nullptr || !is_training, "aqsgd needs the state that make_state gave");
  for_each_sample(shape, context, [&](const Sample& sample, const Context& part) {
    const auto value = out.subspan(sample.first, sample.elements);
    const bool is_first = is_training && !caches->receiver.has(sample.id);
    const std::size_t size = is_first
                                 ? sample.elements * item_bytes(dtype)
                                 : inner().payload_bytes(sample.shape, dtype, part, 0, nullptr);
    const std::span<const std::byte> piece(reader.take(size), size);
    if (is_training && context.device == Device::kCuda)
      return decode_sample_on_device(piece, dtype, value, caches->receiver, sample, part);
    if (is_first) {
      widen(dtype, piece.data(), value);
    } else {
      inner().decode(piece, sample.shape, dtype, value, nullptr, part);
      if (!is_training) return;
      Scratch scratch(part);
      const auto cached = scratch.take<float>(sample.shape.elements());
      Context rest = part;
      rest.workspace = scratch.rest();
      recall(caches->receiver, sample, cached, rest);
      for (std::size_t i = 0; i < cached.size(); ++i) value[i] = cached[i] + value[i];
    }
    keep(caches->receiver, sample, value, part);
  });
  reader.expect_end();
}

}  // namespace tersor::compressors

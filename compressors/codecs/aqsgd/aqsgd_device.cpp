// SPDX-License-Identifier: Apache-2.0
// What aqsgd does with a sample whose cache is on a device.
#include "compressors/codecs/aqsgd/aqsgd_cache.hpp"
#include "compressors/device/device_floats.hpp"

namespace tersor::compressors {

std::span<float> AqSgd::recall_on_device(const Cache& cache, const Sample& sample, Scratch& scratch,
                                         const Context& context) const {
  const std::span<std::byte> stored = cache.store.on_device(sample.id);
  if (options_.format != AqSgdOptions::Format::kCodec) {
    const bool is_float32 = options_.format == AqSgdOptions::Format::kFloat32;
    expect_payload_bytes(stored, sample.elements * (is_float32 ? 4 : 2), "aqsgd: stored sample");
    if (is_float32) return {reinterpret_cast<float*>(stored.data()), sample.elements};
  }
  const auto value = scratch.take<float>(sample.shape.elements());
  Context rest = context;
  rest.workspace = scratch.rest();
  if (options_.format == AqSgdOptions::Format::kCodec)
    options_.codec->decode(stored, sample.shape, DType::kFloat32, value, nullptr, rest);
  else
    float_launchers().keep(stored.data(), DType::kFloat16, std::ssize(value), DType::kFloat32,
                           value.data(), context.stream);
  return value;
}

void AqSgd::keep_on_device(Cache& cache, const Sample& sample, std::span<float> value,
                           const Context& context) const {
  const std::byte* from = std::as_bytes(value).data();
  const std::int64_t n = std::ssize(value);
  if (options_.format == AqSgdOptions::Format::kFloat32) return;  // value is the cache
  if (options_.format == AqSgdOptions::Format::kFloat16)
    return float_launchers().keep(from, DType::kFloat32, n, DType::kFloat16,
                                  cache.store.place(sample.id, value.size() * 2).data(),
                                  context.stream);
  float_launchers().keep(from, DType::kFloat32, n, DType::kFloat32, value.data(), context.stream);
  const std::size_t bytes =
      options_.codec->payload_bytes(sample.shape, DType::kFloat32, context, 0, nullptr);
  options_.codec->encode(0, {value.data(), sample.shape, DType::kFloat32},
                         cache.store.place(sample.id, bytes), nullptr, context);
}

void AqSgd::keep_first_on_device(Cache& cache, const Sample& sample, const std::byte* bits,
                                 DType dtype, Scratch& scratch, const Context& context) const {
  const auto n = static_cast<std::int64_t>(sample.elements);
  if (options_.format != AqSgdOptions::Format::kCodec) {
    const DType format =
        options_.format == AqSgdOptions::Format::kFloat32 ? DType::kFloat32 : DType::kFloat16;
    const std::span<std::byte> place =
        cache.store.place(sample.id, sample.elements * item_bytes(format));
    return float_launchers().keep(bits, dtype, n, format, place.data(), context.stream);
  }
  const auto value = scratch.take<float>(n);
  Context rest = context;
  rest.workspace = scratch.rest();
  float_launchers().keep(bits, dtype, n, DType::kFloat32, value.data(), context.stream);
  keep_on_device(cache, sample, value, rest);
}

std::size_t AqSgd::encode_on_device(const TensorView& in, std::span<std::byte> out, Cache& cache,
                                    const Sample& sample, const Context& context) const {
  const auto* bits = static_cast<const std::byte*>(in.data);
  const std::size_t bytes = in.bytes();
  Scratch scratch(context);
  if (!cache.has(sample.id)) {
    float_launchers().copy_rows(bits, bytes, out.data(), bytes, bytes, 1, context.stream);
    keep_first_on_device(cache, sample, bits, in.dtype, scratch, context);
    return bytes;
  }
  const std::span<float> stored = recall_on_device(cache, sample, scratch, context);
  Context rest = context;
  rest.workspace = scratch.rest();
  const std::size_t size =
      inner().encode_with_feedback(in, {stored.data(), FeedbackArray::kSample}, out, rest);
  keep_on_device(cache, sample, stored, rest);
  return size;
}

void AqSgd::decode_sample_on_device(std::span<const std::byte> payload, DType dtype,
                                    std::span<float> out, Cache& cache, const Sample& sample,
                                    const Context& context) const {
  const auto n = static_cast<std::int64_t>(sample.elements);
  const DecodeTarget target{out.data(), DType::kFloat32, false};
  Scratch scratch(context);
  if (!cache.has(sample.id)) {
    float_launchers().add({&payload, 1}, dtype, n, target, context.stream);
    return keep_first_on_device(cache, sample, payload.data(), dtype, scratch, context);
  }
  const std::span<float> stored = recall_on_device(cache, sample, scratch, context);
  Context rest = context;
  rest.workspace = scratch.rest();
  inner().decode_accumulate(payload, sample.shape, dtype, stored, nullptr, rest);
  float* const cached = stored.data();
  float_launchers().publish_feedback({&cached, 1}, n, target, context.stream);
  keep_on_device(cache, sample, stored, rest);
}

}  // namespace tersor::compressors

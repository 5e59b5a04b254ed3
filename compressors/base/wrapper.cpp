// SPDX-License-Identifier: Apache-2.0
#include "compressors/base/wrapper.hpp"

#include <algorithm>
#include <cstring>

#include "common/error.hpp"
#include "compressors/device/device_floats.hpp"
#include "compressors/wire/bits.hpp"
#include "compressors/wire/floats.hpp"

namespace tersor::compressors {

Wrapper::Wrapper(std::shared_ptr<const Codec> inner, std::string canonical)
    : inner_(std::move(inner)), canonical_(std::move(canonical)) {}

DType Wrapper::reduce_dtype(int round, DType dtype) const {
  return inner_->reduce_dtype(round, inner_dtype(dtype));
}

std::size_t Wrapper::payload_bytes(const Shape& shape, DType dtype, const Context& context,
                                   int round, const State* state) const {
  return inner_->payload_bytes(inner_shape(shape), inner_dtype(dtype), context, round, state);
}

std::size_t Wrapper::metadata_bytes(const Shape& shape, DType dtype, const Context& context,
                                    int round, const State* state) const {
  return inner_->metadata_bytes(inner_shape(shape), inner_dtype(dtype), context, round, state);
}

std::size_t Wrapper::part_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                                std::uint32_t to, const State* state) const {
  return inner_->part_bytes(inner_shape(shape), inner_dtype(dtype), context, round, to, state);
}

std::unique_ptr<State> Wrapper::make_state(const Shape& shape, DType dtype,
                                           std::uint32_t ranks) const {
  return inner_->make_state(inner_shape(shape), inner_dtype(dtype), ranks);
}

bool Wrapper::inner_supports(Device device) const {
  return inner_->supports(device) && (device == Device::kCpu || has_float_launchers());
}

std::int64_t Wrapper::added_parameters(const Shape& shape, std::uint32_t ranks) const {
  return inner_->added_parameters(inner_shape(shape), ranks);
}

double Wrapper::added_flops(const Shape& shape, std::uint32_t ranks) const {
  return inner_->added_flops(inner_shape(shape), ranks);
}

void Wrapper::absorb(int round, std::span<const std::span<const std::byte>> received,
                     const Shape& shape, DType dtype, State* state, const Context& context) const {
  inner_->absorb(round, received, inner_shape(shape), inner_dtype(dtype), state, context);
}

std::string refuses_state_or_rounds(std::string_view inner_name, const Codec& inner) {
  const std::string name(inner_name);
  if (inner.rounds() > 1)
    return "it takes a codec of one round, and " + name + " has " + std::to_string(inner.rounds());
  if (inner.properties().state != StateKind::kNone)
    return "it takes a codec without state, and " + name + " keeps some";
  return {};
}

std::string refuses_feedback(std::string_view inner_name, const Codec& inner) {
  if (inner.properties().is_expansive)
    return "it takes a contractive codec, which " + inner.canonical() + " is not";
  return refuses_state_or_rounds(inner_name, inner);
}

FloatState::FloatState(std::size_t arrays, std::int64_t elements, FeedbackForm form)
    : elements_(elements), form_(form), arrays_(arrays) {}

void FloatState::move_to(DeviceMemory& memory) {
  memory_ = &memory;
  for (Array& array : arrays_) {
    std::vector<float> values = values_of(array);
    array.on_device = DeviceArray(memory, static_cast<std::size_t>(elements_) * sizeof(float));
    put(array, std::move(values));
  }
}

std::size_t FloatState::bytes() const {
  std::size_t bytes = 0;
  for (const Array& array : arrays_)
    bytes += array.values.size() * sizeof(float) + array.on_device.bytes();
  return bytes;
}

std::span<float> FloatState::writable(std::size_t which) {
  Array& array = arrays_.at(which);
  array.is_written = true;
  const auto size = static_cast<std::size_t>(elements_);
  if (memory_ != nullptr) return {reinterpret_cast<float*>(array.on_device.data()), size};
  array.values.resize(size, 0.0f);
  return array.values;
}

std::vector<float> FloatState::values_of(const Array& array) const {
  if (!array.on_device) {
    std::vector<float> values = array.values;
    values.resize(static_cast<std::size_t>(elements_), 0.0f);
    return values;
  }
  std::vector<float> values(static_cast<std::size_t>(elements_));
  array.on_device.copy_out(values.data());
  for (float& value : values) {
    value = finite_or_zero(value);
    if (form_ == FeedbackForm::kNegatives) value = 0.0f - value;
  }
  return values;
}

void FloatState::put(Array& array, std::vector<float> values) const {
  if (!array.on_device) {
    array.values = std::move(values);
    return;
  }
  if (form_ == FeedbackForm::kNegatives)
    for (float& value : values) value = -value;
  array.on_device.copy_in(values.data());
  array.values.clear();
}

// Per array a byte (0: zeros) and, where it is 1, the values.
std::vector<std::byte> FloatState::save() const {
  std::vector<std::byte> out;
  for (const Array& array : arrays_) {
    out.push_back(array.is_written ? std::byte{1} : std::byte{0});
    if (!array.is_written) continue;
    const std::vector<float> values = values_of(array);
    const auto raw = std::as_bytes(std::span(values));
    out.insert(out.end(), raw.begin(), raw.end());
  }
  return out;
}

void FloatState::restore(std::span<const std::byte> saved) {
  PayloadReader reader(saved, "state");
  const auto size = static_cast<std::size_t>(elements_);
  std::vector<std::vector<float>> arrays(arrays_.size());
  for (auto& array : arrays) {
    const auto is_set = load<std::uint8_t>(reader.take(1));
    if (is_set > 1) throw Error(ErrorKind::kPayload, "state: not of this codec and shape");
    if (is_set == 0) continue;
    const std::byte* values = reader.take(size * sizeof(float));
    array.resize(size);
    if (size > 0) std::memcpy(array.data(), values, size * sizeof(float));
  }
  reader.expect_end();
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    arrays_[i].is_written = !arrays[i].empty();
    if (memory_ != nullptr) arrays[i].resize(size, 0.0f);
    put(arrays_[i], std::move(arrays[i]));
  }
}

FloatState& float_state(State* state, std::string_view codec) {
  auto* floats = dynamic_cast<FloatState*>(state);
  TERSOR_CHECK(floats != nullptr, std::string(codec) + " needs the state that make_state gave");
  return *floats;
}

Properties stateful_properties(const Codec& inner, StateKind kind) {
  Properties p = inner.properties();
  p.state = kind;
  p.summable = false;
  p.unbiased = false;
  p.unbiased_range.clear();
  p.contraction = nullptr;
  p.error_bound_of_absmax.reset();
  p.lossless = false;
  return p;
}

}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#include "compressors/api/wrapper.hpp"

#include <algorithm>
#include <cstring>

#include "common/error.hpp"
#include "compressors/api/bits.hpp"

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

FloatState::FloatState(std::size_t arrays, std::int64_t elements)
    : elements_(elements), arrays_(arrays) {}

std::size_t FloatState::bytes() const {
  std::size_t bytes = 0;
  for (const auto& array : arrays_) bytes += array.size() * sizeof(float);
  return bytes;
}

std::span<float> FloatState::writable(std::size_t which) {
  auto& array = arrays_.at(which);
  if (array.empty()) array.resize(static_cast<std::size_t>(elements_), 0.0f);
  return array;
}

// Per array a byte (0: zeros) and, where it is 1, the values.
std::vector<std::byte> FloatState::save() const {
  std::vector<std::byte> out;
  for (const auto& array : arrays_) {
    out.push_back(array.empty() ? std::byte{0} : std::byte{1});
    const auto raw = std::as_bytes(std::span(array));
    out.insert(out.end(), raw.begin(), raw.end());
  }
  return out;
}

void FloatState::restore(std::span<const std::byte> saved) {
  PayloadReader reader(saved, "state");
  std::vector<std::vector<float>> arrays(arrays_.size());
  for (auto& array : arrays) {
    const auto is_set = load<std::uint8_t>(reader.take(1));
    if (is_set > 1) throw Error(ErrorKind::kPayload, "state: not of this codec and shape");
    if (is_set == 0) continue;
    array.resize(static_cast<std::size_t>(elements_));
    std::memcpy(array.data(), reader.take(array.size() * sizeof(float)),
                array.size() * sizeof(float));
  }
  reader.expect_end();
  arrays_ = std::move(arrays);
}

FloatState& float_state(State* state, std::string_view codec) {
  auto* floats = dynamic_cast<FloatState*>(state);
  TERSOR_CHECK(floats != nullptr, std::string(codec) + " needs the state that make_state gave");
  return *floats;
}

}  // namespace tersor::compressors

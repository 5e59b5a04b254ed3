// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compressors/api/codec.hpp"
#include "compressors/device/device_memory.hpp"

namespace tersor::compressors {

/// Base of codecs around another one: what they do not override, the inner codec does, on a message
/// of inner_shape() and inner_dtype(). The state is the inner one unless make_state is overridden.
class Wrapper : public Codec {
 public:
  Wrapper(std::shared_ptr<const Codec> inner, std::string canonical);

  std::string canonical() const final { return canonical_; }
  int rounds() const override { return inner_->rounds(); }
  Exchange exchange(int round) const override { return inner_->exchange(round); }
  bool is_of_payload(int round) const override { return inner_->is_of_payload(round); }
  DType reduce_dtype(int round, DType dtype) const override;
  std::size_t payload_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                            const State* state) const override;
  std::size_t metadata_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                             const State* state) const override;
  std::size_t part_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                         std::uint32_t to, const State* state) const override;
  std::unique_ptr<State> make_state(const Shape& shape, DType dtype,
                                    std::uint32_t ranks) const override;
  bool decodes_with_state() const override { return inner_->decodes_with_state(); }
  std::int64_t added_parameters(const Shape& shape, std::uint32_t ranks) const override;
  double added_flops(const Shape& shape, std::uint32_t ranks) const override;
  void absorb(int round, std::span<const std::span<const std::byte>> received, const Shape& shape,
              DType dtype, State* state, const Context& context) const override;

  const Codec& inner() const { return *inner_; }
  std::shared_ptr<const Codec> shared_inner() const { return inner_; }

 protected:
  /// What supports() says of a wrapper whose only kernels are those of float_launchers().
  bool inner_supports(Device device) const;
  virtual Shape inner_shape(const Shape& shape) const { return shape; }
  virtual DType inner_dtype(DType dtype) const { return dtype; }
  /// Workspace of the inner codec for a message of this shape.
  std::size_t inner_workspace_bytes(const Shape& shape, DType dtype, const Context& context) const {
    return inner_->workspace_bytes(inner_shape(shape), inner_dtype(dtype), context);
  }

 private:
  std::shared_ptr<const Codec> inner_;
  std::string canonical_;
};

/// Why a wrapper that needs a stateless codec of one round does not take this one; empty: it does.
std::string refuses_state_or_rounds(std::string_view inner_name, const Codec& inner);
/// The same for error feedback, which also needs a codec whose error it can work off.
std::string refuses_feedback(std::string_view inner_name, const Codec& inner);

/// What kernels leave in the arrays of a FloatState on a device. Non-finite elements count as 0:
/// kernels leave them until they next read the array.
enum class FeedbackForm : std::uint8_t {
  kValues,    ///< the array
  kNegatives  ///< its negative (float_kernels.cu says what for)
};

/// Float arrays of a wrapper from message to message; on the CPU an array is empty, and counts as
/// zeros, until it is first written.
class FloatState final : public State {
 public:
  /// `arrays` of them, of `elements` each.
  FloatState(std::size_t arrays, std::int64_t elements, FeedbackForm form = FeedbackForm::kValues);

  void move_to(DeviceMemory& memory) override;
  std::size_t bytes() const override;
  std::vector<std::byte> save() const override;
  void restore(std::span<const std::byte> saved) override;

  /// Write access, filled with zeros at first use; device memory after move_to.
  std::span<float> writable(std::size_t which);

 private:
  struct Array {
    bool is_written = false;
    std::vector<float> values;
    DeviceArray on_device;
  };
  std::vector<float> values_of(const Array& array) const;
  void put(Array& array, std::vector<float> values) const;

  std::int64_t elements_;
  FeedbackForm form_;
  std::vector<Array> arrays_;
  DeviceMemory* memory_ = nullptr;
};

/// `state` as FloatState of a message of `elements`; throws Error(kInternal) where it is none.
FloatState& float_state(State* state, std::string_view codec);

/// Properties of a wrapper that keeps state between messages: those of one message do not hold any
/// more.
Properties stateful_properties(const Codec& inner, StateKind kind);

}  // namespace tersor::compressors

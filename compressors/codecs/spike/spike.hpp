// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/base/leaf_codec.hpp"
#include "compressors/wire/scopes.hpp"

namespace tersor::compressors {

struct SpikeOptions {
  int bits = 4;
  std::int64_t group = 128;  ///< at most 256: positions are bytes
  std::int64_t reserve = 1;  ///< smallest and largest values sent exactly, each; 2 reserve < group
};

/// Offsets of the parts of a payload.
struct SpikeLayout {
  std::int64_t groups = 0;
  std::int64_t reserved = 0;  ///< of all groups
  std::int64_t plane_bytes = 0;

  std::int64_t steps() const { return 2 * groups; }
  std::int64_t values() const { return 4 * groups; }
  std::int64_t positions() const { return values() + 2 * reserved; }
  std::int64_t planes() const { return positions() + reserved; }
};

/// The launchers of spike.cu (DeviceTable), for tensors with elements. A position outside its
/// group, which decode on the CPU refuses, is left out: a device cannot say so without a wait.
struct SpikeLaunchers {
  void (*encode)(const TensorView& in, const FeedbackArray& feedback, const SpikeOptions& options,
                 const SpikeLayout& layout, std::byte* payload, const Context& context);
  void (*decode)(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                 const SpikeOptions& options, const SpikeLayout& layout, const DecodeTarget& target,
                 const Context& context);
};

/// Whether every group begins and ends at a whole byte of the planes: one launch does it all.
inline bool are_spike_groups_whole(const SpikeOptions& options, const Shape& shape) {
  return shape.hidden % 8 == 0 && (options.group % 8 == 0 || options.group >= shape.hidden);
}

/// Groups whose extreme values stay float16 while the rest is quantised between its own limits,
/// the codes as bit planes (METHODS section 2).
class Spike final : public LeafCodec {
 public:
  Spike(const SpikeOptions& options, std::string canonical);

  Properties properties() const override;
  bool supports(Device device) const override;
  std::size_t workspace_bytes(const Shape& shape, DType dtype,
                              const Context& context) const override;
  std::size_t encode_with_feedback(const TensorView& in, const FeedbackArray& feedback,
                                   std::span<std::byte> out, const Context& context) const override;
  std::size_t feedback_workspace_bytes(const Shape&, DType, const Context&) const override {
    return 0;
  }

 private:
  Sizes sizes(const Shape& shape, DType dtype) const override;
  void write(const TensorView& in, std::byte* out, const Context& context) const override;
  void read(const std::byte* payload, const Shape& shape, DType dtype, bool is_accumulated,
            float* out, const Context& context) const override;
  void read_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                      DType dtype, const DecodeTarget& target,
                      const Context& context) const override;
  SpikeLayout layout(const Shape& shape) const;
  ScopeGrid grid(const Shape& shape) const { return {shape, Scope::kGroup, options_.group}; }
  std::int64_t reserved_of(std::int64_t length) const {
    return std::min(length, 2 * options_.reserve);
  }
  /// Elements that the scopes in front of this one keep.
  std::int64_t reserved_before(std::int64_t scope, const Shape& shape) const;
  std::int64_t reserved_of_all(const Shape& shape) const;

  SpikeOptions options_;
};

}  // namespace tersor::compressors

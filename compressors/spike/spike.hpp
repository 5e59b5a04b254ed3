// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/api/leaf_codec.hpp"
#include "compressors/api/scopes.hpp"

namespace tersor::compressors {

struct SpikeOptions {
  int bits = 4;
  std::int64_t group = 128;  ///< at most 256: positions are bytes
  std::int64_t reserve = 1;  ///< smallest and largest values kept, each; 2 reserve < group
};

/// Groups whose extreme values stay float16 while the rest is quantised between its own limits,
/// the codes as bit planes (METHODS section 2).
class Spike final : public LeafCodec {
 public:
  Spike(const SpikeOptions& options, std::string canonical);

  Properties properties() const override;
  std::size_t workspace_bytes(const Shape& shape, DType dtype,
                              const Context& context) const override;

 private:
  Sizes sizes(const Shape& shape, DType dtype) const override;
  void write(const TensorView& in, std::byte* out, const Context& context) const override;
  void read(const std::byte* payload, const Shape& shape, DType dtype, bool is_accumulated,
            float* out, const Context& context) const override;
  ScopeGrid grid(const Shape& shape) const { return {shape, Scope::kGroup, options_.group}; }
  std::int64_t reserved_of(std::int64_t length) const {
    return std::min(length, 2 * options_.reserve);
  }
  std::int64_t reserved_of_all(const Shape& shape) const;

  SpikeOptions options_;
};

}  // namespace tersor::compressors

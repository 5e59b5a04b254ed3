// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/base/leaf_codec.hpp"

namespace tersor::compressors {

/// `dim` rows of a random circulant matrix of +-1, times random signs, applied to each row (METHODS
/// section 2).
class Circulant final : public LeafCodec {
 public:
  Circulant(std::int64_t dim, std::string canonical);

  Properties properties() const override;
  std::size_t workspace_bytes(const Shape& shape, DType dtype,
                              const Context& context) const override;
  double added_flops(const Shape& shape, std::uint32_t ranks) const override;

 private:
  Sizes sizes(const Shape& shape, DType dtype) const override;
  void write(const TensorView& in, std::byte* out, const Context& context) const override;
  void read(const std::byte* payload, const Shape& shape, DType dtype, bool is_accumulated,
            float* out, const Context& context) const override;

  std::int64_t dim_;
};

}  // namespace tersor::compressors

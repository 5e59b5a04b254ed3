// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/api/wrapper.hpp"
#include "compressors/topk/topk.hpp"

namespace tersor::compressors {

/// Top-K with error feedback whose positions are chosen half by the message and half by the error
/// (METHODS section 2).
class EfMixed final : public Wrapper {
 public:
  EfMixed(std::shared_ptr<const TopK> inner, std::string canonical);

  Properties properties() const override;
  std::unique_ptr<State> make_state(const Shape& shape, DType dtype,
                                    std::uint32_t ranks) const override;
  std::size_t workspace_bytes(const Shape& shape, DType dtype,
                              const Context& context) const override;
  std::size_t encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                     const Context& context) const override;
  void decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
              std::span<float> out, State* state, const Context& context) const override;
  void combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
               DType dtype, std::span<float> out, State* state,
               const Context& context) const override;

 private:
  std::shared_ptr<const TopK> topk_;
};

}  // namespace tersor::compressors

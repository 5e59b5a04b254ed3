// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/base/wrapper.hpp"
#include "compressors/codecs/topk/topk.hpp"

namespace tersor::compressors {

/// Arrays that encoding takes from the workspace of a device.
struct EfMixedArrays {
  TopKArrays selection;
  float* transposed_error = nullptr;  ///< by columns, where scopes are channels
  std::byte* flags = nullptr;  ///< what the message chose: a byte for each thread tile of a scope
};
EfMixedArrays ef_mixed_arrays(const SparseGrid& grid, DType dtype, DeviceWorkspace& workspace);

/// The launchers of ef_mixed.cu (DeviceTable). Pointers are device memory; launches only, no
/// synchronisation. The tensor has elements; `error` becomes the new one.
struct EfMixedLaunchers {
  void (*encode)(const TensorView& in, float* error, const SparseGrid& grid, std::byte* out,
                 const Context& context);
};

/// Top-K with error feedback whose positions are chosen half by the message and half by the error
/// (METHODS section 2).
class EfMixed final : public Wrapper {
 public:
  EfMixed(std::shared_ptr<const TopK> inner, std::string canonical);

  Properties properties() const override;
  bool supports(Device device) const override;
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
  void decode_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                        DType dtype, const DecodeTarget& target,
                        const Context& context) const override;

 private:
  std::shared_ptr<const TopK> topk_;
};

}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/base/leaf_codec.hpp"

namespace tersor::compressors {

/// Rows padded to more than this go through global memory, in the workspace (device/hadamard.cuh).
inline constexpr std::int64_t kLongestPieceRow = 4096;

/// What a message of srht draws and multiplies by, for its kernels.
struct SrhtPlan {
  std::int64_t dim = 0;
  std::int64_t size = 0;  ///< hidden padded to a power of two
  float factor = 0;       ///< float32(sqrt(size/dim))
  Stream signs{};
  Stream coordinates{};
};

/// The launchers of srht.cu (DeviceTable), for tensors with elements; scratch from
/// context.workspace.
struct SrhtLaunchers {
  void (*encode)(const TensorView& in, const SrhtPlan& plan, std::byte* payload,
                 const Context& context);
  void (*decode)(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                 DType dtype, const SrhtPlan& plan, const DecodeTarget& target,
                 const Context& context);
};

/// Subsampled randomised Hadamard transform of each row to `dim` values (METHODS section 2).
class Srht final : public LeafCodec {
 public:
  Srht(std::int64_t dim, std::string canonical);

  Properties properties() const override;
  bool supports(Device device) const override;
  std::size_t workspace_bytes(const Shape& shape, DType dtype,
                              const Context& context) const override;
  double added_flops(const Shape& shape, std::uint32_t ranks) const override;
  void combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
               DType dtype, std::span<float> out, State* state,
               const Context& context) const override;

 private:
  Sizes sizes(const Shape& shape, DType dtype) const override;
  void write(const TensorView& in, std::byte* out, const Context& context) const override;
  void read(const std::byte* payload, const Shape& shape, DType dtype, bool is_accumulated,
            float* out, const Context& context) const override;
  void read_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                      DType dtype, const DecodeTarget& target,
                      const Context& context) const override;
  void add_rows(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                DType dtype, bool is_accumulated, float* out, const Context& context) const;
  SrhtPlan plan(const Shape& shape, const Context& context) const;

  std::int64_t dim_;
};

}  // namespace tersor::compressors

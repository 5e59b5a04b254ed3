// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "compressors/base/sparse.hpp"
#include "compressors/base/summing_codec.hpp"
#include "compressors/device/sparse_plan.hpp"

namespace tersor::compressors {

struct RandKOptions {
  double ratio = 0.01;
  std::optional<std::int64_t> k{};  ///< instead of ratio
  bool is_stratified = false;       ///< sampling=stratified
  bool is_shared = true;            ///< the same positions on every rank: only values are sent
  bool is_unbiased = false;         ///< decode multiplies by n/k
  IndexCoding index = IndexCoding::kAuto;
};

/// What the kernels are told of a message.
struct RandKMessage {
  SparseGrid grid;  ///< one scope
  Stream stream;
  std::uint64_t offset = 0;  ///< draw of the first element, or of the first stratum
  bool is_stratified = false;
  bool is_unbiased = false;
  bool has_indices = false;
};
/// Arrays from the workspace of a device.
struct RandKArrays {
  std::uint32_t* positions = nullptr;
  SelectPlan plan;
};
RandKArrays randk_arrays(const RandKMessage& message, DeviceWorkspace& workspace);

/// The launchers of randk.cu (DeviceTable). Pointers are device memory; launches only, no
/// synchronisation. The tensor has elements.
struct RandKLaunchers {
  void (*encode)(const TensorView& in, const FeedbackArray& feedback, const RandKMessage& message,
                 std::byte* out, const Context& context);
  void (*decode)(std::span<const std::span<const std::byte>> payloads, const RandKMessage& message,
                 DType dtype, const DecodeTarget& target, const Context& context);
};

/// k random positions of the tensor, drawn anew in every step (METHODS section 2).
class RandK final : public SummingCodec {
 public:
  RandK(const RandKOptions& options, std::string canonical);

  std::string canonical() const override { return canonical_; }
  bool supports(Device device) const override;
  Properties properties() const override;
  Exchange exchange(int) const override {
    return options_.is_shared ? Exchange::kAllReduce : Exchange::kGather;
  }
  std::size_t payload_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                            const State* state) const override;
  std::size_t metadata_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                             const State* state) const override;
  std::size_t workspace_bytes(const Shape& shape, DType dtype,
                              const Context& context) const override;
  std::size_t encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                     const Context& context) const override;
  std::size_t encode_with_feedback(const TensorView& in, const FeedbackArray& feedback,
                                   std::span<std::byte> out, const Context& context) const override;
  std::size_t feedback_workspace_bytes(const Shape&, DType, const Context&) const override {
    return 0;
  }

  /// The k positions of a tensor of n elements, ascending, for the rank, step and site of
  /// `context`; k = positions.size() minus kPositionSlack. `keys` is scratch of key_elements(n).
  void draw_positions(std::int64_t n, const Context& context, std::span<std::uint32_t> keys,
                      std::span<std::uint32_t> positions) const;
  std::int64_t selected(std::int64_t n) const;
  std::int64_t key_elements(std::int64_t n) const;

 protected:
  void decode_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                        DType dtype, const DecodeTarget& target,
                        const Context& context) const override;
  void sum_payloads(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                    DType dtype, bool is_accumulated, float* out,
                    const Context& context) const override;

 private:
  SparseLayout layout(const Shape& shape, DType dtype) const;
  RandKMessage message(const Shape& shape, DType dtype, const Context& context) const;
  /// Shared strata: no array of positions is needed.
  bool is_drawn_in_pieces(std::int64_t n) const;
  void decode_to(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                 DType dtype, ScatterMode mode, std::span<float> out, const Context& context) const;

  RandKOptions options_;
  std::string canonical_;
};

}  // namespace tersor::compressors

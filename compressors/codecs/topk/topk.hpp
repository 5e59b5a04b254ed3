// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "compressors/base/sparse.hpp"
#include "compressors/base/summing_codec.hpp"
#include "compressors/device/sparse_plan.hpp"

namespace tersor::compressors {

struct TopKOptions {
  double ratio = 0.01;
  std::optional<std::int64_t> k{};  ///< instead of ratio
  Scope scope = Scope::kTensor;
  std::int64_t group = 128;
  IndexCoding index = IndexCoding::kAuto;
  bool is_rudakov = false;  ///< variant=rudakov
};

/// Scratch of the selection in a scope on the CPU.
struct TopKSelection {
  std::span<std::uint32_t> keys;   ///< of the scope (channel: of several), or of candidates
  std::span<std::uint32_t> spare;  ///< as long as the longest scope, where that is long
  std::span<std::uint32_t> index;  ///< the chosen positions; where a scope is long, of candidates
  std::span<float> values;         ///< of candidates; empty where no scope is long
};

/// Arrays that encoding takes from the workspace of a device.
struct TopKArrays {
  void* transposed = nullptr;  ///< the tensor by columns, where scopes are channels
  std::uint32_t* positions =
      nullptr;      ///< of all entries, for Elias-Fano, and for channels with feedback
  SelectPlan plan;  ///< of scopes that do not fit the registers of a block
};
TopKArrays topk_arrays(const SparseGrid& grid, DType dtype, bool has_feedback,
                       DeviceWorkspace& workspace);

/// The launchers of topk.cu (DeviceTable). Pointers are device memory; launches only, no
/// synchronisation. The tensor has elements.
struct TopKLaunchers {
  void (*encode)(const TensorView& in, const FeedbackArray& feedback, const SparseGrid& grid,
                 bool drops_ties, std::byte* out, const Context& context);
  void (*decode)(std::span<const std::span<const std::byte>> payloads, const SparseGrid& grid,
                 DType dtype, const DecodeTarget& target, const Context& context);
};

/// The k values of largest magnitude of each scope, with their positions (METHODS section 2).
class TopK final : public SummingCodec {
 public:
  TopK(const TopKOptions& options, std::string canonical);

  std::string canonical() const override { return canonical_; }
  bool supports(Device device) const override;
  Properties properties() const override;
  Exchange exchange(int) const override { return Exchange::kGather; }
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
  std::size_t feedback_workspace_bytes(const Shape& shape, DType dtype,
                                       const Context& context) const override;

  const TopKOptions& options() const { return options_; }
  /// Elements sent of a scope of n.
  std::int64_t selected(std::int64_t n) const;
  ScopeGrid grid(const Shape& shape) const { return {shape, options_.scope, options_.group}; }
  SparseLayout layout(const Shape& shape, DType dtype) const;

 protected:
  void sum_payloads(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                    DType dtype, bool is_accumulated, float* out,
                    const Context& context) const override;
  void decode_on_device(std::span<const std::span<const std::byte>> payloads, const Shape& shape,
                        DType dtype, const DecodeTarget& target,
                        const Context& context) const override;

 private:
  std::size_t encode_on_device(const TensorView& in, const FeedbackArray& feedback,
                               std::span<std::byte> out, const Context& context) const;
  void encode_scopes(const TensorView& in, const SparseLayout& sizes, std::int64_t first,
                     std::int64_t last, const TopKSelection& selection, int threads,
                     std::byte* out) const;

  TopKOptions options_;
  std::string canonical_;
};

}  // namespace tersor::compressors

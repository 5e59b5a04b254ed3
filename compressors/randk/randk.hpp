// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "compressors/api/codec.hpp"
#include "compressors/api/sparse.hpp"

namespace tersor::compressors {

struct RandKOptions {
  double ratio = 0.01;
  std::optional<std::int64_t> k{};  ///< instead of ratio
  bool is_stratified = false;       ///< sampling=stratified
  bool is_shared = true;            ///< the same positions on every rank: only values are sent
  bool is_unbiased = false;         ///< decode multiplies by n/k
  IndexCoding index = IndexCoding::kAuto;
};

/// k random positions of the tensor, drawn anew in every step (METHODS section 2).
class RandK final : public Codec {
 public:
  RandK(const RandKOptions& options, std::string canonical);

  std::string canonical() const override { return canonical_; }
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
  void decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
              std::span<float> out, State* state, const Context& context) const override;
  void decode_accumulate(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                         std::span<float> out, State* state, const Context& context) const override;

  /// The k positions of a tensor of n elements, ascending, for the rank, step and site of
  /// `context`; k = positions.size() minus kPositionSlack. `keys` is scratch of key_elements(n).
  void draw_positions(std::int64_t n, const Context& context, std::span<std::uint32_t> keys,
                      std::span<std::uint32_t> positions) const;
  std::int64_t kept(std::int64_t n) const;
  std::int64_t key_elements(std::int64_t n) const;

 private:
  SparseLayout layout(const Shape& shape, DType dtype) const;
  void decode_into(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                   std::span<float> out, const Context& context, bool is_accumulated) const;

  RandKOptions options_;
  std::string canonical_;
};

}  // namespace tersor::compressors

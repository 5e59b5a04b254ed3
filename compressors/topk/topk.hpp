// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "compressors/api/codec.hpp"
#include "compressors/api/sparse.hpp"

namespace tersor::compressors {

struct TopKOptions {
  double ratio = 0.01;
  std::optional<std::int64_t> k{};  ///< instead of ratio
  Scope scope = Scope::kTensor;
  std::int64_t group = 128;
  IndexCoding index = IndexCoding::kAuto;
  bool is_rudakov = false;  ///< variant=rudakov
};

/// The k values of largest magnitude of each scope, with their positions (METHODS section 2).
class TopK final : public Codec {
 public:
  TopK(const TopKOptions& options, std::string canonical);

  std::string canonical() const override { return canonical_; }
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
  void decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
              std::span<float> out, State* state, const Context& context) const override;
  void decode_accumulate(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                         std::span<float> out, State* state, const Context& context) const override;
  void combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
               DType dtype, std::span<float> out, State* state,
               const Context& context) const override;

  const TopKOptions& options() const { return options_; }
  /// Elements sent of a scope of n.
  std::int64_t kept(std::int64_t n) const;
  ScopeGrid grid(const Shape& shape) const { return {shape, options_.scope, options_.group}; }
  SparseLayout layout(const Shape& shape, DType dtype) const;

 private:
  TopKOptions options_;
  std::string canonical_;
};

}  // namespace tersor::compressors

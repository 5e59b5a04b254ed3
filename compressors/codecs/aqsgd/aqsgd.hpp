// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compressors/api/workspace.hpp"
#include "compressors/base/wrapper.hpp"

namespace tersor::compressors {

/// How a sample's decoded message is stored between its visits.
struct AqSgdOptions {
  enum class Format : std::uint8_t { kFloat32, kFloat16, kCodec };
  Format format = Format::kFloat32;
  std::shared_ptr<const Codec> codec{};  ///< kCodec: encodes and decodes what is stored, in float32
  bool is_in_file = false;               ///< store=file: an unnamed temporary file, not memory
};

/// AQ-SGD: per sample the change since its last visit is sent; both sides keep the decoded message
/// of every sample (METHODS section 2). context.sample_ids names the samples (none: 0, 1, ..).
class AqSgd final : public Wrapper {
 public:
  AqSgd(std::shared_ptr<const Codec> inner, AqSgdOptions options, std::string canonical);

  Properties properties() const override;
  bool supports(Device device) const override;
  bool decodes_with_state() const override { return true; }
  Exchange exchange(int) const override { return Exchange::kGather; }
  std::unique_ptr<State> make_state(const Shape& shape, DType dtype,
                                    std::uint32_t ranks) const override;
  /// Depends on which samples the state knows: a sender's state once it has sent, else a
  /// receiver's.
  std::size_t payload_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                            const State* state) const override;
  /// In a gather too: what a message weighs depends on the samples, not on the inner codec alone.
  std::size_t part_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                         std::uint32_t, const State* state) const override {
    return payload_bytes(shape, dtype, context, round, state);
  }
  std::size_t metadata_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                             const State* state) const override;
  std::size_t workspace_bytes(const Shape& shape, DType dtype,
                              const Context& context) const override;
  std::size_t encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                     const Context& context) const override;
  void decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
              std::span<float> out, State* state, const Context& context) const override;

 private:
  class Cache;
  class CacheState;
  struct Sample;
  template <class Visit>
  void for_each_sample(const Shape& shape, const Context& context, Visit&& visit) const;
  template <class Count>
  std::size_t count_bytes(const Shape& shape, DType dtype, const Context& context,
                          const State* state, std::size_t first_visit, Count&& count) const;
  void keep(Cache& cache, const Sample& sample, std::span<const float> value,
            const Context& context) const;
  void recall(const Cache& cache, const Sample& sample, std::span<float> value,
              const Context& context) const;

  /// On a device, what a later visit of a sample starts from: m as float32, in the cache itself
  /// where that is its format.
  std::span<float> recall_on_device(const Cache& cache, const Sample& sample, Scratch& scratch,
                                    const Context& context) const;
  /// m of a sample that was just added to, back to the cache; not where m is the cache itself.
  void keep_on_device(Cache& cache, const Sample& sample, std::span<float> value,
                      const Context& context) const;
  /// First visit: `bits` is the message.
  void keep_first_on_device(Cache& cache, const Sample& sample, const std::byte* bits, DType dtype,
                            Scratch& scratch, const Context& context) const;
  std::size_t encode_on_device(const TensorView& in, std::span<std::byte> out, Cache& cache,
                               const Sample& sample, const Context& context) const;
  void decode_sample_on_device(std::span<const std::byte> payload, DType dtype,
                               std::span<float> out, Cache& cache, const Sample& sample,
                               const Context& context) const;

  AqSgdOptions options_;
};

}  // namespace tersor::compressors

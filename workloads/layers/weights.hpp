// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tersor {
class SafeTensors;
}

namespace tersor::workloads {

/// How an absent parameter starts.
enum class Start : std::uint8_t { kNormal002, kZeros, kOnes, kXavierUniform };

/// Element i of the Init stream of `name` (METHODS section 1, "RNG"): i is the row-major index in
/// the unsharded tensor. kNormal002: Box-Muller in binary64 on u = (draw + 0.5) / 2^32, elements 2j
/// and 2j+1 = sqrt(-2 ln u_2j) {cos, sin}(2 pi u_2j+1), times 0.02, rounded once to float32.
/// kXavierUniform ({fan_in, fan_out}): (2u - 1) sqrt(6 / (fan_in + fan_out)).
std::vector<float> start_values(std::string_view name, std::span<const std::int64_t> shape,
                                Start start, std::uint64_t seed);

/// Where a model's full (unsharded) tensors come from: a safetensors file, or the Init stream.
class Weights {
 public:
  /// `file` empty: all from the Init stream. Throws as SafeTensors does.
  Weights(const std::string& file, std::uint64_t seed);
  ~Weights();

  bool has_file() const { return file_ != nullptr; }
  /// First dimension of a tensor of the file; 0 without a file.
  std::int64_t rows(std::string_view name) const;
  /// A tensor that the file must have, if there is one.
  std::vector<float> take(const std::string& name, std::span<const std::int64_t> shape,
                          Start start);
  /// A tensor that is never in the file (classifier, bottleneck).
  std::vector<float> fresh(const std::string& name, std::span<const std::int64_t> shape,
                           Start start);
  /// A codec's own weights: as fresh(), but not part of the model's hash.
  std::vector<float> added(const std::string& name, std::span<const std::int64_t> shape,
                           Start start) const;
  /// XXH64 over names and values handed out so far, but for added(): 16 hex digits.
  std::string hash() const;

 private:
  std::string find(std::string_view name) const;
  void absorb(std::string_view name, std::span<const float> values);

  std::unique_ptr<SafeTensors> file_;
  std::uint64_t seed_;
  std::uint64_t hash_ = 0;
};

}  // namespace tersor::workloads

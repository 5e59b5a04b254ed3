// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compressors/api/codec.hpp"

/// The generic codec suite: tests derived from what a codec declares, run on every registered codec
/// and each of its examples. Nothing here names a codec.
namespace tersor::compressors::suite {

/// What fills a test tensor.
enum class Fill : std::uint8_t { kNormal, kZeros, kConstant, kSpike, kDenormal, kSpecial, kAllNan };

const char* to_string(Fill fill);

struct Tensor {
  Shape shape;
  DType dtype = DType::kFloat32;
  std::vector<std::byte> bits;

  TensorView view() const { return {bits.data(), shape, dtype}; }
  std::size_t elements() const { return static_cast<std::size_t>(shape.elements()); }
  /// Exact float32 values.
  std::vector<float> values() const;
};

Tensor make_tensor(const Shape& shape, DType dtype, std::span<const float> values);
/// Deterministic; `salt` gives another tensor of the same kind.
Tensor make_tensor(const Shape& shape, DType dtype, Fill fill, std::uint32_t salt = 0);
/// Any bit pattern: NaN of every payload too, which float arithmetic and round_to do not keep.
Tensor make_random_bits(const Shape& shape, DType dtype);

struct Subject {
  std::string spec;
  std::shared_ptr<const Codec> codec;
  Properties properties;
};

/// Every registered codec with its defaults (where it has them) and all its examples.
std::vector<Subject> all_subjects();

/// What a test program runs: by default every check on every one of all_subjects(). Each program
/// defines it once.
struct Trial {
  Subject subject;
  std::string check{};     ///< only this check; empty: all that apply
  bool must_fail = false;  ///< the test passes where the check finds a fault
};
std::vector<Trial> trials();

/// Shapes that no block divides, empty ones, and sizes about the usual blocks; all small.
const std::vector<Shape>& small_shapes();
/// Whether the codec takes messages of this shape (it says so by Error kUnsupported, kUsage or
/// kSpec).
bool takes(const Subject& subject, const Shape& shape, DType dtype, const Context& context);

/// A context with every field set to something.
Context some_context();
/// With one sample id per sample of the tensor.
Context with_ids(const Context& context, const Tensor& tensor);

/// Encodes round 0 into a buffer of exactly payload_bytes between guards. Throws std::runtime_error
/// where a guard is overwritten or more bytes are claimed than promised.
std::vector<std::byte> encode(const Subject& subject, const Tensor& in, const Context& context,
                              State* state = nullptr);
/// Decodes into a guarded float32 buffer.
std::vector<float> decode(const Subject& subject, std::span<const std::byte> payload,
                          const Tensor& like, const Context& context, State* state = nullptr);
/// All rounds of one message, the rank being the only one; `state` is both its ends.
std::vector<float> all_rounds(const Subject& subject, const Tensor& in, const Context& context,
                              State* state);
/// Encode and decode with fresh states; codecs of several rounds go through all of them.
std::vector<float> round_trip(const Subject& subject, const Tensor& in, const Context& context);
std::unique_ptr<State> make_state(const Subject& subject, const Tensor& like,
                                  const Context& context);

/// Where two arrays of floats first differ in bits (NaN equals the same NaN), or npos.
std::size_t first_difference(std::span<const float> a, std::span<const float> b);
constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

std::string describe(const Subject& subject, const Tensor& in, const char* fill = "");

/// The checks, one function per property group; each reports through Catch2.
void check_spec(const Subject& subject);
void check_bytes(const Subject& subject);
void check_values(const Subject& subject);
void check_special_values(const Subject& subject);
void check_sums(const Subject& subject);
void check_unbiased(const Subject& subject);
void check_contraction(const Subject& subject);
void check_expansion(const Subject& subject);
void check_locality(const Subject& subject);
void check_determinism(const Subject& subject);
void check_damaged_payloads(const Subject& subject);
void check_state(const Subject& subject);
void check_large(const Subject& subject);

}  // namespace tersor::compressors::suite

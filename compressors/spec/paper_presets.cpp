// SPDX-License-Identifier: Apache-2.0
// The notation of Bian et al. (METHODS section 4): corrected under the plain name, as published
// with "-bian".
#include <algorithm>

#include "common/tensor.hpp"
#include "compressors/spec/registry.hpp"

namespace tersor::compressors {
namespace {

constexpr const char* kSource = "Bian et al., MLSys 2024, notation of its tables";

/// The k of a Top-K or Random-K that is set beside an autoencoder of dimension `dim`.
std::int64_t numbers_of(const Shape& shape, std::int64_t dim) {
  return std::max<std::int64_t>(1, shape.rows() * dim);
}

/// Bytes that the codes of one rank take.
std::size_t code_bytes(const Shape& shape, DType dtype, std::int64_t dim) {
  return static_cast<std::size_t>(shape.rows() * dim) * item_bytes(dtype);
}

/// The largest k whose Top-K payload is at most `limit` bytes; at least 1. The payload grows with k
/// under every index coding, so that halving the range finds it.
std::int64_t largest_topk(const Shape& shape, DType dtype, std::size_t limit) {
  std::int64_t fits = 1, beyond = std::max<std::int64_t>(2, shape.elements() + 1);
  while (beyond - fits > 1) {
    const std::int64_t k = fits + (beyond - fits) / 2;
    const auto codec = make_codec("topk(k=" + std::to_string(k) + ")");
    (codec->payload_bytes(shape, dtype, {}) <= limit ? fits : beyond) = k;
  }
  return fits;
}

void add(std::string name, std::string spec, std::string meaning) {
  const PresetRegistrar registrar(
      Preset{std::move(name), std::move(spec), std::move(meaning), kSource});
}

void add(std::string name, std::string rule, std::string meaning,
         std::function<std::string(const Shape&, DType)> spec_for) {
  const PresetRegistrar registrar(
      Preset{std::move(name), std::move(rule), std::move(meaning), kSource, std::move(spec_for)});
}

/// An autoencoder and what is compared with it: T1, R1 have its bytes, T3, R3 its numbers.
void add_group(const std::string& which, const std::string& more, std::int64_t dim) {
  const std::string e = std::to_string(dim), a = "A" + which;
  add(a, "autoencoder(dim=" + e + ")", "autoencoder of dimension " + e);
  add(a + "-bian", "autoencoder(dim=" + e + ")", a + " as published: the same");

  add("T" + which, "topk(k: the largest whose payload is at most tokens * " + e + " values)",
      "Top-K with at most the bytes of " + a, [dim](const Shape& shape, DType dtype) {
        const std::int64_t k = largest_topk(shape, dtype, code_bytes(shape, dtype, dim));
        return "topk(k=" + std::to_string(k) + ")";
      });
  add("T" + which + "-bian", "topk(k=tokens * " + e + " / 5,index=i64)",
      "Top-K with the bytes of " + a + " in float16, as published",
      [dim](const Shape& shape, DType) {
        const std::int64_t k = std::max<std::int64_t>(1, numbers_of(shape, dim) / 5);
        return "topk(k=" + std::to_string(k) + ",index=i64)";
      });
  add("T" + more, "topk(k=tokens * " + e + ")", "Top-K with as many numbers as " + a,
      [dim](const Shape& shape, DType) {
        return "topk(k=" + std::to_string(numbers_of(shape, dim)) + ")";
      });
  add("T" + more + "-bian", "topk(k=tokens * " + e + ",index=i64)",
      "Top-K with as many numbers as " + a + ", as published", [dim](const Shape& shape, DType) {
        return "topk(k=" + std::to_string(numbers_of(shape, dim)) + ",index=i64)";
      });

  // Shared positions cost nothing: equal bytes are equal numbers.
  for (const std::string& number : {which, more}) {
    const bool is_bytes = number == which;
    add("R" + number, "randk(k=tokens * " + e + ")",
        is_bytes ? "Random-K with the bytes of " + a : "Random-K with as many numbers as " + a,
        [dim](const Shape& shape, DType) {
          return "randk(k=" + std::to_string(numbers_of(shape, dim)) + ")";
        });
    add("R" + number + "-bian",
        "randk(k=tokens * " + e + (is_bytes ? " / 5" : "") + ",shared=false,index=i64)",
        is_bytes ? "Random-K with the bytes of " + a + " in float16, as published"
                 : "Random-K with as many numbers as " + a + ", as published",
        [dim, is_bytes](const Shape& shape, DType) {
          const std::int64_t k = numbers_of(shape, dim) / (is_bytes ? 5 : 1);
          return "randk(k=" + std::to_string(std::max<std::int64_t>(1, k)) +
                 ",shared=false,index=i64)";
        });
  }

  const std::string p = "P" + which;
  add(p, "powersgd(rank=" + e + ")", "PowerSGD of rank " + e);
  add(p + "-bian", "powersgd(rank=" + e + ",reduction=mean)",
      "PowerSGD of rank " + e + " that averages, as published at tensor sites");
}

struct PaperPresets {
  PaperPresets() {
    add_group("1", "3", 50);
    add_group("2", "4", 100);
    for (const auto& [number, bits] : {std::pair{"1", "2"}, {"2", "4"}, {"3", "8"}}) {
      const std::string name = std::string("Q") + number, b = bits;
      const std::string inside = b == "8" ? "" : "bits=" + b;
      add(name, inside.empty() ? "quantize" : "quantize(" + inside + ")", b + "-bit quantisation");
      add(name + "-bian", "quantize(" + inside + (inside.empty() ? "" : ",") + "variant=bian)",
          b + "-bit quantisation with the rounding of the published code");
    }
  }
};
const PaperPresets kPaperPresets;

}  // namespace
}  // namespace tersor::compressors

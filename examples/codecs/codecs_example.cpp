// SPDX-License-Identifier: Apache-2.0
// Sums the messages of two ranks as a job would: every rank encodes, everybody decodes and adds in
// rank order. Prints bytes and error of each spec given on the command line.
#include <cmath>
#include <cstdio>
#include <vector>

#include "common/error.hpp"
#include "compressors/api/codec.hpp"
#include "compressors/spec/registry.hpp"

namespace {

using namespace tersor;
using namespace tersor::compressors;

constexpr Shape kShape{2, 16, 64};
constexpr std::uint32_t kRanks = 2;

std::vector<float> activation(std::uint32_t rank) {
  std::vector<float> x(static_cast<std::size_t>(kShape.elements()));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::sin(0.37f * static_cast<float>(i) + static_cast<float>(rank)) *
           (i % 64 == 7 ? 10.0f : 1.0f);
  return x;
}

void report(const char* spec) {
  const auto codec = make_codec(spec);
  std::vector<float> sum(static_cast<std::size_t>(kShape.elements()));
  std::vector<float> exact(sum.size());
  std::size_t bytes = 0;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    Context context;
    context.seed = 1;
    context.rank = rank;
    context.ranks = kRanks;
    const auto x = activation(rank);
    const TensorView in{x.data(), kShape, DType::kFloat32};
    // Zero at the start; a job keeps one per site and direction.
    const auto sender = codec->make_state(kShape, in.dtype, kRanks);
    const auto receiver = codec->make_state(kShape, in.dtype, kRanks);
    std::vector<std::byte> payload(
        codec->payload_bytes(kShape, in.dtype, context, 0, sender.get()));
    bytes = codec->encode(0, in, payload, sender.get(), context);
    codec->decode_accumulate(std::span(payload).first(bytes), kShape, in.dtype, sum, receiver.get(),
                             context);
    for (std::size_t i = 0; i < exact.size(); ++i) exact[i] += x[i];
  }
  double error = 0;
  double norm = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    error += std::pow(static_cast<double>(sum[i] - exact[i]), 2);
    norm += std::pow(static_cast<double>(exact[i]), 2);
  }
  std::printf("%s: %zu bytes a rank, relative error %.6f\n", codec->canonical().c_str(), bytes,
              std::sqrt(error / norm));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::printf("%zu codecs\n", registered_codecs().size());
    for (int i = 1; i < argc; ++i) report(argv[i]);
  } catch (const tersor::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

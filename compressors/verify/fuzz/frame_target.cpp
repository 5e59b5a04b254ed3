// SPDX-License-Identifier: Apache-2.0
// A frame decodes, or is refused by name; decoding allocates no more than header and size justify.
#include "compressors/wire/frame.hpp"

#include "compressors/verify/fuzz/target.hpp"
#include "compressors/verify/golden/frames_for_test.hpp"

namespace tersor::fuzz {
namespace {

using namespace compressors;

constexpr std::int64_t kMostElements = 1 << 14;

/// Copies of the frame and its header, one table of senders' copies, and float32 arrays of the
/// message: output, states of both sides, scratch of nested codecs.
std::size_t justified_bytes(std::size_t frame_bytes, std::int64_t elements) {
  const std::size_t arrays = elements <= kMostElements ? static_cast<std::size_t>(elements) : 0;
  return (std::size_t{4} << 20) + 16 * frame_bytes + 256 * arrays;
}

void try_frame(std::span<const std::byte> bytes) {
  const AllocationMeter meter;
  std::int64_t elements = 0;
  try {
    elements = read_frame(bytes).shape.elements();
    const DecodedFrame decoded = decode_frame(bytes, kMostElements);
    const auto again = write_frame(decoded.frame);
    require(std::ranges::equal(again, bytes), "a frame that decodes is written as it was read");
  } catch (const FrameError& error) {
    const std::string name(to_string(error.fault()));
    require(std::string(error.what()).find(name) != std::string::npos, "the refusal is named");
  }
  require(meter.peak_bytes() <= justified_bytes(bytes.size(), elements),
          std::to_string(meter.peak_bytes()) + " bytes allocated for a frame of " +
              std::to_string(bytes.size()) + " bytes and " + std::to_string(elements) +
              " elements");
}

}  // namespace

void run_target(std::span<const std::byte> input) {
  try_frame(input);
  std::vector<std::byte> mended(input.begin(), input.end());
  if (!compressors::testing::mend_checksums(mended)) return;
  if (mended.size() >= kFrameFixedBytes) {
    const std::uint64_t header = kFrameFixedBytes +
                                 std::uint64_t{load<std::uint32_t>(&mended[72])} +
                                 8 * std::uint64_t{load<std::uint32_t>(&mended[76])};
    store(&mended[64], static_cast<std::uint64_t>(mended.size() - header));
    compressors::testing::mend_checksums(mended);
  }
  try_frame(mended);
}

}  // namespace tersor::fuzz

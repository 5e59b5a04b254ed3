// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "compressors/api/codec.hpp"

namespace tersor::compressors {

/// Raised when the layout of frames or payloads changes (docs/wire-format.md).
constexpr std::uint16_t kWireVersion = 1;
constexpr std::size_t kFrameFixedBytes = 96;

/// Why a frame is refused; one per kind of mistake, in the order in which they are looked for.
enum class FrameFault : std::uint8_t {
  kTooShort,
  kMagic,
  kVersion,
  kHeaderSize,
  kHeaderChecksum,
  kReserved,
  kDType,
  kPhase,
  kDirection,
  kRank,
  kShape,
  kIds,
  kFrameSize,
  kPayloadChecksum,
  kSpec,
  kTooLarge,
  kPayloadSize,
  kPayload
};

/// The names of docs/wire-format.md: "too-short", "magic", ..
std::string_view to_string(FrameFault fault);

class FrameError : public Error {
 public:
  FrameError(FrameFault fault, const std::string& message);
  FrameFault fault() const noexcept { return fault_; }

 private:
  FrameFault fault_;
};

/// A message as it is stored in a file: everything that its decoder has to know, and the bare
/// payload.
struct Frame {
  std::string spec;  ///< canonical
  Shape shape;
  DType dtype = DType::kFloat32;
  std::uint64_t seed = 0;
  Phase phase = Phase::kTrain;
  std::uint32_t step = 0;
  std::uint16_t call = 0;
  std::uint16_t site = 0;
  Direction direction = Direction::kForward;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  std::vector<std::int64_t> ids;  ///< none, or one per sample
  std::vector<std::byte> payload;

  /// Borrows the ids.
  Context context() const;
};

/// The bytes of a frame; both checksums are computed. Throws Error(kUsage) where ids are neither
/// none nor one per sample.
std::vector<std::byte> write_frame(const Frame& frame);
/// Checks everything but what the payload means; throws FrameError. Allocates no more than the
/// input's size.
Frame read_frame(std::span<const std::byte> bytes);

/// One message framed, state starting from zero. Throws what make_codec and encode throw.
std::vector<std::byte> encode_frame(std::string_view spec, const TensorView& in,
                                    const Context& context);

struct DecodedFrame {
  Frame frame;
  std::vector<std::byte> bits;  ///< the tensor in frame.dtype, row-major
};

/// Decodes, state starting from zero. Throws FrameError; before anything of that size is allocated
/// it refuses frames whose tensor, or whose learned codec's weights, have more than `max_elements`,
/// and frames of a codec whose rounds need a site.
DecodedFrame decode_frame(std::span<const std::byte> bytes,
                          std::int64_t max_elements = std::int64_t{1} << 30);

}  // namespace tersor::compressors

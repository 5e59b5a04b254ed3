// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/hash.hpp"
#include "compressors/wire/bits.hpp"
#include "compressors/wire/frame.hpp"

/// Golden frames as tests read them.
namespace tersor::compressors::testing {

inline std::vector<std::byte> from_hex(const std::string& text) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

/// "frames.json" (the format) or "codec_frames.json" (a frame of every codec).
inline nlohmann::json golden_frames(const std::string& file) {
  std::ifstream in("compressors/verify/golden/" + file);
  if (!in.is_open()) throw Error(ErrorKind::kMissing, "compressors/verify/golden/" + file);
  return nlohmann::json::parse(in);
}

inline Shape shape_of(const nlohmann::json& entry) {
  return {entry["shape"][0], entry["shape"][1], entry["shape"][2]};
}

/// `ids` keeps what the context borrows.
inline Context context_of(const nlohmann::json& fields, std::vector<std::int64_t>& ids) {
  Context context;
  context.seed = fields.value("seed", std::uint64_t{0});
  context.step = fields.value("step", 0u);
  context.call = fields.value("call", std::uint16_t{0});
  context.site = fields.value("site", std::uint16_t{0});
  context.rank = fields.value("rank", 0u);
  context.ranks = fields.value("ranks", 1u);
  context.direction = static_cast<Direction>(fields.value("direction", 0));
  context.phase = static_cast<Phase>(fields.value("phase", 0));
  ids = fields.value("ids", std::vector<std::int64_t>{});
  context.sample_ids = ids;
  return context;
}

/// "accepted", or the fault's name.
inline std::string fault_of(std::span<const std::byte> bytes) {
  try {
    decode_frame(bytes);
    return "accepted";
  } catch (const FrameError& error) {
    return std::string(to_string(error.fault()));
  }
}

/// Recomputes both checksums after a change; false where the header's sizes reach beyond the bytes.
inline bool mend_checksums(std::span<std::byte> bytes) {
  if (bytes.size() < kFrameFixedBytes) return false;
  const std::uint64_t header = kFrameFixedBytes + std::uint64_t{load<std::uint32_t>(&bytes[72])} +
                               8 * std::uint64_t{load<std::uint32_t>(&bytes[76])};
  if (header > bytes.size()) return false;
  store(&bytes[80], xxh64(bytes.subspan(header)));
  std::vector<std::byte> covered(bytes.begin(), bytes.begin() + 88);
  covered.insert(covered.end(), bytes.begin() + kFrameFixedBytes,
                 bytes.begin() + static_cast<std::ptrdiff_t>(header));
  store(&bytes[88], xxh64(covered));
  return true;
}

}  // namespace tersor::compressors::testing

// SPDX-License-Identifier: Apache-2.0
// codec_frames.json: what the reference program makes of one message of every codec.
#include <catch2/catch.hpp>
#include <set>

#include "compressors/spec/registry.hpp"
#include "compressors/verify/golden/frames_for_test.hpp"

using namespace tersor;
using namespace tersor::compressors;
using namespace tersor::compressors::testing;

namespace {

/// Learned codecs, and those that are compared within a tolerance, have no golden bytes.
bool has_golden_bytes(const CodecInfo& info) {
  const std::string spec = info.examples.empty() ? info.name : info.examples.front();
  const auto codec = make_codec(spec);
  return codec->properties().bit_exact && !codec->properties().learned && codec->rounds() <= 2;
}

std::string joined(const nlohmann::json& lines) {
  std::string text;
  for (const auto& line : lines) text += line.get<std::string>();
  return text;
}

/// The low 16 bits of XXH64 as the file has them.
std::string digest(std::span<const std::byte> bytes) {
  char text[5];
  std::snprintf(text, sizeof text, "%04x", static_cast<unsigned>(xxh64(bytes) & 0xFFFF));
  return text;
}

}  // namespace

TEST_CASE("codec frames: every codec's bytes are the reference's, and decode as there") {
  const auto file = golden_frames("codec_frames.json");
  std::set<std::string> seen;
  for (const auto& entry : file.at("valid")) {
    INFO(entry.at("name"));
    const std::string spec = entry.at("spec");
    seen.insert(spec.substr(0, spec.find('(')));
    const auto bytes = from_hex(entry.at("frame"));
    const auto input = from_hex(entry.at("input"));
    std::vector<std::int64_t> ids;
    const Context context = context_of(entry.at("context"), ids);
    const DType dtype = parse_dtype(entry.at("dtype").get<std::string>());
    CHECK(encode_frame(spec, {input.data(), shape_of(entry), dtype}, context) == bytes);
    CHECK(decode_frame(bytes).bits == from_hex(entry.at("decoded")));
  }
  for (const auto& [name, info] : registered_codecs())
    if (has_golden_bytes(info) && !seen.contains(name)) FAIL_CHECK("no golden frame of " << name);
}

TEST_CASE("codec frames: every flipped bit and every cut is refused") {
  const auto file = golden_frames("codec_frames.json");
  for (const auto& entry : file.at("valid")) {
    INFO(entry.at("name"));
    auto bytes = from_hex(entry.at("frame"));
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      const auto mask = static_cast<std::byte>(1u << (bit % 8));
      bytes[bit / 8] ^= mask;
      if (fault_of(bytes) == "accepted") FAIL_CHECK("bit " << bit << " flipped");
      bytes[bit / 8] ^= mask;
    }
    for (std::size_t size = 0; size < bytes.size(); ++size)
      if (fault_of(std::span(bytes).first(size)) == "accepted") FAIL_CHECK("cut to " << size);
  }
}

TEST_CASE("codec frames: a flipped payload under right checksums means what the reference says") {
  const auto file = golden_frames("codec_frames.json");
  int refused = 0;
  int decoded = 0;
  for (const auto& entry : file.at("valid")) {
    const auto bytes = from_hex(entry.at("frame"));
    const std::size_t header = bytes.size() - read_frame(bytes).payload.size();
    const std::string flips = joined(entry.at("flips"));
    REQUIRE(flips.size() == (bytes.size() - header) * 8 * 4);
    for (std::size_t bit = 0; bit < (bytes.size() - header) * 8; ++bit) {
      auto flipped = bytes;
      flipped[header + bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
      REQUIRE(mend_checksums(flipped));
      std::string got;
      try {
        got = digest(decode_frame(flipped).bits);
        ++decoded;
      } catch (const FrameError& error) {
        got = error.fault() == FrameFault::kPayload ? "----" : error.what();
        ++refused;
      }
      const std::string expected = flips.substr(bit * 4, 4);
      if (got == expected) continue;
      FAIL_CHECK(entry.at("name") << ": bit " << bit << " of the payload: " << got << ", expected "
                                  << expected);
      break;
    }
    auto cut = bytes;
    while (cut.size() > header) {
      cut.pop_back();
      store(&cut[64], static_cast<std::uint64_t>(cut.size() - header));
      REQUIRE(mend_checksums(cut));
      if (fault_of(cut) != "payload-size")
        FAIL_CHECK(entry.at("name") << " cut: " << fault_of(cut));
    }
  }
  CHECK(refused > 100);
  CHECK(decoded > 5000);
}

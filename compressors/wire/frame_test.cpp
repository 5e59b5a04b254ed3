// SPDX-License-Identifier: Apache-2.0
#include "compressors/wire/frame.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "compressors/verify/golden/frames_for_test.hpp"

using namespace tersor;
using namespace tersor::compressors;
using namespace tersor::compressors::testing;

TEST_CASE("golden frames: written and read byte for byte") {
  const auto frames = golden_frames("frames.json");
  for (const auto& entry : frames.at("valid")) {
    INFO(entry.at("name"));
    const auto bytes = from_hex(entry.at("frame"));
    const auto input = from_hex(entry.at("input"));
    const Shape shape = shape_of(entry);
    const DType dtype = parse_dtype(entry.at("dtype").get<std::string>());
    std::vector<std::int64_t> ids;
    const Context context = context_of(entry.at("context"), ids);
    const std::string spec = entry.at("spec");
    CHECK(encode_frame(spec, {input.data(), shape, dtype}, context) == bytes);
    const DecodedFrame decoded = decode_frame(bytes);
    CHECK(decoded.frame.spec == spec);
    CHECK(decoded.frame.shape == shape);
    CHECK(decoded.frame.dtype == dtype);
    CHECK(decoded.frame.seed == context.seed);
    CHECK(decoded.frame.ids == ids);
    CHECK(decoded.bits == from_hex(entry.at("decoded")));
  }
}

TEST_CASE("golden frames: each mistake has its name") {
  const auto frames = golden_frames("frames.json");
  for (const auto& entry : frames.at("rejected")) {
    INFO(entry.at("name"));
    CHECK(fault_of(from_hex(entry.at("frame"))) == entry.at("fault").get<std::string>());
  }
}

TEST_CASE("every flipped bit and every cut of a golden frame is refused") {
  const auto frames = golden_frames("frames.json");
  for (const auto& entry : frames.at("valid")) {
    INFO(entry.at("name"));
    const auto bytes = from_hex(entry.at("frame"));
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      auto flipped = bytes;
      flipped[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
      if (fault_of(flipped) == "accepted") FAIL_CHECK("bit " << bit << " flipped");
    }
    for (std::size_t size = 0; size < bytes.size(); ++size)
      if (fault_of(std::span(bytes).first(size)) == "accepted") FAIL_CHECK("cut to " << size);
  }
}

TEST_CASE("a flipped payload under right checksums decodes to what it means, or is refused") {
  const auto frames = golden_frames("frames.json");
  for (const auto& entry : frames.at("valid")) {
    INFO(entry.at("name"));
    const auto bytes = from_hex(entry.at("frame"));
    const Frame frame = read_frame(bytes);
    const auto codec = make_codec(frame.spec);
    const std::size_t header = bytes.size() - frame.payload.size();
    for (std::size_t bit = header * 8; bit < bytes.size() * 8; ++bit) {
      auto flipped = bytes;
      flipped[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
      mend_checksums(flipped);
      std::vector<std::byte> expected(static_cast<std::size_t>(frame.shape.elements()) *
                                      item_bytes(frame.dtype));
      std::string meaning = "accepted";
      try {
        codec->decode_bits(std::span(flipped).subspan(header), frame.shape, frame.dtype,
                           expected.data(), nullptr, frame.context());
      } catch (const Error&) {
        meaning = "payload";
      }
      CHECK(fault_of(flipped) == meaning);
      if (meaning == "accepted") CHECK(decode_frame(flipped).bits == expected);
    }
  }
}

TEST_CASE("flipped header bits under right checksums never fault") {
  std::map<std::string, int> faults;
  const auto frames = golden_frames("frames.json");
  for (const auto& entry : frames.at("valid")) {
    const auto bytes = from_hex(entry.at("frame"));
    const std::size_t header = bytes.size() - read_frame(bytes).payload.size();
    for (std::size_t bit = 8 * 8; bit < header * 8; ++bit) {
      if (bit / 8 >= 72 && bit / 8 < 96) continue;  // sizes and checksums: refused above
      auto flipped = bytes;
      flipped[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
      mend_checksums(flipped);
      ++faults[fault_of(flipped)];
    }
  }
  for (const char* expected :
       {"version", "dtype", "phase", "direction", "reserved", "rank", "shape", "spec"})
    CHECK(faults[expected] > 0);
}

TEST_CASE("the reader's limit comes before the allocation") {
  Frame frame;
  frame.spec = "none";
  frame.shape = {1, 1, 1000};
  frame.payload.resize(4000);
  CHECK_NOTHROW(decode_frame(write_frame(frame), 1000));
  CHECK_THROWS_WITH(decode_frame(write_frame(frame), 999), Catch::Contains("too-large"));
  frame.ids = {1, 2};
  CHECK_THROWS_AS(write_frame(frame), Error);
}

TEST_CASE("a codec whose rounds need a site is refused before the tensor is allocated") {
  Frame frame;
  frame.shape = {1, 1, std::int64_t{1} << 55};  // no machine has room for it
  frame.payload.resize(4);                      // of powersgd's first round
  for (const char* spec :
       {"powersgd(rank=1)", "gate(powersgd(rank=1))", "partial(powersgd(rank=1))"}) {
    frame.spec = canonical_spec(spec);
    CHECK_THROWS_WITH(decode_frame(write_frame(frame), frame.shape.elements()),
                      Catch::Contains("spec: " + frame.spec + " needs its rounds"));
  }
  frame.shape = {1, 1, 2};
  frame.spec = canonical_spec("gate(powersgd(rank=1))");  // closed: the message is the tensor
  frame.payload.resize(8);
  CHECK_NOTHROW(decode_frame(write_frame(frame)));
}

TEST_CASE("the reader's limit holds for weights that a shape asks for") {
  Frame frame;
  frame.spec = "autoencoder(dim=1000)";
  frame.shape = {1, 1, 1'000'000'000};  // of 4 TB in float32, for a payload of 4,000 bytes
  frame.payload.resize(4000);
  CHECK_THROWS_WITH(
      decode_frame(write_frame(frame)),
      Catch::Contains("too-large: autoencoder(dim=1000) has 1000000000 x 1000 weights, the "
                      "reader's limit is 1073741824") &&
          Catch::Contains("--max-elements"));
  frame.shape = {1, 1, 64};
  CHECK_NOTHROW(decode_frame(write_frame(frame), 64'000));
  CHECK_THROWS_WITH(decode_frame(write_frame(frame), 63'999), Catch::Contains("too-large"));
}

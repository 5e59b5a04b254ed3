// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>

#include "compressors/tools/listing.hpp"
#include "compressors/tools/roundtrip.hpp"
#include "compressors/tools/volume.hpp"

using namespace tersor;
using namespace tersor::compressors;

TEST_CASE("error measures by hand, and undefined where a number is none") {
  const std::vector<float> x{3.0f, 4.0f};
  const std::vector<float> y{3.0f, 0.0f};
  const ErrorMeasures measured = measure_errors(x, y);
  CHECK(measured.max_abs_error == 4.0);
  CHECK(*measured.relative_l2_error == Approx(0.8));
  CHECK(*measured.cosine == Approx(0.6));
  const std::vector<float> zeros{0.0f, 0.0f};
  CHECK(measure_errors(zeros, zeros).max_abs_error == 0.0);
  CHECK_FALSE(measure_errors(zeros, zeros).relative_l2_error);
  CHECK_FALSE(measure_errors(zeros, x).cosine);
  CHECK_FALSE(measure_errors({}, {}).max_abs_error);
  for (const float bad : {INFINITY, -INFINITY, NAN}) {
    const std::vector<float> z{bad, 1.0f};
    CHECK_FALSE(measure_errors(z, z).max_abs_error);
    CHECK_FALSE(measure_errors(z, z).relative_l2_error);
    CHECK_FALSE(measure_errors(z, z).cosine);
  }
}

TEST_CASE("a round trip counts bytes and keeps the message's dtype") {
  const std::vector<float> x{0.5f, -2.0f, 0.25f, 1.0f};
  const auto trip =
      round_trip(*make_codec("topk(k=1,index=u16)"), {x.data(), {1, 1, 4}, DType::kFloat32}, {});
  CHECK(trip.payload.size() == 6);
  CHECK(trip.metadata_bytes == 2);
  CHECK(*trip.ratio == Approx(16.0 / 6));
  CHECK(trip.decoded == std::vector<float>{0.0f, -2.0f, 0.0f, 0.0f});
  const auto empty = round_trip(*make_codec("none"), {x.data(), {0, 1, 4}, DType::kFloat32}, {});
  CHECK(empty.payload.empty());
  CHECK_FALSE(empty.ratio);
}

TEST_CASE("a round trip of several rounds is that of one rank at a site") {
  // A matrix of rank one, (1, 2)^T (3, 0, 4): one column holds it, whatever it begins with.
  const std::vector<float> x{3.0f, 0.0f, 4.0f, 6.0f, 0.0f, 8.0f};
  const TensorView view{x.data(), {1, 2, 3}, DType::kFloat32};
  Context context;
  context.ranks = 8;  // a sum of one message, so its mean is that message
  for (const char* spec : {"powersgd(rank=1)", "powersgd(rank=1,reduction=mean)",
                           "powersgd(rank=1,iterations=3)", "gate(powersgd(rank=1),min_bytes=1)"}) {
    INFO(spec);
    const auto trip = round_trip(*make_codec(spec), view, context);
    const std::size_t iterations = std::string(spec).find("=3") == std::string::npos ? 1 : 3;
    CHECK(trip.payload.size() == iterations * (2 + 3) * 4);  // P and Q in float32
    CHECK(*trip.errors.relative_l2_error < 1e-6);
  }
  const auto closed = round_trip(*make_codec("gate(powersgd(rank=1))"), view, context);
  CHECK(closed.payload.size() == 24);
  CHECK(closed.decoded == x);
}

TEST_CASE("sent bytes follow the collectives' formulas") {
  const Shape shape{1, 8, 100};                   // 800 elements
  CHECK(reference_sent_bytes(shape, 4) == 2400);  // 2 * 3/4 * 1,600
  const SentBytes none = sent_bytes(*make_codec("none"), shape, DType::kFloat32, 4);
  CHECK(none.all_reduce == 4800.0);
  CHECK(none.gather == 9600.0);
  CHECK(none.two_step == 4800.0);  // equal chunks: 2(p-1)/p of the sum, as the ring
  // 8 bits, one float16 scale a row: 102 bytes a row, 816 in all, chunks of two rows.
  const SentBytes rows =
      sent_bytes(*make_codec("quantize(scope=token)"), shape, DType::kFloat32, 4);
  CHECK_FALSE(rows.all_reduce);
  CHECK(rows.gather == 2448.0);
  CHECK(rows.two_step == 1224.0);  // 3 * 204 + 3 * 204
  // 4 bits: 52 bytes a row, 416 in all; ten rows over four ranks are chunks of 3, 3, 2, 2, and a
  // rank with three sends the other 364 bytes and its own 156 three times.
  const auto four = make_codec("quantize(bits=4,scope=token)");
  CHECK(sent_bytes(*four, shape, DType::kFloat32, 2).two_step == 416.0);
  CHECK(sent_bytes(*four, shape, DType::kFloat32, 8).gather == 2912.0);
  CHECK(sent_bytes(*four, shape, DType::kFloat32, 8).two_step == 728.0);
  CHECK(sent_bytes(*four, {1, 10, 100}, DType::kFloat32, 4).two_step == 832.0);
  // twostep itself, whatever is around it: as above, and no gather of both rounds.
  for (const char* spec : {"twostep(quantize(bits=4,scope=token))",
                           "gate(twostep(quantize(bits=4,scope=token)),min_bytes=0)"}) {
    INFO(spec);
    const auto steps = make_codec(spec);
    const Codec& used = steps->effective(shape, DType::kFloat32);
    CHECK(sent_bytes(used, shape, DType::kFloat32, 8).two_step == 728.0);
    const SentBytes uneven = sent_bytes(used, {1, 10, 100}, DType::kFloat32, 4);
    CHECK(uneven.two_step == 832.0);
    CHECK_FALSE(uneven.gather);
    CHECK_FALSE(uneven.all_reduce);
  }
  CHECK(chunk_rows(10, 4, 0) == 3);
  CHECK(chunk_rows(10, 4, 3) == 2);
  CHECK(chunk_rows(1, 4, 2) == 0);
}

TEST_CASE("the table of codecs says how each crosses") {
  const std::string table = markdown_table();
  CHECK(table.find("| `none` | the message itself | all-reduce | ") != std::string::npos);
  CHECK(table.find("| `sign(scope=tensor, group=128)` |") != std::string::npos);
  CHECK(table.find(" | all-to-all, gather | ") != std::string::npos);  // twostep
  CHECK(table.find(" |  | ") == std::string::npos);
}

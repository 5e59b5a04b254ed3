// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>

#include "common/error.hpp"
#include "compressors/verify/message_for_test.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

struct Site {
  std::shared_ptr<const Codec> codec;
  Shape shape;
  std::unique_ptr<State> sender;
  std::unique_ptr<State> receiver;

  Site(const std::string& spec, const Shape& s)
      : codec(make_codec(spec)),
        shape(s),
        sender(codec->make_state(s, DType::kFloat32, 1)),
        receiver(codec->make_state(s, DType::kFloat32, 1)) {}

  std::vector<float> send(const std::vector<float>& x, Phase phase = Phase::kTrain,
                          std::vector<std::int64_t> ids = {}) {
    Context context;
    context.phase = phase;
    context.sample_ids = ids;
    Bytes payload(codec->payload_bytes(shape, DType::kFloat32, context, 0, sender.get()));
    last_bytes =
        codec->encode(0, {x.data(), shape, DType::kFloat32}, payload, sender.get(), context);
    std::vector<float> out(x.size());
    codec->decode(std::span(payload).first(last_bytes), shape, DType::kFloat32, out, receiver.get(),
                  context);
    return out;
  }
  std::size_t last_bytes = 0;
};

TEST_CASE("ef sends what the last message lost") {
  Site site("ef(topk(k=1))", {1, 1, 3});
  CHECK(site.send({3, 2, 1}) == std::vector<float>{3, 0, 0});
  // e = (0, 2, 1): x + e = (1, 2, 1).
  CHECK(site.send({1, 0, 0}) == std::vector<float>{0, 2, 0});
  // e = (1, 0, 1); evaluation neither uses nor changes it.
  CHECK(site.send({0, 0, 5}, Phase::kEval) == std::vector<float>{0, 0, 5});
  CHECK(site.send({0, 0, 1}) == std::vector<float>{0, 0, 2});
}

TEST_CASE("ef stores a non-finite error as 0") {
  Site site("ef(topk(k=1))", {1, 1, 2});
  const float inf = std::numeric_limits<float>::infinity();
  site.send({inf, 1});
  CHECK(site.send({0, 0}) == std::vector<float>{0, 1});
}

TEST_CASE("ef21: both sides keep the result, differences are sent") {
  Site site("ef21(topk(k=1))", {1, 1, 3});
  CHECK(site.send({3, 2, 1}) == std::vector<float>{3, 0, 0});
  CHECK(site.send({3, 2, 1}) == std::vector<float>{3, 2, 0});
  CHECK(site.send({3, 2, 9}, Phase::kEval) == std::vector<float>{0, 0, 9});
  CHECK(site.send({3, 2, 1}) == std::vector<float>{3, 2, 1});
}

TEST_CASE("ef_mixed takes half of the positions by the error") {
  Site site("ef_mixed(topk(k=2))", {1, 1, 4});
  // First message: 9 by size; all errors are 0, so the lowest position left.
  CHECK(site.send({1, 9, 5, 6}) == std::vector<float>{1, 9, 0, 0});
  // e = (0, 0, 5, 6): 4 by size at 0, then 6 by the error at 3.
  CHECK(site.send({4, 1, 1, 1}) == std::vector<float>{4, 0, 0, 7});
}

TEST_CASE("aqsgd sends a sample whole first, then its change") {
  Site site("aqsgd(topk(k=1,index=u16))", {2, 1, 2});
  CHECK(site.send({1, 2, 3, 4}, Phase::kTrain, {7, 8}) == std::vector<float>{1, 2, 3, 4});
  CHECK(site.last_bytes == 16);
  // Sample 8 changes by (2, 1), sample 9 is new.
  CHECK(site.send({5, 5, 6, 6}, Phase::kTrain, {8, 9}) == std::vector<float>{5, 4, 6, 6});
  CHECK(site.last_bytes == 6 + 8);
  CHECK(site.send({5, 5, 1, 0}, Phase::kEval, {8, 7}) == std::vector<float>{5, 0, 1, 0});
  const auto copy = site.codec->make_state(site.shape, DType::kFloat32, 1);
  copy->restore(site.sender->save());
  CHECK(copy->save() == site.sender->save());
}

TEST_CASE("aqsgd: an id twice in a batch counts in sample order, also in a file") {
  Site site("aqsgd(topk(k=1,index=u16),store=file)", {2, 1, 2});
  CHECK(site.send({1, 2, 5, 3}, Phase::kTrain, {7, 7}) == std::vector<float>{1, 2, 5, 2});
  CHECK(site.last_bytes == 8 + 6);
}

TEST_CASE("aqsgd refuses a saved sample that is not of its cache's format, and keeps what it had") {
  Site site("aqsgd(topk(k=1),cache=float16)", {1, 1, 2});
  site.send({1, 2}, Phase::kTrain, {5});
  const std::vector<std::byte> before = site.sender->save();
  // A sample of the sender: its count, id 5, 3 bytes; none of the receiver.
  CHECK_THROWS_WITH(
      site.sender->restore(bytes({1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 3, 0,
                                  0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0})),
      Catch::Contains("a sample of 3 bytes"));
  CHECK(site.sender->save() == before);
}

TEST_CASE("aqsgd keeps samples in the format of its cache") {
  Site site("aqsgd(topk(k=1),cache=float16)", {1, 1, 2});
  site.send({1.0001f, 0});
  // float16 keeps 1.0: the change of 0.0001 is the larger one.
  CHECK(site.send({1.0001f, 0})[0] == Approx(1.0001f));
  CHECK(site.sender->bytes() == 4);
}

TEST_CASE("error feedback refuses codecs whose error it cannot work off, with the reason") {
  CHECK_THROWS_WITH(make_codec("ef(srht(dim=4))"), Catch::Contains("contractive"));
  CHECK_THROWS_WITH(make_codec("ef(hadamard(partial(none)))"), Catch::Contains("contractive"));
  CHECK_THROWS_WITH(make_codec("ef21(ef(none))"), Catch::Contains("without state"));
  CHECK_THROWS_WITH(make_codec("ef(twostep(none))"), Catch::Contains("one round"));
  CHECK_THROWS_WITH(make_codec("ef_mixed(quantize)"), Catch::Contains("topk"));
  CHECK_THROWS_WITH(make_codec("aqsgd(none,cache=randk)"), Catch::Contains("deterministic"));
}

}  // namespace
}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#include "compressors/host/parallel.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <thread>

#include "compressors/host/blocks.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/verify/message_for_test.hpp"

namespace tersor::compressors {
namespace {

using namespace testing;

TEST_CASE("every piece runs once, whatever the threads") {
  for (const int threads : {1, 2, 5}) {
    for (const std::int64_t pieces : {0, 1, 2, 100}) {
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(pieces));
      parallel_for(threads, pieces, [&](std::int64_t p) { ++seen[static_cast<std::size_t>(p)]; });
      for (const auto& count : seen) CHECK(count == 1);
    }
  }
}

TEST_CASE("an exception of a piece reaches the caller, and the pool goes on") {
  std::atomic<int> ran{0};
  const auto fail = [&](std::int64_t piece) {
    ++ran;
    if (piece == 3) throw std::runtime_error("piece 3");
  };
  CHECK_THROWS_WITH(parallel_for(3, 8, fail), "piece 3");
  CHECK(ran == 8);
  parallel_for(3, 8, [&](std::int64_t) { ++ran; });
  CHECK(ran == 16);
}

TEST_CASE("callers on several threads, and inside a piece, all finish") {
  std::atomic<int> ran{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        parallel_for(3, 4, [&](std::int64_t) { parallel_for(2, 2, [&](std::int64_t) { ++ran; }); });
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(ran == 4 * 50 * 4 * 2);
}

TEST_CASE("three threads give the bytes of one, where a message is large enough to be cut") {
  const Shape shape{2, 137, 1024};
  REQUIRE(shape.elements() > kParallelElements);
  std::vector<float> x = activations(shape.elements());
  x[5000] = std::numeric_limits<float>::infinity();
  x[70000] = -0.0f;
  x[200000] = std::numeric_limits<float>::quiet_NaN();
  for (const auto& [name, info] : registered_codecs()) {
    std::vector<std::string> specs = info.examples;
    if (specs.empty() || info.parameters.empty()) specs.push_back(name);
    for (const std::string& spec : specs) {
      const auto codec = make_codec(spec);
      const Properties p = codec->properties();
      if (!p.bit_exact || p.learned || p.state != StateKind::kNone || codec->rounds() > 1) continue;
      Context one;
      one.ranks = 2;
      Context three = one;
      three.threads = 3;
      Bytes want(codec->payload_bytes(shape, DType::kFloat32, one));
      want.resize(codec->encode(0, {x.data(), shape, DType::kFloat32}, want, nullptr, one));
      Bytes payload(want.size());
      codec->encode(0, {x.data(), shape, DType::kFloat32}, payload, nullptr, three);
      INFO(spec);
      CHECK(payload == want);
      std::vector<float> want_out(x.size(), 1.0f);
      std::vector<float> out(x.size(), 1.0f);
      codec->decode_accumulate(want, shape, DType::kFloat32, want_out, nullptr, one);
      codec->decode_accumulate(want, shape, DType::kFloat32, out, nullptr, three);
      CHECK(std::memcmp(out.data(), want_out.data(), out.size() * sizeof(float)) == 0);
      const std::vector<std::span<const std::byte>> received(2, want);
      codec->combine(received, shape, DType::kFloat32, want_out, nullptr, one);
      codec->combine(received, shape, DType::kFloat32, out, nullptr, three);
      CHECK(std::memcmp(out.data(), want_out.data(), out.size() * sizeof(float)) == 0);
    }
  }
}

}  // namespace
}  // namespace tersor::compressors

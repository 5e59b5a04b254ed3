// SPDX-License-Identifier: Apache-2.0
// A program of its own: it replaces operator new, and counts.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>

#include "common/error.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/verify/message_for_test.hpp"

namespace {
std::atomic<long> allocations{0};
}  // namespace

void* operator new(std::size_t bytes) {
  ++allocations;
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace tersor::compressors {
namespace {

using namespace testing;

long count_of(auto&& call) {
  const long before = allocations;
  call();
  return allocations - before;
}

/// All rounds of a message between two ranks that send the same; `count` gets each call.
class Exchanges {
 public:
  Exchanges(const Codec& codec, const Shape& shape, DType dtype)
      : codec_(codec),
        shape_(shape),
        dtype_(dtype),
        raw_(static_cast<std::size_t>(shape.elements()) * item_bytes(dtype)),
        out_(static_cast<std::size_t>(shape.elements())),
        state_(codec.make_state(shape, dtype, kRanks)) {
    round_to(dtype, activations(shape.elements()), raw_.data());
    // The sums meet -0 too, which costs Top-K and Random-K another way.
    raw_[0] = std::byte{0};
    raw_[item_bytes(dtype) - 1] = std::byte{0x80};
    for (std::int64_t s = 0; s < shape.samples; ++s) ids_.push_back(s);
    context_.ranks = kRanks;
    context_.sample_ids = ids_;
    workspace_.resize(codec.workspace_bytes(shape, dtype, context_));
    context_.workspace = workspace_;
  }

  void message(auto&& count) {
    for (int round = 0; round < codec_.rounds(); ++round) {
      Bytes payload(codec_.payload_bytes(shape_, dtype_, context_, round, state_.get()));
      std::size_t size = 0;
      count("encode", [&] {
        size = codec_.encode(round, {raw_.data(), shape_, dtype_}, payload, state_.get(), context_);
      });
      payload.resize(size);
      const std::span<const std::byte> one(payload);
      const bool is_reduced = codec_.exchange(round) == Exchange::kAllReduce;
      const std::vector<std::span<const std::byte>> received(is_reduced ? 1 : kRanks, one);
      if (round + 1 < codec_.rounds()) {
        count("absorb",
              [&] { codec_.absorb(round, received, shape_, dtype_, state_.get(), context_); });
        continue;
      }
      const StateKind kind = codec_.properties().state;
      if (codec_.rounds() == 1 && kind == StateKind::kNone) {
        count("decode", [&] { codec_.decode(one, shape_, dtype_, out_, state_.get(), context_); });
        count("decode_accumulate",
              [&] { codec_.decode_accumulate(one, shape_, dtype_, out_, state_.get(), context_); });
      }
      if (kind == StateKind::kSample) {
        count("decode", [&] { codec_.decode(one, shape_, dtype_, out_, state_.get(), context_); });
        continue;
      }
      count("combine",
            [&] { codec_.combine(received, shape_, dtype_, out_, state_.get(), context_); });
    }
  }

 private:
  static constexpr std::size_t kRanks = 2;
  const Codec& codec_;
  Shape shape_;
  DType dtype_;
  std::vector<std::byte> raw_;
  std::vector<float> out_;
  std::unique_ptr<State> state_;
  std::vector<std::int64_t> ids_;
  std::vector<std::byte> workspace_;
  Context context_;
};

TEST_CASE("with a workspace no call allocates, once the state is there") {
  for (const auto& [name, info] : registered_codecs()) {
    std::vector<std::string> specs = info.examples;
    if (specs.empty() || info.parameters.empty()) specs.push_back(name);
    for (const std::string& spec : specs) {
      const auto codec = make_codec(spec);
      const bool writes_files = spec.find("store=file") != std::string::npos;
      if (codec->properties().learned || writes_files || codec->exchange(0) == Exchange::kAllToAll)
        continue;
      for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
        Exchanges exchanges(*codec, {2, 40, 96}, dtype);
        for (int message = 0; message < 4; ++message) {
          exchanges.message([&](const char* what, auto&& call) {
            const long count = count_of(call);
            INFO(spec << " " << to_string(dtype) << " " << what << " of message " << message);
            if (message > 2) CHECK(count == 0);
          });
        }
      }
    }
  }
}

}  // namespace
}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
// Every codec with kernels against its CPU code: payloads, decoded bits, sums of several payloads,
// under several schedules.
#include <sys/mman.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "common/error.hpp"
#include "compressors/verify/suite/subject.hpp"
#include "tests/cuda_emulator/emulated_memory.hpp"

using namespace tersor;
using namespace tersor::compressors;
using suite::Fill;
using suite::Subject;

namespace {

constexpr DType kDTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};

/// Rows of whole thread tiles and not, whole tiles, tiles with a rest, scopes of one row and of
/// many, more than one block, nothing at all.
const Shape kShapes[] = {{1, 1, 0},  {1, 1, 1},   {1, 2, 5},    {2, 3, 33},   {1, 7, 8},
                         {2, 2, 48}, {1, 5, 256}, {1, 3, 1032}, {2, 9, 1024}, {1, 20, 384}};

unsigned schedules() {
  const char* given = std::getenv("TERSOR_SCHEDULES");
  return given != nullptr ? static_cast<unsigned>(std::atoi(given)) : 3;
}

/// What a codec makes of a message and of three of them.
struct Outcome {
  std::vector<std::byte> payload;
  std::vector<std::byte> bits;
  std::vector<float> added;
  std::vector<float> sum;
};

template <class T>
bool is_same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Equal bits, but for NaN: which payload a sum keeps is the processor's choice.
bool is_same_sum(const std::vector<float>& a, const std::vector<float>& b) {
  const auto is_equal = [](float x, float y) {
    return std::memcmp(&x, &y, sizeof x) == 0 || (x != x && y != y);
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_equal);
}

using Messages = std::vector<suite::Tensor>;

Messages messages_of(const Shape& shape, DType dtype, Fill fill) {
  Messages messages;
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    messages.push_back(suite::make_tensor(shape, dtype, fill, rank));
  return messages;
}

Outcome outcome(const Codec& codec, const Messages& messages) {
  const Shape shape = messages[0].view().shape;
  const DType dtype = messages[0].view().dtype;
  Outcome out;
  Context context = suite::some_context();
  context.element_offset = 24;
  const auto n = static_cast<std::size_t>(shape.elements());
  std::vector<std::vector<std::byte>> payloads;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    context.rank = rank;
    payloads.emplace_back(codec.payload_bytes(shape, dtype, context));
    payloads.back().resize(
        codec.encode(0, messages[rank].view(), payloads.back(), nullptr, context));
  }
  context.rank = 0;
  out.payload = payloads[0];
  out.bits.resize(n * item_bytes(dtype));
  codec.decode_bits(payloads[0], shape, dtype, out.bits.data(), nullptr, context);
  out.added.assign(n, 0.5f);
  codec.decode_accumulate(payloads[1], shape, dtype, out.added, nullptr, context);
  out.sum.resize(n);
  const std::vector<std::span<const std::byte>> received(payloads.begin(), payloads.end());
  codec.combine(received, shape, dtype, out.sum, nullptr, context);
  return out;
}

/// Messages and what the CPU code makes of them; the kernels under a schedule against that.
class Comparison {
 public:
  Comparison(const Subject& subject, const Shape& shape, DType dtype, Fill fill)
      : subject_(&subject), fill_(fill) {
    if (!suite::takes(subject, shape, dtype, suite::some_context())) return;
    messages_ = messages_of(shape, dtype, fill);
    expected_ = outcome(*subject.codec, messages_);
  }

  void check(unsigned schedule) const {
    if (messages_.empty()) return;
    const TensorView in = messages_[0].view();
    emulator::EmulatedMemory memory;
    const emulator::ScopedOptions scope(emulator::schedule(schedule));
    INFO(subject_->spec << ", " << to_string(in.dtype) << " {" << in.shape.samples << ", "
                        << in.shape.tokens << ", " << in.shape.hidden << "} " << to_string(fill_)
                        << ", schedule " << schedule);
    const DeviceOffsets offsets{schedule % 2, schedule % 3, schedule % 2};
    const Outcome got = outcome(*on_device(subject_->codec, memory, offsets), messages_);
    if (!is_same(got.payload, expected_.payload)) FAIL_CHECK("payloads differ");
    if (!is_same(got.bits, expected_.bits)) FAIL_CHECK("decoded bits differ");
    if (!is_same_sum(got.added, expected_.added)) FAIL_CHECK("accumulated values differ");
    if (!is_same_sum(got.sum, expected_.sum)) FAIL_CHECK("sums differ");
  }

 private:
  const Subject* subject_;
  Fill fill_;
  Messages messages_;
  Outcome expected_;
};

std::vector<Subject> subjects_with_kernels() {
  std::vector<Subject> subjects;
  for (Subject& subject : suite::all_subjects())
    if (subject.codec->supports(Device::kCuda) && subject.codec->rounds() == 1 &&
        subject.codec->properties().state == StateKind::kNone)  // emulated_wrappers_test.cpp
      subjects.push_back(std::move(subject));
  return subjects;
}

}  // namespace

TEST_CASE("emulated kernels write the bytes of the CPU under every schedule") {
  const std::vector<Subject> subjects = subjects_with_kernels();
  REQUIRE(subjects.size() > 25);
  for (const Subject& subject : subjects)
    for (const Shape& shape : kShapes)
      for (unsigned d = 0; d < 3; ++d)
        for (const Fill fill : {Fill::kNormal, Fill::kSpecial}) {
          std::optional<Comparison> comparison;
          for (unsigned schedule = 0; schedule < schedules(); ++schedule) {
            if ((schedule == 1) != (fill == Fill::kSpecial)) continue;
            // Each dtype meets each schedule at some shape; all of them in the nightly run.
            const bool is_nightly = schedules() > 3;
            if (!is_nightly && (static_cast<unsigned>(shape.hidden) + schedule) % 3 != d) continue;
            if (!comparison) comparison.emplace(subject, shape, kDTypes[d], fill);
            comparison->check(schedule);
          }
        }
}

TEST_CASE("emulated kernels take every fill") {
  for (const Subject& subject : subjects_with_kernels())
    for (const Fill fill :
         {Fill::kZeros, Fill::kConstant, Fill::kSpike, Fill::kDenormal, Fill::kAllNan})
      Comparison(subject, {2, 3, 40}, DType::kFloat32, fill).check(0);
}

TEST_CASE("more payloads than a launch takes are summed in their order") {
  const auto codec = make_codec("quantize(bits=5,scope=token)");
  emulator::EmulatedMemory memory;
  const auto device = on_device(codec, memory);
  const Shape shape{1, 3, 40};
  Context context;
  std::vector<std::vector<std::byte>> payloads;
  for (std::uint32_t rank = 0; rank < 11; ++rank) {
    const suite::Tensor in = suite::make_tensor(shape, DType::kFloat32, Fill::kNormal, rank);
    payloads.emplace_back(codec->payload_bytes(shape, DType::kFloat32, context));
    codec->encode(0, in.view(), payloads.back(), nullptr, context);
  }
  const std::vector<std::span<const std::byte>> received(payloads.begin(), payloads.end());
  std::vector<float> expected(120);
  std::vector<float> got(120);
  codec->combine(received, shape, DType::kFloat32, expected, nullptr, context);
  device->combine(received, shape, DType::kFloat32, got, nullptr, context);
  CHECK(is_same(got, expected));
}

TEST_CASE("a workspace that is too small is refused") {
  const auto codec = make_codec("minmax");
  const Shape shape{1, 4, 40};
  const std::vector<float> in(160, 1.0f);
  std::vector<std::byte> out(1000);
  Context context;
  context.device = Device::kCuda;
  CHECK_THROWS_WITH(codec->encode(0, {in.data(), shape, DType::kFloat32}, out, nullptr, context),
                    Catch::Contains("the workspace is smaller than workspace_bytes()"));
}

namespace {

/// Zeros that take memory only where they are touched.
class Sparse {
 public:
  explicit Sparse(std::size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    REQUIRE(data_ != MAP_FAILED);
  }
  ~Sparse() { munmap(data_, bytes_); }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }
  std::span<std::byte> span() const { return {data(), bytes_}; }

 private:
  std::size_t bytes_;
  void* data_;
};

}  // namespace

TEST_CASE("indices past 2^31 reach their elements") {
  // The last blocks of a message of 2^31 + 2^13 elements against the same rows as a message.
  const Shape shape{1, (std::int64_t{1} << 21) + 8, 1024};
  const Shape tail{1, 8, 1024};
  const auto tail_elements = static_cast<std::size_t>(tail.elements());
  const std::size_t first = static_cast<std::size_t>(shape.elements()) - tail_elements;
  const Sparse in(static_cast<std::size_t>(shape.elements()) * 2);
  const suite::Tensor rows = suite::make_tensor(tail, DType::kBFloat16, Fill::kNormal);
  std::memcpy(in.data() + 2 * first, rows.bits.data(), rows.bits.size());
  for (const char* spec : {"cast(format=fp16)", "quantize(bits=4,scope=token)", "mx"}) {
    INFO(spec);
    const auto codec = make_codec(spec);
    Context context;
    std::vector<std::byte> expected(codec->payload_bytes(tail, DType::kBFloat16, context));
    codec->encode(0, rows.view(), expected, nullptr, context);
    std::vector<float> values(tail_elements);
    codec->decode(expected, tail, DType::kBFloat16, values, nullptr, context);
    const std::size_t metadata = codec->metadata_bytes(tail, DType::kBFloat16, context);
    const std::size_t all_metadata = codec->metadata_bytes(shape, DType::kBFloat16, context);

    context.device = Device::kCuda;
    emulator::Options options;
    options.first_block = ~std::uint64_t{0};  // the last block alone: one row or more a warp
    const emulator::ScopedOptions scope(options);
    const Sparse payload(codec->payload_bytes(shape, DType::kBFloat16, context));
    codec->encode(0, {in.data(), shape, DType::kBFloat16}, payload.span(), nullptr, context);
    const std::byte* end = payload.data() + payload.span().size();
    const std::size_t codes = expected.size() - metadata;
    CHECK(std::memcmp(end - codes, expected.data() + metadata, codes) == 0);
    CHECK(std::memcmp(payload.data() + all_metadata - metadata, expected.data(), metadata) == 0);
    const Sparse out(static_cast<std::size_t>(shape.elements()) * sizeof(float));
    codec->decode(
        payload.span(), shape, DType::kBFloat16,
        {reinterpret_cast<float*>(out.data()), static_cast<std::size_t>(shape.elements())}, nullptr,
        context);
    CHECK(std::memcmp(out.data() + 4 * first, values.data(), 4 * tail_elements) == 0);
  }
}

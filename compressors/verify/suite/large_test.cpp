// SPDX-License-Identifier: Apache-2.0
// Sizes and offsets past 2^31 elements. Inputs are mapped and mostly never written, so that they
// take no memory; what is decoded does: a case whose memory is not free is skipped.
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <span>

#include "common/error.hpp"
#include "compressors/api/codec.hpp"
#include "compressors/wire/floats.hpp"

using namespace tersor;
using namespace tersor::compressors;

namespace {

constexpr std::int64_t kHidden = 65536;
constexpr std::int64_t kPast = std::int64_t{1} << 31;
constexpr Shape kShape{1, (kPast / kHidden) + 2, kHidden};  // 2^31 + 131,072 elements

std::int64_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::int64_t kilobytes = 0;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("MemAvailable:")) kilobytes = std::stoll(line.substr(13));
  return kilobytes * 1024;
}

/// Says SKIPPED where `gigabytes` are not free.
bool has_memory(const char* what, double gigabytes) {
  const double free = static_cast<double>(available_bytes()) * 1e-9;
  if (free >= gigabytes) return true;
  std::cout << "SKIPPED: " << what << " needs " << gigabytes << " GB of free memory, there are "
            << free << "\n";
  return false;
}

/// Anonymous pages: zeros that take memory where they are written.
template <class T>
class Pages {
 public:
  explicit Pages(std::int64_t count) : bytes_(static_cast<std::size_t>(count) * sizeof(T)) {
    data_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ == MAP_FAILED) throw Error(ErrorKind::kIo, "mmap of " + std::to_string(bytes_));
    ::madvise(data_, bytes_, MADV_NOHUGEPAGE);
  }
  ~Pages() { ::munmap(data_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  /// The tile again and again, over the whole of the pages, in the memory of one; its bytes divide
  /// by 4096 and into the pages'. A page that is written later becomes its own.
  void repeat(std::span<const T> tile) {
    const int file = ::memfd_create("tile", 0);
    const auto written = ::write(file, tile.data(), tile.size_bytes());
    if (written != static_cast<ssize_t>(tile.size_bytes()))
      throw Error(ErrorKind::kIo, "a tile of " + std::to_string(tile.size_bytes()) + " bytes");
    auto* const begin = static_cast<std::byte*>(data_);
    for (std::size_t at = 0; at < bytes_; at += tile.size_bytes())
      if (::mmap(begin + at, std::min(tile.size_bytes(), bytes_ - at), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, 0) == MAP_FAILED)
        throw Error(ErrorKind::kIo, "mmap of a tile");
    ::close(file);
  }
  T* data() { return static_cast<T*>(data_); }
  T& operator[](std::int64_t i) { return data()[i]; }

 private:
  std::size_t bytes_;
  void* data_;
};

/// Three rows with values: the first, the one that begins at element 2^31, the last.
const std::int64_t kRows[] = {0, kPast / kHidden, kShape.tokens - 1};

std::uint16_t value_at(std::int64_t row, std::int64_t i) {
  const auto wave = static_cast<float>((i * 37 + row % 11) % 101) - 50.0f;
  return round_to_bfloat16(wave * 0.125f);
}

std::vector<std::byte> encode(const Codec& codec, const void* data, const Shape& shape,
                              const Context& context) {
  std::vector<std::byte> payload(codec.payload_bytes(shape, DType::kBFloat16, context));
  payload.resize(codec.encode(0, {data, shape, DType::kBFloat16}, payload, nullptr, context));
  return payload;
}

/// Whether the big tensor's three rows decode as they do in a tensor of their own, the rest to 0.
void check_rows(const char* spec) {
  INFO(spec);
  const auto codec = make_codec(spec);
  Pages<std::uint16_t> x(kShape.elements());
  std::vector<std::uint16_t> small;
  for (const std::int64_t row : kRows)
    for (std::int64_t i = 0; i < kHidden; ++i) {
      x[row * kHidden + i] = value_at(row, i);
      small.push_back(value_at(row, i));
    }
  const Shape few{1, 3, kHidden};
  std::vector<float> expected(small.size());
  codec->decode(encode(*codec, small.data(), few, {}), few, DType::kBFloat16, expected, nullptr,
                {});
  const auto payload = encode(*codec, x.data(), kShape, {});
  Pages<float> y(kShape.elements());
  codec->decode(payload, kShape, DType::kBFloat16,
                {y.data(), static_cast<std::size_t>(kShape.elements())}, nullptr, {});
  for (std::int64_t r = 0; r < 3; ++r)
    CHECK(std::memcmp(&y[kRows[r] * kHidden], &expected[static_cast<std::size_t>(r * kHidden)],
                      static_cast<std::size_t>(kHidden) * sizeof(float)) == 0);
  std::int64_t others = 0;
  for (std::int64_t row = 0; row < kShape.tokens; ++row) {
    if (std::find(std::begin(kRows), std::end(kRows), row) != std::end(kRows)) continue;
    for (std::int64_t i = 0; i < kHidden; ++i) others += y[row * kHidden + i] != 0.0f ? 1 : 0;
  }
  CHECK(others == 0);
}

}  // namespace

TEST_CASE("past 2^31 elements: codecs by rows decode the rows behind it like any other") {
  for (const char* spec :
       {"none", "cast(format=fp16)", "quantize(bits=3,scope=token)", "minmax(bits=2,scope=token)",
        "sign(scope=token)", "fp8(scope=token)", "mx(format=fp4_e2m1)", "quantize(bits=4)",
        "srht(dim=64)", "nvfp4", "spike", "topk(k=9,scope=token,index=bitmap)"})
    if (has_memory(spec, 17)) check_rows(spec);
}

TEST_CASE("past 2^31 elements: stratified positions are those of the definition") {
  if (!has_memory("randk", 13)) return;
  const auto codec = make_codec("randk(k=9,sampling=stratified)");
  Context context;
  context.seed = 3;
  const Stream stream{philox_key(3), 0, 0, 2};
  Pages<std::uint16_t> x(kShape.elements());
  std::map<std::int64_t, float> sent;
  const std::uint64_t n = static_cast<std::uint64_t>(kShape.elements());
  for (std::uint64_t j = 0; j < 9; ++j) {
    const std::uint64_t low = j * n / 9;
    const std::uint64_t length = (j + 1) * n / 9 - low;
    const std::uint64_t at = low + ((std::uint64_t{stream.draw32(j)} * length) >> 32);
    x[static_cast<std::int64_t>(at)] = round_to_bfloat16(static_cast<float>(j + 1));
    sent[static_cast<std::int64_t>(at)] = static_cast<float>(j + 1);
  }
  CHECK(sent.rbegin()->first > kPast - 300'000'000);
  const auto payload = encode(*codec, x.data(), kShape, context);
  REQUIRE(payload.size() == 18);
  Pages<float> y(kShape.elements());
  codec->decode(payload, kShape, DType::kBFloat16, {y.data(), n}, nullptr, context);
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < kShape.elements(); ++i) found += y[i] != 0.0f ? 1 : 0;
  CHECK(found == 9);
  for (const auto& [at, value] : sent) CHECK(y[at] == value);
}

TEST_CASE("past 2^31 elements: topk of the whole tensor keeps positions behind it") {
  if (!has_memory("topk", 14)) return;
  for (const char* spec : {"topk(k=5,index=u32)", "topk(k=5,index=ef)", "topk(k=5,index=i64)"}) {
    INFO(spec);
    const auto codec = make_codec(spec);
    Pages<std::uint16_t> x(kShape.elements());
    // Values below one, of which no few are the largest: the threshold is found as in real tensors.
    std::vector<std::uint16_t> tile(16 * kHidden);
    const Stream noise{philox_key(5), 0, 0, 0};
    for (std::size_t i = 0; i < tile.size(); ++i)
      tile[i] = round_to_bfloat16(static_cast<float>(noise.draw32(i)) * 0x1p-33f);
    x.repeat(tile);
    const std::int64_t at[] = {7, kPast - 1, kPast, kPast + 70'000, kShape.elements() - 1};
    for (int i = 0; i < 5; ++i) x[at[i]] = round_to_bfloat16(static_cast<float>(i + 1));
    const auto payload = encode(*codec, x.data(), kShape, {});
    Pages<float> y(kShape.elements());
    codec->decode(payload, kShape, DType::kBFloat16,
                  {y.data(), static_cast<std::size_t>(kShape.elements())}, nullptr, {});
    for (int i = 0; i < 5; ++i) CHECK(y[at[i]] == static_cast<float>(i + 1));
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < kShape.elements(); ++i) found += y[i] != 0.0f ? 1 : 0;
    CHECK(found == 5);
  }
}

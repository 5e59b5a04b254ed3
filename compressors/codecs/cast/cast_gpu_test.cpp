// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstring>
#include <iostream>
#include <vector>

#include "common/philox.hpp"
#include "compressors/api/codec.hpp"
#include "compressors/device/cuda_check.hpp"

using namespace tersor;
using namespace tersor::compressors;

namespace {

bool has_device() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return true;
  std::cout << "SKIPPED: no CUDA device (" << cudaGetErrorString(status) << ")\n";
  return false;
}

/// Device memory, with `offset` bytes before what is used so that pointers may be unaligned.
struct DeviceBytes {
  std::byte* base = nullptr;
  std::size_t offset = 0;
  std::size_t size = 0;
  DeviceBytes(std::size_t bytes, std::size_t shift) : offset(shift), size(bytes) {
    TERSOR_CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&base), bytes + shift + 16));
  }
  ~DeviceBytes() { cudaFree(base); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  std::byte* data() const { return base + offset; }
  void put(const std::vector<std::byte>& from) const {
    TERSOR_CUDA_CHECK(cudaMemcpy(data(), from.data(), from.size(), cudaMemcpyHostToDevice));
  }
  std::vector<std::byte> take() const {
    std::vector<std::byte> to(size);
    TERSOR_CUDA_CHECK(cudaMemcpy(to.data(), data(), size, cudaMemcpyDeviceToHost));
    return to;
  }
};

/// Every bit pattern may come: the draws are the tensor.
std::vector<std::byte> random_bits(std::size_t bytes) {
  const Stream stream = make_stream(5, Purpose::kInit);
  std::vector<std::byte> out(bytes + 4);
  for (std::size_t i = 0; i < bytes; i += 4) {
    const std::uint32_t word = stream.draw32(i / 4);
    std::memcpy(out.data() + i, &word, 4);
  }
  out.resize(bytes);
  return out;
}

void check_format(const Codec& codec, DType dtype, std::int64_t n, std::size_t shift) {
  INFO(codec.canonical() << " of " << to_string(dtype) << ", " << n << " elements, shifted "
                         << shift);
  const Shape shape{1, 1, n};
  const auto in = random_bits(static_cast<std::size_t>(n) * item_bytes(dtype));
  Context context;
  const std::size_t bytes = codec.payload_bytes(shape, dtype, context);
  std::vector<std::byte> expected(bytes);
  codec.encode(0, {in.data(), shape, dtype}, expected, nullptr, context);
  std::vector<float> values(static_cast<std::size_t>(n), 0.5f);
  codec.decode_accumulate(expected, shape, dtype, values, nullptr, context);

  cudaStream_t stream = nullptr;
  TERSOR_CUDA_CHECK(cudaStreamCreate(&stream));
  Context on_device = context;
  on_device.device = Device::kCuda;
  on_device.stream = stream;
  const DeviceBytes d_in(in.size(), shift);
  const DeviceBytes d_payload(bytes, shift);
  const DeviceBytes d_out(values.size() * 4, shift * 2);
  d_in.put(in);
  const std::vector<float> halves(values.size(), 0.5f);
  std::vector<std::byte> start(values.size() * 4);
  std::memcpy(start.data(), halves.data(), start.size());
  d_out.put(start);
  codec.encode(0, {d_in.data(), shape, dtype}, {d_payload.data(), bytes}, nullptr, on_device);
  codec.decode_accumulate({d_payload.data(), bytes}, shape, dtype,
                          {reinterpret_cast<float*>(d_out.data()), values.size()}, nullptr,
                          on_device);
  TERSOR_CUDA_CHECK(cudaStreamSynchronize(stream));
  CHECK(d_payload.take() == expected);
  const auto summed = d_out.take();
  // Bits, but for NaN: a device makes its own (0x7fffffff) in an addition.
  std::size_t different = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    float got = 0;
    std::memcpy(&got, summed.data() + 4 * i, 4);
    const bool same =
        std::memcmp(&got, &values[i], 4) == 0 || (got != got && values[i] != values[i]);
    different += same ? 0 : 1;
  }
  CHECK(different == 0);
  TERSOR_CUDA_CHECK(cudaStreamDestroy(stream));
}

}  // namespace

TEST_CASE("cast: the device gives the host's bytes") {
  if (!has_device()) return;
  for (const char* spec : {"cast", "cast(format=fp16)"}) {
    const auto codec = make_codec(spec);
    REQUIRE(codec->supports(Device::kCuda));
    for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16})
      for (const std::int64_t n : {1, 7, 8, 2047, 2048, 2049, 1'000'003})
        for (const std::size_t shift : {std::size_t{0}, item_bytes(dtype)})
          check_format(*codec, dtype, n, shift);
  }
}

TEST_CASE("cast: the kernels are registered in a CUDA build") {
  CHECK(make_codec("cast")->supports(Device::kCuda));
}

TEST_CASE("the check macro throws CUDA's words and clears the error") {
  CHECK_THROWS_WITH(TERSOR_CUDA_CHECK(cudaErrorInvalidValue),
                    Catch::Contains("cudaErrorInvalidValue"));
  CHECK_NOTHROW(TERSOR_CUDA_CHECK(cudaSuccess));
}

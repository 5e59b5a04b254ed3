// SPDX-License-Identifier: Apache-2.0
// The reference's golden files against the CUDA kernels on a device.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "compressors/device/cuda_check.hpp"
#include "compressors/tools/golden.hpp"
#include "compressors/verify/on_device.hpp"

using namespace tersor;
using namespace tersor::compressors;

namespace {

class CudaMemory final : public DeviceMemory {
 public:
  std::byte* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    TERSOR_CUDA_CHECK(cudaMalloc(&memory, bytes + 1));  // of 0 bytes it gives no pointer
    return static_cast<std::byte*>(memory);
  }
  void release(std::byte* memory) override { cudaFree(memory); }
  void copy_in(std::byte* to, const void* from, std::size_t bytes) override {
    if (bytes > 0) TERSOR_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
  }
  void copy_out(void* to, const std::byte* from, std::size_t bytes) override {
    TERSOR_CUDA_CHECK(cudaDeviceSynchronize());
    if (bytes > 0) TERSOR_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
  }
};

}  // namespace

TEST_CASE("kernels write the golden payloads and sums on a device") {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    std::cout << "SKIPPED: no CUDA device\n";
    return;
  }
  const char* given = std::getenv("TERSOR_GOLDEN");
  const std::filesystem::path folder = given != nullptr ? given : "../shared/reference/golden";
  if (!std::filesystem::exists(folder / "manifest.json")) {
    std::cout << "SKIPPED: no golden folder at " << folder << " (set TERSOR_GOLDEN)\n";
    return;
  }
  CudaMemory memory;
  for (const DeviceOffsets offsets : {DeviceOffsets{}, DeviceOffsets{1, 1, 1}}) {
    GoldenOptions options;
    options.place = [&](std::shared_ptr<const Codec> codec) {
      return on_device(std::move(codec), memory, offsets);
    };
    const GoldenReport report = check_golden(folder, options);
    for (const std::string& difference : report.differences) UNSCOPED_INFO(difference);
    CHECK(report.total().different == 0);
    CHECK(report.groups.at("message").equal > 100);
  }
}

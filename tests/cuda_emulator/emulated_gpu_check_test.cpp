// SPDX-License-Identifier: Apache-2.0
// The GPU check, on the emulator: what it reports of right kernels and of a device that lies.
#include <catch2/catch.hpp>

#include "compressors/verify/gpu_check/check.hpp"
#include "tests/cuda_emulator/emulated_memory.hpp"

using namespace tersor;
using namespace tersor::compressors;
using nlohmann::json;

namespace {

/// Emulated, without time: every sample takes as many nanoseconds as there were before it.
class EmulatedDevice final : public gpu_check::CheckDevice {
 public:
  std::byte* allocate(std::size_t bytes) override { return memory_.allocate(bytes); }
  void release(std::byte* memory) override { memory_.release(memory); }
  void copy_in(std::byte* to, const void* from, std::size_t bytes) override {
    memory_.copy_in(to, from, bytes);
  }
  void copy_out(void* to, const std::byte* from, std::size_t bytes) override {
    memory_.copy_out(to, from, bytes);
    if (is_lying && bytes > 8) static_cast<std::byte*>(to)[7] ^= std::byte{1};
  }
  void run(const gpu_check::Work& work) override { work(nullptr); }
  gpu_check::Samples time(const gpu_check::Work& work, const std::byte*, std::byte*, std::size_t,
                          bool, double) override {
    work(nullptr);
    return {{1, 2, 3}, {4, 5, 6}};
  }

  bool is_lying = false;

 private:
  emulator::EmulatedMemory memory_;
};

json check(EmulatedDevice& device, std::vector<std::string> specs, std::vector<std::size_t> sizes) {
  const emulator::ScopedOptions scope(emulator::schedule(0));
  gpu_check::CheckOptions options;
  options.specs = std::move(specs);
  options.dtypes = {DType::kFloat32, DType::kBFloat16};
  options.sizes = std::move(sizes);
  return gpu_check::check(device, options);
}

int count(const json& cases, const char* kind, const char* status) {
  return static_cast<int>(std::count_if(cases.begin(), cases.end(), [&](const json& c) {
    return c.at("kind") == kind && c.at("status") == status;
  }));
}

}  // namespace

TEST_CASE("the GPU check finds emulated kernels equal to the CPU code") {
  EmulatedDevice device;
  const json cases = check(device, {"cast", "none", "ef(cast)"}, {});
  for (const json& c : cases) {
    INFO(c.dump());
    CHECK(c.at("status") == "ok");
  }
  CHECK(count(cases, "equality", "ok") == 3 * 2 * 5 * 4);  // specs, dtypes, shapes, operations
}

TEST_CASE("the GPU check names the byte in which a device differs") {
  EmulatedDevice device;
  device.is_lying = true;
  const json cases = check(device, {"cast"}, {});
  CHECK(count(cases, "equality", "failed") > 0);
  for (const json& c : cases)
    if (c.at("status") == "failed") {
      CHECK(c.at("equal") == false);
      CHECK_THAT(c.at("reason").get<std::string>(), Catch::Contains("byte 7 of "));
    }
}

TEST_CASE("the GPU check times what it compared, and says what it leaves out") {
  EmulatedDevice device;
  const json cases = check(device, {"none", "powersgd(rank=2)", "autoencoder"}, {8192});
  CHECK(count(cases, "equality", "skipped") == 2);
  int timed = 0;
  for (const json& c : cases) {
    if (c.at("kind") != "speed") continue;
    INFO(c.dump());
    ++timed;
    CHECK(c.at("status") == "ok");
    CHECK(c.at("raw_bytes") == 8192);
    CHECK(c.at("times_ns") == json{1, 2, 3});
    CHECK(c.at("copy_times_ns") == json{4, 5, 6});
  }
  CHECK(timed >= 2 * 2 * 2);  // dtypes, encode and decode, cold and hot
}

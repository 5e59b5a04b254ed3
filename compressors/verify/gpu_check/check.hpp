// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compressors/api/codec.hpp"
#include "compressors/device/device_memory.hpp"

namespace tersor::compressors::gpu_check {

/// Calls of a codec with Device::kCuda, on the stream (a cudaStream_t) that it is given.
using Work = std::function<void(void* stream)>;

/// Nanoseconds of one call each, alternated.
struct Samples {
  std::vector<double> work_ns;
  std::vector<double> copy_ns;
};

/// The device that is checked.
class CheckDevice : public DeviceMemory {
 public:
  /// Captures the work into a graph, replays it once and waits: work that allocates or waits for
  /// the device fails here.
  virtual void run(const Work& work) = 0;
  /// Times the work, and a device copy of `bytes`, alternately, for about `seconds`. Cold: what the
  /// caches hold is flushed before each sample.
  virtual Samples time(const Work& work, const std::byte* from, std::byte* to, std::size_t bytes,
                       bool is_cold, double seconds) = 0;
};

struct CheckOptions {
  std::vector<std::string> specs;
  std::vector<DType> dtypes;
  std::vector<std::size_t> sizes;  ///< bytes of the tensors that are timed; none: bytes only
  double seconds = 0.02;           ///< of timing, a case
  /// Called before each spec, for people who wait.
  std::function<void(const std::string& spec, std::size_t at, std::size_t count)> progress;
};

/// Compares every byte that the device writes with the CPU code, then times the device. Returns the
/// `cases` of docs/imported-files.md; a difference or a CUDA error is a case with status `failed`.
nlohmann::json check(CheckDevice& device, const CheckOptions& options);

}  // namespace tersor::compressors::gpu_check

// SPDX-License-Identifier: Apache-2.0
// tersor-gpu-check: the codecs' kernels on a GPU, compared with the CPU code and timed beside a
// copy.
#include <cuda_runtime.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "common/build_info.hpp"
#include "common/error.hpp"
#include "common/log.hpp"
#include "common/statistics.hpp"
#include "common/utc_time.hpp"
#include "compressors/device/cuda_check.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/tools/golden.hpp"
#include "compressors/verify/gpu_check/check.hpp"
#include "compressors/verify/on_device.hpp"

namespace tersor::compressors::gpu_check {
namespace {

using nlohmann::json;

/// Work captured on a stream, to be replayed.
class Graph {
 public:
  Graph(cudaStream_t stream, const Work& work, int repeats) : stream_(stream) {
    TERSOR_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
      for (int i = 0; i < repeats; ++i) work(stream);
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    TERSOR_CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    const cudaError_t status = cudaGraphInstantiate(&ready_, graph, 0);
    cudaGraphDestroy(graph);
    check_cuda(status, "cudaGraphInstantiate");
  }
  ~Graph() { cudaGraphExecDestroy(ready_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch() const { TERSOR_CUDA_CHECK(cudaGraphLaunch(ready_, stream_)); }

 private:
  cudaStream_t stream_;
  cudaGraphExec_t ready_ = nullptr;
};

class Event {
 public:
  Event() { TERSOR_CUDA_CHECK(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

class CudaDevice final : public CheckDevice {
 public:
  explicit CudaDevice(std::size_t cache_bytes) {
    TERSOR_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    flush_bytes_ = std::max(2 * cache_bytes, std::size_t{32} << 20);
    flush_ = allocate(flush_bytes_);
  }
  ~CudaDevice() override {
    cudaFree(flush_);
    cudaStreamDestroy(stream_);
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  std::byte* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    TERSOR_CUDA_CHECK(cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)));
    return static_cast<std::byte*>(memory);
  }
  void release(std::byte* memory) override { cudaFree(memory); }
  void copy_in(std::byte* to, const void* from, std::size_t bytes) override {
    TERSOR_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
  }
  void copy_out(void* to, const std::byte* from, std::size_t bytes) override {
    TERSOR_CUDA_CHECK(cudaDeviceSynchronize());
    TERSOR_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
  }
  void run(const Work& work) override {
    const Graph graph(stream_, work, 1);
    graph.launch();
    TERSOR_CUDA_CHECK(cudaStreamSynchronize(stream_));
  }
  Samples time(const Work& work, const std::byte* from, std::byte* to, std::size_t bytes,
               bool is_cold, double seconds) override {
    constexpr int kHotRepeats = 16;  // the launch of one graph is nothing beside them
    constexpr std::size_t kLeast = 5, kMost = 200;
    const int repeats = is_cold ? 1 : kHotRepeats;
    const Work copy = [&](void* stream) {
      TERSOR_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice,
                                        static_cast<cudaStream_t>(stream)));
    };
    const Graph work_graph(stream_, work, repeats), copy_graph(stream_, copy, repeats);
    sample(work_graph, is_cold, repeats);
    sample(copy_graph, is_cold, repeats);
    Samples samples;
    const auto started = std::chrono::steady_clock::now();
    const std::chrono::duration<double> limit(seconds);
    while (samples.work_ns.size() < kLeast ||
           (samples.work_ns.size() < kMost && std::chrono::steady_clock::now() - started < limit)) {
      samples.work_ns.push_back(sample(work_graph, is_cold, repeats));
      samples.copy_ns.push_back(sample(copy_graph, is_cold, repeats));
    }
    return samples;
  }

 private:
  /// While the flush runs, events and graph are enqueued behind it: no launch is timed.
  double sample(const Graph& graph, bool is_cold, int repeats) {
    if (is_cold) TERSOR_CUDA_CHECK(cudaMemsetAsync(flush_, 1, flush_bytes_, stream_));
    TERSOR_CUDA_CHECK(cudaEventRecord(begin_.get(), stream_));
    graph.launch();
    TERSOR_CUDA_CHECK(cudaEventRecord(end_.get(), stream_));
    TERSOR_CUDA_CHECK(cudaEventSynchronize(end_.get()));
    float milliseconds = 0;
    TERSOR_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()));
    return static_cast<double>(milliseconds) * 1e6 / repeats;
  }

  cudaStream_t stream_ = nullptr;
  std::byte* flush_ = nullptr;
  std::size_t flush_bytes_ = 0;
  Event begin_, end_;
};

int attribute(cudaDeviceAttr which) {
  int value = 0;
  TERSOR_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, 0));
  return value;
}

std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

json about_this_machine() {
  cudaDeviceProp properties{};
  TERSOR_CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  int count = 0, driver = 0, runtime = 0;
  TERSOR_CUDA_CHECK(cudaGetDeviceCount(&count));
  TERSOR_CUDA_CHECK(cudaDriverGetVersion(&driver));
  TERSOR_CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  return {{"format", "tersor-gpu-check"},
          {"version", 1},
          {"measured_at", utc_now(false)},
          {"program", "scripts/gpu-check"},
          {"hardware",
           {{"gpu", properties.name},
            {"gpus", count},
            {"compute_capability",
             std::to_string(properties.major) + "." + std::to_string(properties.minor)},
            {"multiprocessors", properties.multiProcessorCount},
            {"memory_bytes", properties.totalGlobalMem},
            {"l2_bytes", properties.l2CacheSize},
            {"clock_mhz", attribute(cudaDevAttrClockRate) / 1000},
            {"memory_clock_mhz", attribute(cudaDevAttrMemoryClockRate) / 1000}}},
          {"environment",
           {{"cuda", cuda_version(runtime)},
            {"driver_cuda", cuda_version(driver)},
            {"compiler", build_info().compiler},
            {"tersor", build_version()}}}};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

/// For people: what differs, and how fast the common sizes are. Returns the number of failures.
int summarise(const json& cases) {
  std::map<std::string, int> count;
  for (const json& c : cases) {
    const auto& status = c.at("status").get_ref<const std::string&>();
    ++count[status];
    if (status != "ok")
      std::printf("%-8s %s %s %s %s: %s\n", status.c_str(), c.at("operation").dump().c_str(),
                  c.at("spec").get<std::string>().c_str(), c.at("dtype").dump().c_str(),
                  c.at("shape").dump().c_str(), c.at("reason").get<std::string>().c_str());
  }
  std::printf("\n%-34s %-9s %-18s %9s %10s %12s\n", "codec", "dtype", "operation", "MiB",
              "median us", "copy / work");
  for (const json& c : cases) {
    if (c.at("kind") != "speed" || c.at("status") != "ok" || c.at("mode") != "cold") continue;
    const auto bytes = c.at("raw_bytes").get<std::size_t>();
    if (bytes != std::size_t{8} << 20 && bytes != std::size_t{64} << 20) continue;
    const double work = median(c.at("times_ns").get<std::vector<double>>());
    const double copy = median(c.at("copy_times_ns").get<std::vector<double>>());
    const std::string operation = c.at("operation").get<std::string>() +
                                  (c.at("ranks") > 1 ? " x" + c.at("ranks").dump() : "");
    std::printf("%-34s %-9s %-18s %9zu %10.1f %12.2f\n", c.at("spec").get<std::string>().c_str(),
                c.at("dtype").get<std::string>().c_str(), operation.c_str(), bytes >> 20,
                work / 1e3, copy / work);
  }
  std::printf("\n%d cases ok, %d failed, %d skipped\n", count["ok"], count["failed"],
              count["skipped"]);
  return count["failed"];
}

int check_golden_folder(const std::string& folder, CudaDevice& device) {
  GoldenOptions options;
  options.place = [&](std::shared_ptr<const Codec> codec) -> std::shared_ptr<const Codec> {
    if (!codec->supports(Device::kCuda)) return codec;
    return on_device(std::move(codec), device);
  };
  const GoldenReport report = check_golden(folder, options);
  for (const std::string& difference : report.differences)
    std::printf("golden: %s\n", difference.c_str());
  const GoldenCount total = report.total();
  std::printf("golden: %d equal, %d skipped, %d different\n", total.equal, total.skipped,
              total.different);
  return total.different;
}

int run(int argc, char** argv) {
  CLI::App app(
      "Compares every byte that the codecs' kernels write on this GPU with the CPU code, then\n"
      "times them beside a device copy of the tensor. Exit status 1 where a byte differs.");
  std::string out = "gpu-check.json", golden;
  CheckOptions options;
  std::vector<std::string> dtypes{"float32", "float16", "bfloat16"};
  std::vector<std::size_t> kib{64, 256, 1024, 4096, 8192, 16384, 65536, 262144};
  double minutes = 4;
  bool is_bytes_only = false;
  app.add_option("-o,--out", out, "where to write the JSON (tersor import reads it)")
      ->capture_default_str();
  app.add_option("--codec", options.specs, "only these specs; all codecs and their examples else");
  app.add_option("--dtype", dtypes, "float32, float16, bfloat16")->capture_default_str();
  app.add_option("--kib", kib, "sizes of the timed tensors, in KiB, multiples of 4")
      ->capture_default_str();
  app.add_option("--minutes", minutes, "what the timing may take in all")
      ->check(CLI::Range(0.01, 1440.0))
      ->capture_default_str();
  app.add_flag("--bytes-only", is_bytes_only, "compare, and time nothing");
  app.add_option("--golden", golden,
                 "also run this folder's cases on the GPU (tersor codec check)");
  app.footer(
      "Examples:\n"
      "  tersor-gpu-check -o h200.json && tersor import h200.json --db results.db\n"
      "  tersor-gpu-check --codec 'quantize(bits=4)' --dtype bfloat16 --kib 8192");
  CLI11_PARSE(app, argc, argv);

  for (const std::string& dtype : dtypes) options.dtypes.push_back(parse_dtype(dtype));
  for (const std::size_t size : kib) {
    if (size == 0 || size % 4 != 0)
      throw Error(ErrorKind::kUsage,
                  "--kib " + std::to_string(size) + ": not a positive multiple of 4");
    if (!is_bytes_only) options.sizes.push_back(size << 10);
  }
  if (options.specs.empty()) options.specs = example_specs();
  for (const std::string& spec : options.specs) make_codec(spec);
  std::ofstream file(out);  // before the minutes that it takes
  if (!file) throw Error(ErrorKind::kIo, out + ": cannot be written");

  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0)
    throw Error(ErrorKind::kDevice, std::string("no CUDA device (") + cudaGetErrorString(status) +
                                        "); the same kernels run emulated: ctest -R emulated");
  json report = about_this_machine();
  CudaDevice device(report.at("hardware").at("l2_bytes").get<std::size_t>());
  // Encode, decode and sum; cold, and hot at the smaller sizes.
  const auto timings =
      static_cast<double>(options.specs.size() * options.dtypes.size() * options.sizes.size() * 6);
  options.seconds = std::clamp(minutes * 60 / std::max(1.0, timings), 0.001, 0.5);
  const auto started = std::chrono::steady_clock::now();
  options.progress = [&](const std::string& spec, std::size_t at, std::size_t all) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - started;
    std::fprintf(stderr, "[%zu/%zu] %s", at + 1, all, spec.c_str());
    if (at > 0)
      std::fprintf(stderr, "  (%.0f s left)",
                   spent.count() / static_cast<double>(at) * static_cast<double>(all - at));
    std::fputc('\n', stderr);
  };
  report["cases"] = check(device, options);
  file << report.dump(1) << "\n";
  if (!file.flush()) throw Error(ErrorKind::kIo, out + ": cannot be written");
  const int failed =
      summarise(report["cases"]) + (golden.empty() ? 0 : check_golden_folder(golden, device));
  std::printf("%s; next: tersor import %s --db results.db\n", out.c_str(), out.c_str());
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tersor::compressors::gpu_check

int main(int argc, char** argv) {
  tersor::set_log_name("tersor-gpu-check");
  try {
    return tersor::compressors::gpu_check::run(argc, argv);
  } catch (const std::exception& error) {
    tersor::log_line(tersor::LogLevel::kError, error.what());
    return 2;
  }
}

// SPDX-License-Identifier: Apache-2.0
// tersor-bench: encode, decode and sum of every codec beside memcpy of the same tensor.
#include <benchmark/benchmark.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "common/build_info.hpp"
#include "common/error.hpp"
#include "common/log.hpp"
#include "common/number.hpp"
#include "compressors/bench/bench_row.hpp"
#include "compressors/bench/counters.hpp"
#include "compressors/bench/reporter.hpp"
#include "compressors/spec/registry.hpp"

namespace tersor::compressors::bench {
namespace {

struct Options {
  bool is_quick = false;
  std::vector<std::string> specs;
  std::vector<Shape> shapes;
  std::vector<DType> dtypes;
  std::vector<std::string> data;
  std::vector<std::string> operations;
  int threads = 1;
  Effort effort;
};

/// The tensor of several rows, made when the first of them runs.
class LazyMaterial {
 public:
  LazyMaterial(const Shape& shape, DType dtype) : shape_(shape), dtype_(dtype) {}
  explicit LazyMaterial(Material material)
      : shape_(material.shape),
        dtype_(material.dtype),
        material_(std::make_unique<Material>(std::move(material))) {}

  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  std::string name() const {
    if (material_) return material_->name;
    return std::string(to_string(dtype_)) + "/" + std::to_string(shape_.samples) + "x" +
           std::to_string(shape_.tokens) + "x" + std::to_string(shape_.hidden);
  }
  const Material& get() {
    if (!material_) material_ = std::make_unique<Material>(make_material(shape_, dtype_));
    return *material_;
  }

 private:
  Shape shape_;
  DType dtype_;
  std::unique_ptr<Material> material_;
};

struct Named {
  std::string name;
  Operation operation;
  std::uint32_t ranks;
};

std::vector<Named> operations_of(const Options& options) {
  std::vector<Named> all{{"encode", Operation::kEncode, 1}, {"decode", Operation::kDecode, 1}};
  for (const std::uint32_t p : {2u, 4u, 8u})
    if (!options.is_quick || p == 2) all.push_back({"sum" + std::to_string(p), Operation::kSum, p});
  if (!options.operations.empty())
    std::erase_if(all, [&](const Named& n) {
      return std::find(options.operations.begin(), options.operations.end(), n.name) ==
             options.operations.end();
    });
  return all;
}

void add_row(const Named& what, const std::shared_ptr<const Codec>& codec,
             const std::shared_ptr<LazyMaterial>& material, const Options& options) {
  const std::string name = what.name + "/" + codec->canonical() + "/" + material->name();
  const auto run = [what, codec, material, options](benchmark::State& state) {
    Row row(*codec, material->get(), what.operation, what.ranks, options.threads);
    for ([[maybe_unused]] auto unused : state) {
      const Timing timing = measure([&] { row.work(); }, [&] { row.copy(); }, options.effort);
      state.SetIterationTime(timing.median_ns * 1e-9);
      set_counters(state, timing, row.bytes());
    }
  };
  benchmark::RegisterBenchmark(name.c_str(), run)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(1);
}

std::vector<std::shared_ptr<LazyMaterial>> materials_of(const Options& options) {
  std::vector<std::shared_ptr<LazyMaterial>> materials;
  if (options.is_quick) return {std::make_shared<LazyMaterial>(Shape{2, 16, 384}, DType::kFloat32)};
  std::vector<DType> dtypes = options.dtypes;
  if (dtypes.empty()) dtypes = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};
  for (const std::string& file : options.data)
    for (Material& material : read_materials(file, dtypes))
      materials.push_back(std::make_shared<LazyMaterial>(std::move(material)));
  if (!options.data.empty() && options.shapes.empty()) return materials;
  for (const DType dtype : dtypes)
    for (const Shape& shape : options.shapes.empty() ? usual_shapes(dtype) : options.shapes)
      materials.push_back(std::make_shared<LazyMaterial>(shape, dtype));
  return materials;
}

void add_rows(const Options& options) {
  const auto specs = options.specs.empty() ? example_specs() : options.specs;
  for (const auto& material : materials_of(options)) {
    for (const std::string& spec : specs) {
      const std::shared_ptr<const Codec> codec = make_codec(spec);
      if (!takes(*codec, material->shape(), material->dtype())) continue;
      for (const Named& what : operations_of(options)) {
        // Caches by sample belong to a pipeline send, which nobody sums; rounds bring a sum.
        const bool is_summed =
            codec->properties().state != StateKind::kSample && codec->rounds() == 1;
        if (what.operation == Operation::kSum && !is_summed) continue;
        add_row(what, codec, material, options);
      }
    }
  }
}

constexpr const char* kHelp =
    "tersor-bench [options] [Google Benchmark's options]\n"
    "Times encode, decode, and the decoded sum of 2, 4 and 8 payloads of every codec and example,\n"
    "each call between two memcpys of the same tensor. memcpy_ratio > 1: faster than memcpy;\n"
    "bound_share: of the speed at which input and output, moved once, would take as long as\n"
    "memcpy takes for as many bytes. Medians, with their 95 % intervals (_low, _high).\n"
    "  --codec SPEC      only this codec (repeat for more)\n"
    "  --operation NAME  encode, decode, sum2, sum4, sum8\n"
    "  --dtype NAME      float32, float16, bfloat16\n"
    "  --shape AxB[xC]   instead of 4096x1024, 1024x384, 32x128x1024 and 64 MiB\n"
    "  --data FILE       the tensors of a .npy or .safetensors file instead of made ones (with\n"
    "                    --shape: besides), such as tersor run --messages-every writes\n"
    "  --samples N       samples of a row at most (25), within --seconds S (0.4) of timed calls\n"
    "  --threads N       threads of a call; its times are wall times if N > 1\n"
    "  --target NAME     avx2 or scalar: without the wider instruction sets\n"
    "  --quick           one small tensor, few samples: whether it runs, not how fast\n"
    "Examples:\n"
    "  tersor-bench --benchmark_out=bench.json --benchmark_out_format=json\n"
    "  tersor-bench --codec 'quantize(bits=4)' --operation encode --shape 4096x1024\n";

std::string known_operation(const std::string& name) {
  for (const char* known : {"encode", "decode", "sum2", "sum4", "sum8"})
    if (name == known) return name;
  throw Error(ErrorKind::kUsage,
              "--operation " + name + ": neither encode, decode, sum2, sum4 nor sum8");
}

void narrow_targets(const std::string& name) {
  std::int64_t left_out = HWY_AVX3 | HWY_AVX3_DL;
  if (name == "scalar")
    left_out |= HWY_AVX2;
  else if (name != "avx2")
    throw Error(ErrorKind::kUsage, "--target " + name + ": neither avx2 nor scalar");
  hwy::DisableTargets(left_out);
  benchmark::AddCustomContext("target", name);
}

/// Takes our options out of the command line and leaves Google Benchmark's.
Options parse(int& argc, char** argv) {
  Options o;
  int remaining = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) throw Error(ErrorKind::kUsage, word + " needs a value");
      return argv[++i];
    };
    const auto number = [&] {
      const std::string text = value();
      const auto real = parse_real(text);
      if (!real || *real <= 0 || *real > 1e6)
        throw Error(ErrorKind::kUsage, word + " " + text + ": not above 0 and at most 1e6");
      return *real;
    };
    if (word == "--quick")
      o.is_quick = true;
    else if (word == "--codec")
      o.specs.push_back(value());
    else if (word == "--operation")
      o.operations.push_back(known_operation(value()));
    else if (word == "--dtype")
      o.dtypes.push_back(parse_dtype(value()));
    else if (word == "--shape")
      o.shapes.push_back(parse_shape(value()));
    else if (word == "--data")
      o.data.push_back(value());
    else if (word == "--samples")
      o.effort.samples = static_cast<int>(number());
    else if (word == "--seconds")
      o.effort.seconds = number();
    else if (word == "--target")
      narrow_targets(value());
    else if (word == "--threads")
      o.threads = static_cast<int>(number());
    else
      argv[remaining++] = argv[i];
  }
  argc = remaining;
  o.effort.is_wall = o.threads > 1;
  if (o.is_quick) o.effort = {3, 1, 0.01, o.effort.is_wall};
  return o;
}

int run(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--help") {
    std::fputs(kHelp, stdout);
    return 0;
  }
  const Options options = parse(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (argc > 1)
    throw Error(ErrorKind::kUsage,
                "unknown argument '" + std::string(argv[1]) + "'; --help lists what there is");
  benchmark::AddCustomContext("tersor", build_version());
  benchmark::AddCustomContext("compiler", build_info().compiler);
  benchmark::AddCustomContext("threads", std::to_string(options.threads));
  add_rows(options);
  if (run_rows() == 0) throw Error(ErrorKind::kUsage, "no row matches");
  benchmark::Shutdown();
  return 0;
}

}  // namespace
}  // namespace tersor::compressors::bench

int main(int argc, char** argv) {
  tersor::set_log_name("tersor-bench");
#ifndef NDEBUG
  tersor::log_line(tersor::LogLevel::kError,
                   "this is no release build, its times mean nothing: configure with "
                   "-DCMAKE_BUILD_TYPE=Release");
  return 1;
#endif
  try {
    return tersor::compressors::bench::run(argc, argv);
  } catch (const std::bad_alloc&) {
    tersor::log_line(tersor::LogLevel::kError, "out of memory: give a smaller --shape");
    return 2;
  } catch (const std::exception& error) {
    tersor::log_line(tersor::LogLevel::kError, error.what());
    return 2;
  }
}

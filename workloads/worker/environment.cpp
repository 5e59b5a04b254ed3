// SPDX-License-Identifier: Apache-2.0
#include "workloads/worker/environment.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "common/affinity.hpp"
#include "common/build_info.hpp"
#include "common/error.hpp"
#include "common/host.hpp"
#include "common/number.hpp"
#include "workloads/comm/runtime.hpp"

namespace tersor::workloads {
namespace {

using nlohmann::ordered_json;

std::string text_of(const char* variable, const std::string& fallback) {
  const char* value = std::getenv(variable);
  return value && *value ? value : fallback;
}

int number_of(const char* variable, int fallback, int low, int high) {
  const std::string text = text_of(variable, std::to_string(fallback));
  const auto value = parse_integer(text);
  if (!value || *value < low || *value > high)
    throw Error(ErrorKind::kUsage, std::string(variable) + "=" + text + " is not a number in [" +
                                       std::to_string(low) + ", " + std::to_string(high) + "]");
  return static_cast<int>(*value);
}

}  // namespace

Launch read_launch() {
  constexpr int kMost = 1 << 20;
  Launch launch;
  launch.world = number_of("WORLD_SIZE", 1, 1, kMost);
  launch.rank = number_of("RANK", 0, 0, launch.world - 1);
  launch.local_rank = number_of("LOCAL_RANK", launch.rank, 0, kMost);
  launch.address = text_of("MASTER_ADDR", launch.address);
  launch.port = number_of("MASTER_PORT", launch.port, 1, 65535);
  launch.timeout_seconds = number_of("TERSOR_TIMEOUT", launch.timeout_seconds, 1, kMost);
  const std::string pin = text_of("TERSOR_PIN", "on");
  if (pin != "on" && pin != "off")
    throw Error(ErrorKind::kUsage, "TERSOR_PIN=" + pin + " is neither on nor off");
  launch.is_pinned = pin == "on";
  return launch;
}

std::vector<int> pin_to_cores(int local_rank, int threads) {
  const std::vector<int> cores = cores_of_rank(allowed_cores(), local_rank, threads);
  return tersor::pin_to_cores(cores) ? cores : std::vector<int>{};
}

ordered_json environment_facts() {
  const RuntimeInfo runtime = runtime_info();
  ordered_json variables = ordered_json::object();
  for (const char* name :
       {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "MKL_CBWR", "MKL_ENABLE_INSTRUCTIONS",
        "MKL_DEBUG_CPU_TYPE", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "ATEN_CPU_CAPABILITY",
        "GLOO_SOCKET_IFNAME", "MALLOC_TOP_PAD_", "TERSOR_PIN"})
    if (const char* value = std::getenv(name)) variables[name] = value;
  return {{"torch", runtime.torch},
          {"compiler", build_info().compiler},
          {"flags", build_info().flags},
          {"isa", runtime.isa},
          {"math_isa", runtime.math_isa},
          {"math_library", runtime.math_library},
          {"threads", runtime.threads},
          {"backend", ""},
          {"cuda", nullptr},
          {"variables", variables}};
}

ordered_json hardware_facts() {
  return {{"cpu", cpu_name()},
          {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
          {"memory_bytes", physical_memory_bytes()},
          {"gpu", nullptr},
          {"gpus", 0}};
}

}  // namespace tersor::workloads

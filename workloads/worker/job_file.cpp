// SPDX-License-Identifier: Apache-2.0
#include "workloads/worker/job_file.hpp"

#include <string>

#include "common/error.hpp"
#include "compressors/spec/tensor_site.hpp"
#include "workloads/stages/stage.hpp"

namespace tersor::workloads {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorKind::kUnsupported, message);
}

}  // namespace

void check_job(const protocol::JobFile& job, int processes) {
  const protocol::Cell& config = job.config;
  const protocol::Hardware& hardware = config.hardware;
  const auto& stages = Registry<StageInfo>::instance();
  if (!stages.contains(config.training.stage)) {
    std::string known;
    for (const std::string& name : stages.names())
      known += (known.empty() ? "'" : ", '") + name + "'";
    refuse("stage '" + config.training.stage + "' is not built; this worker does " + known);
  }
  if (hardware.device != "cpu")
    refuse("hardware.device '" + hardware.device + "': this worker runs on 'cpu'");
  for (const auto& [site, spec] : config.compression.codecs)
    if (spec != "none" && hardware.pp == 1 && (site == "pp" || site == "pp.gradient"))
      refuse("compressor site '" + site + "': there is no pipeline at pp 1");
  for (const auto& [site, spec] : config.compression.codecs) {
    const auto codec = compressors::make_codec(spec);
    if (const auto reason = compressors::refuses_site(site, *codec); !reason.empty())
      refuse(reason);
    if (const auto reason = compressors::refuses_nodes(*codec, hardware.tp, hardware.nodes);
        !reason.empty())
      refuse(reason);
  }
  if (hardware.processes() != processes)
    throw Error(ErrorKind::kUsage, "hardware '" + hardware.name + "' needs " +
                                       std::to_string(hardware.processes()) +
                                       " processes, WORLD_SIZE is " + std::to_string(processes));
}

}  // namespace tersor::workloads

// SPDX-License-Identifier: Apache-2.0
#include "workloads/worker/job_file.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "compressors/spec/tensor_site.hpp"
#include "workloads/stages/stage.hpp"

namespace tersor::workloads {
namespace {

using nlohmann::json;

template <typename T>
T field(const json& object, const char* key, T fallback) {
  const auto found = object.find(key);
  if (found == object.end()) return fallback;
  try {
    return found->get<T>();
  } catch (const json::exception&) {
    throw Error(ErrorKind::kData,
                "cell file: '" + std::string(key) + "' has the wrong type: " + found->dump());
  }
}

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorKind::kUnsupported, message);
}

}  // namespace

JobFile read_job_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorKind::kMissing, "cell file " + path.string() + " cannot be read");
  json object;
  try {
    object = json::parse(file);
  } catch (const json::exception& error) {
    throw Error(ErrorKind::kData, "cell file " + path.string() + ": " + error.what());
  }
  if (!object.is_object() || field<std::int64_t>(object, "format", 0) != 1)
    throw Error(ErrorKind::kData, "cell file " + path.string() + ": expected \"format\": 1");
  if (!object.contains("config"))
    throw Error(ErrorKind::kData, "cell file " + path.string() + ": \"config\" is missing");
  const json seed = object.value("seed", json(0U));
  if (!seed.is_number_unsigned())
    throw Error(ErrorKind::kData,
                "cell file: 'seed' is not an unsigned 64-bit number: " + seed.dump());
  JobFile job;
  job.cell_key = field<std::string>(object, "cell_key", "");
  job.seed = seed.get<std::uint64_t>();
  job.attempt = field<std::int64_t>(object, "attempt", 1);
  job.config = protocol::cell_from_json(object.at("config"));
  job.data_root = field<std::string>(object, "data_root", "");
  job.weights = field<std::string>(object, "weights", "");
  job.vocabulary = field<std::string>(object, "vocab", "");
  job.has_progress = field<bool>(object, "progress", false);
  job.error_every = field<std::int64_t>(object, "error_every", 0);
  job.messages_every = field<std::int64_t>(object, "messages_every", 0);
  return job;
}

void check_job(const JobFile& job, int processes) {
  const protocol::Cell& config = job.config;
  const protocol::Hardware& hardware = config.hardware;
  const auto& stages = Registry<StageInfo>::instance();
  if (!stages.contains(config.training.stage)) {
    std::string known;
    for (const std::string& name : stages.names())
      known += (known.empty() ? "'" : ", '") + name + "'";
    refuse("stage '" + config.training.stage + "' is not built; this worker does " + known);
  }
  if (hardware.pp != 1)
    refuse("hardware.pp " + std::to_string(hardware.pp) +
           ": pipelines are not built; this worker does pp 1");
  if (hardware.device != "cpu")
    refuse("hardware.device '" + hardware.device + "': this worker runs on 'cpu'");
  for (const auto& [site, spec] : config.compression.codecs)
    if (site != "tp" && site != "tp.backward" && spec != "none")
      refuse("compressor site '" + site + "': this worker has 'tp' and 'tp.backward'");
  for (const auto& [site, spec] : config.compression.codecs) {
    const auto codec = compressors::make_codec(spec);
    if (const auto reason = compressors::refuses_tensor_site(site, *codec); !reason.empty())
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

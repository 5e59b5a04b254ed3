// SPDX-License-Identifier: Apache-2.0
#include "results/ingest/spool.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

#include "common/error.hpp"
#include "common/files.hpp"
#include "common/number.hpp"
#include "results/text.hpp"

namespace tersor::results {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kFormat = 1;

StartRecord read_start(const Record& record, int rank) {
  if (const auto format = record.integer("format"); format != kFormat)
    record.fail("format", std::to_string(format) + " is not the format that this tersor reads (" +
                              std::to_string(kFormat) + ")");
  if (const auto found = record.integer("rank"); found != rank)
    record.fail("rank", std::to_string(found) + " does not belong in the file of rank " +
                            std::to_string(rank));
  StartRecord start;
  start.cell_key = record.text("cell_key");
  start.seed = record.unsigned_integer("seed");
  start.attempt = record.integer("attempt", 1);
  start.world = record.integer("world", 1);
  if (rank >= start.world)
    record.fail("world",
                std::to_string(start.world) + " is too small for rank " + std::to_string(rank));
  start.pid = record.optional_integer("pid");
  start.host = record.text_or("host", "");
  start.time = record.text_or("time", "");
  start.environment = record.optional_object("environment");
  start.hardware = record.optional_object("hardware");
  if (rank > 0) return start;
  start.model = record.optional_object("model");  // none where the job failed before it had them
  start.dataset = record.optional_object("dataset");
  start.codecs = record.optional_object("codecs");
  for (const auto& [site, facts] : start.codecs.items())
    if (!facts.is_object() || !facts.contains("spec") || !facts.at("spec").is_string())
      record.fail("codecs", "needs an object with a spec for site '" + site + "'");
  start.steps = record.optional_integer("steps");
  return start;
}

StepRecord read_step(const Record& record, int rank) {
  StepRecord step;
  step.step = record.integer("step");
  step.epoch = record.integer("epoch");
  for (std::size_t i = 0; i < kStepParts.size(); ++i)
    step.ns[i] = record.member_integer("ns", kStepParts[i]);
  if (rank == 0) {
    step.has_training_values = true;
    step.loss = record.number("loss");
    step.learning_rate = record.number("learning_rate");
    step.gradient_norm = record.number("gradient_norm");
  }
  return step;
}

EvalRecord read_eval(const Record& record) {
  EvalRecord eval;
  eval.epoch = record.integer("epoch");
  eval.step = record.optional_integer("step");
  eval.inference = record.choice("inference", {"on", "off"});
  eval.split = record.text("split");
  eval.rows = record.integer("rows");
  eval.loss = record.number("loss");
  eval.is_loss_nonfinite = !eval.loss;
  eval.ns = record.optional_integer("ns");
  for (const auto& [name, value] : record.object("metrics").items())
    if (name != "nonfinite") eval.metrics[name] = record.member_number("metrics", name);
  eval.primary = record.text("primary");
  if (!eval.metrics.empty() && !eval.metrics.contains(eval.primary))
    record.fail("primary", "names '" + eval.primary + "', which is not among the metrics");
  eval.predictions = record.numbers("predictions");
  eval.labels = record.numbers("labels");
  for (const auto& [key, list] :
       {std::pair("predictions", &eval.predictions), std::pair("labels", &eval.labels)})
    if (static_cast<std::int64_t>(list->size()) != eval.rows)
      record.fail(key, "has " + std::to_string(list->size()) + " items for " +
                           std::to_string(eval.rows) + " rows");
  return eval;
}

ErrorRecord read_error(const Record& record) {
  ErrorRecord error;
  error.step = record.integer("step");
  error.site = record.integer("site");
  error.site_name = record.text("site_name");
  std::size_t i = 0;
  for (const char* key : {"message_relative_l2", "message_cosine", "sum_relative_l2", "sum_cosine"})
    error.values[i++] = record.number(key);
  return error;
}

TrafficRecord read_traffic(const Record& record) {
  TrafficRecord traffic;
  traffic.site = record.text("site");
  traffic.site_name = record.text("site_name");
  traffic.direction = record.choice("direction", {"forward", "backward"});
  traffic.phase = record.choice("phase", {"train", "eval"});
  traffic.collective = record.text("collective");
  traffic.dtype = record.text("dtype");
  traffic.spec = record.text("spec");
  for (std::size_t i = 0; i < kTrafficCounts.size(); ++i)
    traffic.counts[i] = record.integer(kTrafficCounts[i]);
  return traffic;
}

EndRecord read_end(const Record& record) {
  EndRecord end;
  end.status = record.choice("status", {"ok", "failed", "diverged", "oom"});
  end.reason = record.text_or("reason", "");
  end.wall_ns = record.optional_integer("wall_ns");
  end.steps = record.optional_integer("steps");
  end.checksum = record.text_or("checksum", "");
  return end;
}

/// Takes the records of one rank in order and refuses what may not follow what.
class RankReader {
 public:
  explicit RankReader(RankSpool& spool) : spool_(spool) {}

  void take(const Record& record) {
    const std::string& type = record.type();
    if (!spool_.start && type != "start")
      record.fail("type", "must be 'start' in the first record");
    if (spool_.end) record.fail("type", "comes after the 'end' record");
    if (type == "start") {
      if (spool_.start) record.fail("type", "comes twice in this file");
      spool_.start = read_start(record, spool_.rank);
    } else if (type == "step") {
      take_step(record);
    } else if (type == "eval") {
      take_eval(record);
    } else if (type == "error") {
      spool_.errors.push_back(read_error(record));
      const auto& error = spool_.errors.back();
      if (!errors_.emplace(error.step, error.site, error.site_name).second)
        record.fail("site", std::to_string(error.site) + " (" + error.site_name +
                                ") comes twice at step " + std::to_string(error.step));
    } else if (type == "traffic") {
      take_traffic(record);
    } else if (type == "memory") {
      if (spool_.memory) record.fail("type", "comes twice in this file");
      spool_.memory = MemoryRecord{record.optional_integer("peak_rss_bytes"),
                                   record.optional_integer("codec_state_bytes"),
                                   record.optional_integer("parameter_bytes")};
    } else if (type == "end") {
      spool_.end = read_end(record);
    } else {
      record.fail("type", "is unknown (start, step, eval, error, traffic, memory, end)");
    }
  }

 private:
  void take_step(const Record& record) {
    StepRecord step = read_step(record, spool_.rank);
    if (!spool_.steps.empty() && step.step <= spool_.steps.back().step)
      record.fail("step", std::to_string(step.step) + " does not follow step " +
                              std::to_string(spool_.steps.back().step));
    spool_.steps.push_back(step);
  }

  void take_eval(const Record& record) {
    EvalRecord eval = read_eval(record);
    if (!evals_.emplace(eval.epoch, eval.inference, eval.split).second)
      record.fail("epoch", std::to_string(eval.epoch) + " was evaluated twice on " + eval.split +
                               " with inference " + eval.inference);
    spool_.evals.push_back(std::move(eval));
  }

  void take_traffic(const Record& record) {
    TrafficRecord t = read_traffic(record);
    if (!traffic_.emplace(t.site, t.site_name, t.direction, t.phase, t.collective, t.dtype, t.spec)
             .second)
      record.fail("site",
                  "comes twice with the same name, direction, phase, collective, dtype "
                  "and spec");
    spool_.traffic.push_back(std::move(t));
  }

  RankSpool& spool_;
  std::set<std::tuple<std::int64_t, std::int64_t, std::string>> errors_;
  std::set<std::tuple<std::int64_t, std::string, std::string>> evals_;
  std::set<std::tuple<std::string, std::string, std::string, std::string, std::string, std::string,
                      std::string>>
      traffic_;
};

bool is_whole_object(std::string_view line) {
  return nlohmann::json::parse(line, nullptr, false).is_object();
}

RankSpool read_rank(const fs::path& path, int rank) {
  const std::vector<std::byte> data = read_file(path);
  const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
  RankSpool spool;
  spool.rank = rank;
  spool.file = path.string();
  spool.hash = hash_of(text);
  spool.bytes = static_cast<std::int64_t>(text.size());
  RankReader reader(spool);
  int number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t stop = text.find('\n', begin);
    const std::string_view line = text.substr(begin, stop - begin);
    if (stop == std::string_view::npos && !is_whole_object(line)) {
      spool.torn_bytes = static_cast<std::int64_t>(line.size());
      break;
    }
    reader.take(Record(line, spool.file, number));
    if (stop == std::string_view::npos) break;
    begin = stop + 1;
  }
  return spool;
}

/// r of "rank<r>.jsonl".
std::optional<int> rank_of(const std::string& name) {
  constexpr std::string_view kPrefix = "rank";
  constexpr std::string_view kSuffix = ".jsonl";
  const std::string_view text = name;
  if (!text.starts_with(kPrefix) || !text.ends_with(kSuffix) ||
      text.size() <= kPrefix.size() + kSuffix.size())
    return std::nullopt;
  const std::string_view digits =
      text.substr(kPrefix.size(), text.size() - kPrefix.size() - kSuffix.size());
  const auto rank = parse_integer(digits);
  if (!rank || *rank < 0 || *rank > 1 << 20 || std::to_string(*rank) != digits) return std::nullopt;
  return static_cast<int>(*rank);
}

}  // namespace

Spool read_spool(const fs::path& folder) {
  std::error_code code;
  if (!fs::is_directory(folder, code))
    throw Error(ErrorKind::kMissing, folder.string() + ": there is no such spool folder");
  std::vector<std::pair<int, fs::path>> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (const auto rank = rank_of(entry.path().filename().string()))
      files.emplace_back(*rank, entry.path());
  std::sort(files.begin(), files.end());
  Spool spool;
  for (const auto& [rank, path] : files) spool.ranks.push_back(read_rank(path, rank));
  return spool;
}

}  // namespace tersor::results

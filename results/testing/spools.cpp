// SPDX-License-Identifier: Apache-2.0
#include "results/testing/spools.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "protocol/cell.hpp"
#include "protocol/exit_code.hpp"
#include "protocol/version.hpp"
#include "results/ingest/ingest.hpp"
#include "results/text.hpp"

namespace tersor::results::testing {

using nlohmann::json;
using nlohmann::ordered_json;
namespace fs = std::filesystem;

TempFolder::TempFolder() {
  std::string name = (fs::temp_directory_path() / "tersor-test-XXXXXX").string();
  if (!mkdtemp(name.data())) std::abort();
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code code;
  fs::remove_all(path_, code);
}

ordered_json FakeRun::config() const {
  protocol::Cell cell;
  cell.compression.codecs["tp"] = codec;
  cell.hardware.name = hardware;
  cell.hardware.kind = kind;
  cell.hardware.tp = tp;
  cell.data.name = dataset;
  cell.training.epochs = static_cast<std::int64_t>(accuracy.size());
  return to_json(cell);
}

std::string FakeRun::cell_key() const { return hash_of(config().dump()); }

json FakeRun::codecs() const {
  // Of codecs whose spec leaves their strength at its default, as a registry would give it.
  struct Default {
    json params;
    const char* strength;
  };
  static const std::map<std::string, Default> kDefaults{
      {"topk", {{{"ratio", 0.01}, {"k", nullptr}}, "ratio"}},
      {"quantize", {{{"bits", 8}}, "bits"}},
      {"autoencoder", {{{"dim", 50}}, "dim"}},
      {"cast", {{{"format", "bf16"}}, "format"}}};
  const auto facts = [](const std::string& spec) {
    const auto known = kDefaults.find(spec);
    const bool is_known = known != kDefaults.end();
    return json{{"name", spec.substr(0, spec.find('('))},
                {"version", "1"},
                {"variant", "corrected"},
                {"spec", spec},
                {"params", is_known ? known->second.params : json::object()},
                {"properties", {{"lossless", spec == "none"}}},
                {"strength", is_known ? json(known->second.strength) : json()},
                {"stronger", is_known && spec != "cast" ? json("lower") : json()},
                {"is_reference", spec == "cast"}};
  };
  return {{"tp", facts(codec)}, {"tp.backward", facts("none")}};
}

std::string FakeRun::cause() const {
  const protocol::Status ended = protocol::parse_status(status);
  const bool is_failed = ended == protocol::Status::kFailed;
  return std::string(to_string(is_failed ? protocol::Cause::kDefect : usual_cause(ended)));
}

double FakeRun::step_ns(int step, int rank) const {
  return static_cast<double>(base_ns + (step % 3) * 1'000'000 + rank * 2'000'000);
}

namespace {

ordered_json start_record(const FakeRun& run, int rank) {
  ordered_json start{{"type", "start"},
                     {"format", protocol::kFormat},
                     {"cell_key", run.cell_key()},
                     {"seed", run.seed},
                     {"attempt", run.attempt},
                     {"rank", rank},
                     {"world", run.world},
                     {"pid", 1000 + rank},
                     {"host", "box"},
                     {"time", "2026-01-02T03:04:05Z"},
                     {"environment",
                      {{"torch", "2.11.0"},
                       {"compiler", "g++ 12.2.0"},
                       {"flags", "-O3"},
                       {"isa", "avx2"},
                       {"math_library", "mkl"},
                       {"threads", 1},
                       {"backend", "gloo"},
                       {"cuda", nullptr},
                       {"variables", {{"OMP_NUM_THREADS", "1"}}}}},
                     {"hardware",
                      {{"cpu", "Test CPU"},
                       {"cores", 2},
                       {"memory_bytes", 8589934592},
                       {"gpu", nullptr},
                       {"gpus", 0}}}};
  if (rank > 0) return start;
  start["model"] = {{"name", "bert-tiny"},
                    {"arch", {{"layers", 2}, {"hidden", 64}}},
                    {"parameters", 100000},
                    {"trainable", 90000},
                    {"init_hash", "00000000000000" + std::to_string(10 + run.seed)}};
  start["dataset"] = {{"name", run.dataset},
                      {"train_rows", 640},
                      {"eval_rows", 4},
                      {"train_hash", "aaaaaaaaaaaaaaaa"},
                      {"eval_hash", "bbbbbbbbbbbbbbbb"},
                      {"subset", "first 640"},
                      {"best_accuracy", nullptr}};
  start["codecs"] = {
      {"tp", {{"spec", run.codec}, {"added_parameters", 0}, {"added_flops", 12.5}}},
      {"tp.backward", {{"spec", "none"}, {"added_parameters", 0}, {"added_flops", 0}}}};
  start["steps"] = run.steps;
  return start;
}

ordered_json step_record(const FakeRun& run, int step, int rank) {
  const auto total = static_cast<std::int64_t>(run.step_ns(step, rank));
  const int per_epoch = std::max<int>(1, run.steps / static_cast<int>(run.accuracy.size()));
  ordered_json record{
      {"type", "step"},
      {"step", step},
      {"epoch", std::min(step / per_epoch, static_cast<int>(run.accuracy.size()) - 1)},
      {"ns",
       {{"total", total},
        {"forward", total * 4 / 10},
        {"backward", total * 4 / 10},
        {"optimizer", total / 10},
        {"encode", 1'000'000},
        {"transfer", 3'000'000},
        {"decode", 1'000'000}}}};
  if (rank == 0) {
    record["loss"] = 1.0 / (step + 1);
    record["learning_rate"] = 1e-4;
    record["gradient_norm"] = 0.5;
  }
  return record;
}

ordered_json eval_record(const FakeRun& run, std::size_t epoch, bool is_on) {
  std::vector<double> labels(400);
  for (std::size_t i = 0; i < labels.size(); i += 2) labels[i] = 1;
  const double value = run.accuracy[epoch] + (is_on ? 0 : run.off_gain);
  return {{"type", "eval"},
          {"epoch", epoch + 1},
          {"step", run.steps},
          {"inference", is_on ? "on" : "off"},
          {"split", "dev"},
          {"rows", labels.size()},
          {"loss", 0.5},
          {"ns", 7'000'000},
          {"metrics", {{"accuracy", value}, {"f1", value - 0.05}}},
          {"primary", "accuracy"},
          {"predictions", std::vector<double>(labels.size(), 1.0)},
          {"labels", labels}};
}

ordered_json traffic_record(const FakeRun& run, bool is_forward, bool is_train) {
  const int calls = is_train ? run.steps : 4;
  const bool is_dense = !is_forward;
  const std::int64_t payload = is_dense ? run.raw_bytes : run.payload_bytes;
  const std::string collective = is_dense ? "all_reduce" : run.collective;
  const int p = run.tp;
  // Ring all-reduce 2 (p - 1) / p of the buffer, all-gather (p - 1) payloads (METHODS, "Volume").
  const std::int64_t sent =
      collective == "all_reduce" ? payload * 2 * (p - 1) / p : payload * (p - 1);
  return {{"type", "traffic"},
          {"site", is_forward ? "tp" : "tp.backward"},
          {"site_name", "layer0.attention"},
          {"direction", is_forward ? "forward" : "backward"},
          {"phase", is_train ? "train" : "eval"},
          {"collective", collective},
          {"dtype", "float32"},
          {"spec", is_dense ? "none" : run.codec},
          {"calls", calls},
          {"raw_bytes", run.raw_bytes * calls},
          {"payload_bytes", payload * calls},
          {"metadata_bytes", (is_dense ? 0 : run.metadata_bytes) * calls},
          {"sent_bytes", sent * calls},
          {"handed_bytes", payload * calls},
          {"encode_ns", 1'000'000LL * calls},
          {"transfer_ns", 3'000'000LL * calls},
          {"decode_ns", 1'000'000LL * calls}};
}

}  // namespace

std::vector<ordered_json> FakeRun::records(int rank) const {
  std::vector<ordered_json> lines{start_record(*this, rank)};
  for (int step = 0; step < steps; ++step) lines.push_back(step_record(*this, step, rank));
  if (rank == 0) {
    for (std::size_t epoch = 0; epoch < accuracy.size(); ++epoch)
      for (const bool is_on : {true, false}) lines.push_back(eval_record(*this, epoch, is_on));
    for (int sample = 0; sample < 2; ++sample)
      lines.push_back({{"type", "error"},
                       {"step", sample * 10},
                       {"site", 1},
                       {"site_name", "layer0.attention"},
                       {"message_relative_l2", relative_error},
                       {"message_cosine", 1 - relative_error},
                       {"sum_relative_l2", relative_error / 2},
                       {"sum_cosine", 1 - relative_error / 2}});
    if (samples_gradients)
      lines.push_back({{"type", "error"},
                       {"step", 0},
                       {"site", 1},
                       {"site_name", "layer0.attention.backward"},
                       {"message_relative_l2", relative_error / 10},
                       {"message_cosine", 1},
                       {"sum_relative_l2", relative_error / 10},
                       {"sum_cosine", 1}});
  }
  if (tp > 1)
    for (const bool is_train : {true, false})
      for (const bool is_forward : {true, false})
        if (is_train || is_forward) lines.push_back(traffic_record(*this, is_forward, is_train));
  lines.push_back({{"type", "memory"},
                   {"peak_rss_bytes", 1'000'000 + rank},
                   {"codec_state_bytes", 0},
                   {"parameter_bytes", 400'000}});
  ordered_json end{{"type", "end"},    {"status", status},         {"cause", cause()},
                   {"reason", reason}, {"wall_ns", 2'000'000'000}, {"steps", steps}};
  if (rank == 0) end["checksum"] = "0123456789abcdef";
  end["records"] = lines.size();
  lines.push_back(end);
  return lines;
}

void FakeRun::write(const fs::path& folder) const {
  for (int rank = 0; rank < world; ++rank)
    write_lines(folder / ("rank" + std::to_string(rank) + ".jsonl"), records(rank));
}

void write_lines(const fs::path& file, const std::vector<ordered_json>& lines) {
  std::string text;
  for (const auto& line : lines) text += line.dump() + "\n";
  write_text(file, text);
}

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_text(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

RunInfo store_run(Store& store, const FakeRun& run, const fs::path& spools, std::int64_t sweep) {
  store.add_cell(run.cell_key(), run.config(), run.codecs());
  const fs::path folder = spools / (run.cell_key() + "-" + std::to_string(run.seed) + "-" +
                                    std::to_string(run.attempt));
  const RunInfo info =
      store.begin_run(run.cell_key(), run.seed, sweep, 0, 0, "box", folder.string());
  run.write(folder);
  const auto claimed = ingest(store, info.id, folder);
  const protocol::Verdict verdict =
      claimed.value_or(protocol::Verdict{protocol::Status::kFailed, protocol::Cause::kDefect});
  store.finish_run(
      info.id, verdict, run.reason,
      verdict == protocol::Verdict{} ? protocol::WorkerExit::kOk : protocol::WorkerExit::kFailed,
      "last line of the log");
  return info;
}

CommandResult run_command(const std::string& command) {
  CommandResult result;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) std::abort();
  std::array<char, 4096> buffer{};
  std::size_t length = 0;
  while ((length = fread(buffer.data(), 1, buffer.size(), pipe)) > 0)
    result.output.append(buffer.data(), length);
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return result;
}

}  // namespace tersor::results::testing

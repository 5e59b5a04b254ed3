// SPDX-License-Identifier: Apache-2.0
// tersor-worker as processes: real ranks against emulated shards, repeatability, broken runs.
#include "workloads/worker/worker_for_test.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/safetensors.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/spec/tensor_site.hpp"
#include "protocol/cell.hpp"
#include "protocol/exit_code.hpp"

namespace {

using nlohmann::json;
namespace protocol = tersor::protocol;
using namespace tersor::workloads::testing;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::vector<double> losses(const Ranks& ranks) {
  std::vector<double> values;
  for (const json& step : ranks.records(0, "step")) values.push_back(step.at("loss"));
  return values;
}

/// Everything of rank 0 but times, ids and names of the run.
json outcome(const Ranks& ranks) {
  json result{{"losses", losses(ranks)}, {"checksum", ranks.end(0).at("checksum")}};
  for (const char* type : {"eval", "error", "traffic"})
    for (json record : ranks.records(0, type)) {
      for (const char* key : {"ns", "encode_ns", "transfer_ns", "decode_ns"}) record.erase(key);
      result[type].push_back(std::move(record));
    }
  return result;
}

void finish(Ranks& ranks, int world) {
  for (int r = 0; r < world; ++r) {
    INFO("rank " << r << ": " << ranks.error_text());
    REQUIRE(ranks.wait(static_cast<std::size_t>(r)) == 0);
    REQUIRE(ranks.end(static_cast<std::size_t>(r)).at("status") == "ok");
  }
}

void check_emulation(int tp, const std::string& spec, const std::string& backward,
                     const std::string& sum_order, int nodes = 1) {
  INFO(spec << " backward " << backward << " at " << tp << " ranks, sum_order " << sum_order);
  json found[2];
  for (const bool is_emulated : {false, true}) {
    protocol::Cell config = make_config(tp, is_emulated, spec);
    config.compression.codecs["tp.backward"] = backward;
    config.parallelism.sum_order = sum_order;
    config.hardware.nodes = nodes;
    config.parallelism.overlap = spec == "cast" ? "on" : "off";
    config.model.dropout = 0.1;
    Ranks ranks(config);
    finish(ranks, config.hardware.processes());
    found[is_emulated] = outcome(ranks);
    if (!is_emulated && nodes == 1)  // else only the nodes' first ranks join in everything
      CHECK(ranks.records(1, "traffic").size() == ranks.records(0, "traffic").size());
  }
  // Losses, checksum of the parameters, predictions, errors and every byte count.
  CHECK(found[0] == found[1]);
}

}  // namespace

TEST_CASE("worker: two real ranks equal two emulated shards bit for bit") {
  for (const char* spec : {"none", "cast", "quantize(bits=2)", "minmax(bits=4)", "topk(ratio=0.1)",
                           "randk(ratio=0.1)", "randk(ratio=0.1,shared=false,index=ef)",
                           "autoencoder(dim=8)", "autoencoder(dim=8,encoder=tied)"})
    check_emulation(2, spec, "none", "library");
  check_emulation(2, "twostep(quantize)", "quantize(scope=token)", "library");
}

// One of each way across: all-reduce, gather, two all-reduces, all-to-all and gather, channels of
// their own; with states on both sides.
TEST_CASE("worker: wrappers and codecs of several rounds on real ranks and on emulated shards") {
  check_emulation(2, "hadamard(cast)", "ef(quantize(bits=4))", "library");
  check_emulation(2, "ef21(topk(ratio=0.1))", "sign(scope=token)", "library");
  check_emulation(2, "powersgd(rank=2)", "powersgd(rank=1)", "library");
  check_emulation(2, "twostep(mx)", "twostep(quantize(bits=4,rounding=stochastic))", "library");
  check_emulation(2, "partial(ef(quantize(bits=4)),ratio=0.3)", "fp8", "library");
  check_emulation(2, "gate(srht(dim=16),min_bytes=4096)", "gate(nvfp4)", "library");
}

TEST_CASE("worker: two nodes of two real ranks equal their emulation") {
  check_emulation(4, "hierarchical(ef(topk(ratio=0.1)),twostep(quantize))", "none", "ranks", 2);
  check_emulation(4, "hierarchical(powersgd(rank=2),cast)",
                  "hierarchical(none,quantize(bits=4,rounding=stochastic))", "ranks", 2);
  check_emulation(4, "partial(cast)", "none", "ranks");
}

TEST_CASE("worker: every codec on two real ranks and on emulated shards", "[.nightly]") {
  for (const auto& [name, info] : tersor::compressors::registered_codecs()) {
    for (const std::string& spec : info.examples) {
      const auto codec = tersor::compressors::make_codec(spec);
      if (!tersor::compressors::refuses_tensor_site("tp", *codec).empty()) continue;
      const bool has_nodes = name == "hierarchical";
      check_emulation(has_nodes ? 4 : 2, codec->canonical(), "none",
                      has_nodes ? "ranks" : "library", has_nodes ? 2 : 1);
    }
  }
}

TEST_CASE("worker: four real ranks equal four emulated shards with sum_order=ranks") {
  check_emulation(4, "quantize(bits=4)", "none", "ranks");
  check_emulation(4, "cast", "none", "ranks");
  check_emulation(4, "autoencoder(dim=8)", "none", "ranks");
}

TEST_CASE("worker: one seed gives one result, another seed another") {
  const protocol::Cell config = make_config(2, false, "topk(ratio=0.1)");
  Ranks first(config), second(config), other(config, std::uint64_t{1} << 40);
  for (Ranks* ranks : {&first, &second, &other}) finish(*ranks, 2);
  CHECK(outcome(first) == outcome(second));
  CHECK(first.end(0).at("checksum") != other.end(0).at("checksum"));
}

TEST_CASE("worker: another codec sees the same weights, data order and dropout") {
  // Before the warm-up ends no codec is on: the losses are then those of `none`.
  std::vector<std::vector<double>> found;
  std::vector<json> starts;
  for (const char* spec : {"none", "topk(ratio=0.01)", "randk", "autoencoder(dim=4)"}) {
    protocol::Cell config = make_config(2, true, spec);
    config.model.dropout = 0.2;
    config.compression.warmup = "3 steps";
    Ranks ranks(config);
    finish(ranks, 1);
    found.push_back(losses(ranks));
    starts.push_back(ranks.records(0, "start").at(0));
  }
  for (std::size_t i = 1; i < found.size(); ++i) {
    CHECK(starts[i].at("model").at("init_hash") == starts[0].at("model").at("init_hash"));
    for (std::size_t step = 0; step < 3; ++step) CHECK(found[i][step] == found[0][step]);
  }
  CHECK(found[1][3] != found[0][3]);
}

TEST_CASE("worker: the messages of rank 0 go to files, real and emulated alike") {
  protocol::Cell real = make_config(2, false, "quantize(bits=4)");
  protocol::Cell emulated = make_config(2, true, "quantize(bits=4)");
  const json every{{"messages_every", 2}};
  Ranks a(real, 1, every), b(emulated, 1, every);
  for (Ranks* run : {&a, &b})
    for (std::size_t r = 0; r < (run == &a ? 2u : 1u); ++r) REQUIRE(run->wait(r) == 0);
  const auto file = [](const Ranks& run, const char* step) {
    return run.folder() / (std::string("messages-") + step + ".safetensors");
  };
  CHECK_FALSE(fs::exists(file(a, "000001")));
  for (const char* step : {"000000", "000002"}) {
    const tersor::SafeTensors first(file(a, step)), second(file(b, step));
    CHECK(first.metadata().at("model") == real.model.name);
    for (const auto& [name, tensor] : first.tensors()) {
      INFO(name);
      const auto same = second.at(name).bytes;
      CHECK(std::equal(tensor.bytes.begin(), tensor.bytes.end(), same.begin(), same.end()));
    }
  }
  // The codec on a kept message loses what the error sample of that message says.
  const tersor::SafeTensors kept(file(a, "000000"));
  const auto codec = tersor::compressors::make_codec("quantize(bits=4)");
  int compared = 0;
  for (const json& record : a.records(0, "error")) {
    if (record.at("step") != 0) continue;
    const auto& dims = kept.at(record.at("site_name").get<std::string>()).shape;
    const tersor::Shape shape{dims.at(0), dims.at(1), dims.at(2)};
    const auto x = kept.floats(record.at("site_name").get<std::string>());
    std::vector<std::byte> payload(codec->payload_bytes(shape, tersor::DType::kFloat32, {}));
    codec->encode(0, {x.data(), shape, tersor::DType::kFloat32}, payload, nullptr, {});
    std::vector<float> y(x.size());
    codec->decode(payload, shape, tersor::DType::kFloat32, y, nullptr, {});
    double error = 0, square = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      error += std::pow(double{x[i]} - double{y[i]}, 2);
      square += std::pow(double{x[i]}, 2);
    }
    CHECK(record.at("message_relative_l2").get<double>() == Approx(std::sqrt(error / square)));
    ++compared;
  }
  CHECK(compared > 0);
}

TEST_CASE("worker: a peer that is killed in mid-step ends the run, soon and with a reason") {
  protocol::Cell config = make_config(2, false);
  config.training.max_steps = 0;
  config.training.epochs = 100000;
  Ranks ranks(config);
  ranks.wait_for_steps(0, 3);
  ranks.kill(1, SIGKILL);
  CHECK(ranks.wait(0, 30s) == 1);
  CHECK(ranks.wait(1, 5s) == 128 + SIGKILL);
  const json end = ranks.end(0);
  CHECK(end.at("status") == "failed");
  CHECK(end.at("cause") == "lost_peer");
  CHECK_THAT(end.at("reason").get<std::string>(), Catch::Contains("failed"));
  CHECK(end.at("steps").get<int>() >= 3);
  CHECK(ranks.end(1).is_null());
}

TEST_CASE("worker: SIGTERM writes an end and exits with 130") {
  protocol::Cell config = make_config(2, false);
  config.training.max_steps = 0;
  config.training.epochs = 100000;
  Ranks ranks(config);
  ranks.wait_for_steps(0, 2);
  for (const std::size_t r : {0, 1}) ranks.kill(r, SIGTERM);
  for (const std::size_t r : {0, 1}) {
    CHECK(ranks.wait(r, 10s) == 130);
    CHECK(ranks.end(r).at("status") == "failed");
    CHECK(ranks.end(r).at("cause") == "interrupted");
  }
}

TEST_CASE("worker: none outlives its parent") {
  protocol::Cell config = make_config(1, false);
  config.training.max_steps = 0;
  config.training.epochs = 100000;
  int channel[2];
  REQUIRE(pipe(channel) == 0);
  const pid_t parent = fork();
  if (parent == 0) {
    Ranks ranks(config);
    ranks.wait_for_steps(0, 1);
    const pid_t pid = ranks.pid(0);
    if (write(channel[1], &pid, sizeof pid) != sizeof pid) _exit(1);
    pause();
    _exit(0);
  }
  pid_t worker = 0;
  REQUIRE(read(channel[0], &worker, sizeof worker) == sizeof worker);
  ::kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  bool is_gone = false;
  for (int i = 0; i < 1000 && !is_gone; ++i) {
    // A process that nobody waits for stays as a zombie ("Z") where init does not reap.
    std::ifstream file("/proc/" + std::to_string(worker) + "/stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    is_gone = text.empty() || text.find(") Z ") != std::string::npos;
    std::this_thread::sleep_for(10ms);
  }
  CHECK(is_gone);
  fs::remove_all(fs::temp_directory_path() /
                 ("tersor-worker-test-" + std::to_string(parent) + "-0"));
}

TEST_CASE("worker: a loss that is not finite is an outcome of its own") {
  protocol::Cell config = make_config(2, false);
  config.training.learning_rate = 1000;
  config.training.learning_rate_warmup = 0;
  config.training.weight_decay = 1;  // every step multiplies the matrices by about -1000
  config.training.epochs = 100;
  config.training.max_steps = 60;
  Ranks ranks(config);
  for (const std::size_t r : {0, 1}) {
    INFO(ranks.error_text());
    REQUIRE(ranks.wait(r) == 3);
    REQUIRE(ranks.end(r).at("status") == "diverged");
    CHECK(ranks.end(r).at("cause") == "non_finite");
  }
  REQUIRE(!ranks.records(0, "step").empty());
  const json last = ranks.records(0, "step").back();
  CHECK(last.at("loss").is_null());
  CHECK(last.at("nonfinite") == true);
}

TEST_CASE("worker: what goes wrong before there is a spool has exit statuses of its own") {
  for (const char* variable : {"TERSOR_TIMEOUT=x", "TERSOR_PIN=of", "MASTER_PORT=99999"}) {
    Ranks wrong(make_config(1, false), 1, json::object(), std::string("export ") + variable);
    CHECK(wrong.wait(0) == tersor::protocol::WorkerExit::kUsage);
    CHECK_THAT(wrong.error_text(), Catch::Contains(variable));
  }
  // Where nothing can be written, the log stays empty too.
  Ranks mute(make_config(1, false), 1, json::object(), "ulimit -f 0");
  CHECK(mute.wait(0) == tersor::protocol::WorkerExit::kCannotWrite);
  CHECK(mute.end(0).is_null());
  CHECK(mute.error_text().empty());
  // A limit in mid-run: the log names it, and a short end record may still fit.
  protocol::Cell config = make_config(1, false);
  config.training.max_steps = 0;
  config.training.epochs = 100000;
  Ranks ranks(config, 1, json::object(), "ulimit -f 40");
  const int code = ranks.wait(0);
  CHECK((code == 1 || code == tersor::protocol::WorkerExit::kCannotWrite));
  CHECK_THAT(ranks.error_text(), Catch::Contains("rank0.jsonl: File too large; raise the limit"));
  for (const json& step : ranks.records(0, "step")) CHECK(step.contains("ns"));
  if (code == 1) CHECK(ranks.end(0).at("cause") == "system");
}

TEST_CASE("worker: descriptors that ran out are no lost peer") {
  for (const char* limit : {"ulimit -n 8", "ulimit -n 12", "ulimit -n 24"}) {
    INFO(limit);
    Ranks ranks(make_config(2, false), 1, json::object(), limit);
    for (const std::size_t r : {0, 1}) {
      REQUIRE(ranks.wait(r) == 1);
      CHECK(ranks.end(r).at("cause") == "system");
      CHECK_THAT(
          ranks.end(r).at("reason").get<std::string>(),
          Catch::Contains("Too many open files; this process has no descriptor left: raise"));
    }
  }
}

TEST_CASE("worker: what cannot run says why, in the spool and on standard error") {
  const auto check = [](const protocol::Cell& config, const json& extra, const std::string& words) {
    Ranks ranks(config, 1, extra);
    INFO(words);
    CHECK(ranks.wait(0) == 1);
    const json end = ranks.end(0);
    REQUIRE(end.is_object());
    CHECK(end.at("status") == "failed");
    CHECK(end.at("cause") == "refused");
    CHECK_THAT(end.at("reason").get<std::string>(), Catch::Contains(words));
    CHECK_THAT(ranks.error_text(), Catch::Contains(words));
    CHECK(ranks.records(0, "start").size() == 1);
  };
  check(make_config(3, true), json::object(), "does not divide the 4 attention heads");
  protocol::Cell config = make_config(1, false);
  config.data.train_rows = 4;
  check(config, json::object(), "fewer than one micro_batch");
  config = make_config(1, false);
  config.compression.layers = "last:9";
  check(config, json::object(), "the model has 2 layers");
  check(make_config(1, false), {{"weights", "/nowhere/model.safetensors"}}, "model.safetensors");
  config = make_config(1, false);
  config.data.name = "sst2";
  check(config, {{"data_root", "/nowhere"}}, "train.tsv");
}

TEST_CASE("worker: a cell for other processes, or no cell, is refused") {
  protocol::Cell config = make_config(2, true);
  Ranks broken(config, 1, {{"format", 2}});
  CHECK(broken.wait(0) == 1);
  CHECK_THAT(broken.error_text(), Catch::Contains("'format' 2 is not the format"));
  Ranks negative(config, 1, {{"seed", -1}});
  CHECK(negative.wait(0) == 1);
  CHECK_THAT(negative.error_text(), Catch::Contains("seed"));
}

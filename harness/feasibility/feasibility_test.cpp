// SPDX-License-Identifier: Apache-2.0
#include "harness/feasibility/feasibility.hpp"

#include <catch2/catch.hpp>

#include "common/variable_for_test.hpp"

namespace tersor::harness {
namespace {

TEST_CASE("a machine's cores decide what can run on it") {
  Machine machine;
  machine.cores = {0, 1};
  const auto judge = [&](int tp, int threads, const std::string& kind = "measured") {
    protocol::Hardware hardware;
    hardware.tp = tp;
    hardware.threads = threads;
    hardware.kind = kind;
    return judge_hardware(hardware, machine);
  };
  CHECK(judge(2, 1).why_not.empty());
  CHECK(judge(2, 1).warning.empty());
  CHECK(judge(4, 1).why_not.empty());
  CHECK(judge(4, 1).warning ==
        "oversubscribed: wants 4 cores, this machine has 2; its times are not "
        "comparable");
  CHECK(judge(4, 2).why_not == "needs 8 cores, this machine has 2");
  CHECK(judge(64, 1, "emulated").why_not.empty());
  CHECK(judge(2, 1, "shaped").why_not == "hardware of kind 'shaped' is not built yet");
  machine.core_quota = 1.0;
  CHECK(machine.usable_cores() == 1);
  CHECK_FALSE(judge(2, 1).warning.empty());

  machine.network_problem = "the loopback is down";
  CHECK(judge(2, 1).why_not == "its ranks cannot meet: the loopback is down");
  CHECK(judge(64, 1, "emulated").why_not.empty());

  const Machine here = probe_machine();
  CHECK(here.network_problem.empty());
  CHECK_FALSE(here.cores.empty());
  CHECK(here.memory_bytes > (1LL << 26));
  CHECK_FALSE(here.host.empty());
}

TEST_CASE("an interface that is not there is named before anything starts") {
  const testing::Variable interface("GLOO_SOCKET_IFNAME", "eth9x");
  CHECK_THAT(probe_machine().network_problem,
             Catch::StartsWith("GLOO_SOCKET_IFNAME=eth9x: there is no such network interface "
                               "(known: "));
}

TEST_CASE("a cell is judged by hardware, model, sites and data, in this order") {
  Machine machine;
  machine.cores = {0, 1};
  const auto judge = [&](const protocol::Cell& cell) { return judge_cell(cell, machine, {}); };
  protocol::Cell cell;
  CHECK(judge(cell).why_not.empty());
  cell.compression.codecs["tp"] = "sign";
  CHECK(judge(cell).warning == "has one shard, so codecs are off (\"loopback\": true runs them)");
  cell.data.name = "mrpc";
  CHECK_THAT(judge(cell).why_not,
             Catch::StartsWith("data set 'mrpc': no data root; give --data DIR or set "
                               "TERSOR_DATA; scripts/fetch glue-mrpc"));
  cell.compression.layers = "last:3";
  CHECK(judge(cell).why_not == "layers 'last:3': bert-tiny has 2 layers");
  cell.compression.layers = "1-2";
  CHECK(judge(cell).why_not == "layers '1-2': bert-tiny has 2 layers");
  cell.compression.layers = "0-1";
  CHECK_THAT(judge(cell).why_not, Catch::StartsWith("data set"));
  cell.compression.codecs["pp"] = "sign";
  CHECK(judge(cell).why_not == "site 'pp': there is no pipeline at pp 1");
  cell.training.stage = "pretrain";
  CHECK(judge(cell).why_not == "stage 'pretrain' is not built yet");
  cell.hardware.pp = 2;
  cell.training.stage = "finetune";
  CHECK_THAT(judge(cell).why_not, Catch::StartsWith("data set"));
  cell.hardware.pp = 3;
  CHECK(judge(cell).why_not ==
        "bert-tiny: partition 'even' of 2 blocks over 3 stages: every stage needs a block");
  cell.compression.codecs["pp"] = "twostep(quantize)";
  CHECK_THAT(judge(cell).why_not, Catch::Contains("has one sender"));
}

}  // namespace
}  // namespace tersor::harness

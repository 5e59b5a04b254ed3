// SPDX-License-Identifier: Apache-2.0
#include "common/cell.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "common/nearest.hpp"

using nlohmann::json;
using tersor::cell_from_json;
using tersor::CellConfig;

namespace {

std::string message_of(const json& object) {
  try {
    cell_from_json(object);
  } catch (const tersor::Error& error) {
    CHECK(error.kind() == tersor::ErrorKind::kUsage);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a cell goes to JSON and back unchanged, defaults included") {
  const json defaults = json::parse(tersor::to_json(CellConfig{}).dump());
  CHECK(defaults.size() == 24);
  CHECK(defaults["hardware"]["name"] == "cpu-tp1");
  CHECK(defaults["compressor"] == json{{"tp", "none"}, {"tp.backward", "none"}});
  CHECK(json::parse(tersor::to_json(cell_from_json(json::object())).dump()) == defaults);

  CellConfig cell;
  cell.compressor = {{"tp", "topk(ratio=0.05)"}, {"tp.backward", "quantize(bits=4)"}};
  cell.hardware = {"cpu-emulated-tp4", "emulated", "cpu", 4, 2, 3, "veth"};
  cell.dataset = "mrpc";
  cell.layers = "last:3";
  cell.warmup = "2 epochs";
  cell.loopback = true;
  cell.max_steps = 5000000000;
  cell.learning_rate = 5e-5;
  cell.pooling = "cls";
  const std::string text = tersor::to_json(cell).dump();
  const CellConfig back = cell_from_json(json::parse(text));
  CHECK(tersor::to_json(back).dump() == text);
  CHECK(back.max_steps == 5000000000);
  CHECK(back.hardware.processes() == 1);
  CHECK(back.hardware.tp == 4);
}

TEST_CASE("one compressor spec stands for the forward site; an object names its sites") {
  CHECK(cell_from_json({{"compressor", "cast"}}).compressor ==
        std::map<std::string, std::string>{{"tp", "cast"}, {"tp.backward", "none"}});
  CHECK(cell_from_json({{"compressor", {{"tp.backward", "cast"}}}}).compressor ==
        std::map<std::string, std::string>{{"tp", "none"}, {"tp.backward", "cast"}});
}

TEST_CASE("spellings of one value give one text") {
  CHECK(cell_from_json({{"warmup", 8}}).warmup == "8");
  CHECK(cell_from_json({{"warmup", "008"}}).warmup == "8");
  CHECK(cell_from_json({{"warmup", "8 steps"}}).warmup == "8");
  CHECK(cell_from_json({{"warmup", "1 epoch"}}).warmup == "1 epochs");
  CHECK(cell_from_json({{"warmup", "0 epochs"}}).warmup == "0");
  CHECK(cell_from_json({{"layers", "last:03"}}).layers == "last:3");
  CHECK(cell_from_json({{"layers", "0-2"}}).layers == "0-2");
  CHECK(tersor::to_json(cell_from_json({{"clip", 1}})).dump() ==
        tersor::to_json(cell_from_json({{"clip", 1.0}})).dump());
  CHECK(tersor::to_json(cell_from_json({{"dropout", -0.0}})).dump() ==
        tersor::to_json(CellConfig{}).dump());
}

TEST_CASE("bad cells are refused with the key, the value and the limit") {
  CHECK_THAT(message_of({{"micro_bach", 8}}), Catch::Contains("unknown key 'micro_bach'") &&
                                                  Catch::Contains("did you mean 'micro_batch'?"));
  CHECK_THAT(message_of({{"hardware", {{"tpp", 2}}}}), Catch::Contains("hardware: unknown key"));
  CHECK(message_of({{"micro_batch", 0}}) == "cell: micro_batch 0 not in [1, 1048576]");
  CHECK(message_of({{"micro_batch", 18446744073709551615U}}) ==
        "cell: micro_batch 18446744073709551615 not in [1, 1048576]");
  CHECK(message_of({{"micro_batch", 2.5}}) == "cell: micro_batch must be a whole number, got 2.5");
  CHECK(message_of({{"micro_batch", "32"}}) ==
        "cell: micro_batch must be a whole number, got \"32\"");
  CHECK(message_of({{"learning_rate", -1e-4}}) == "cell: learning_rate -0.0001 not in [0, 1000]");
  CHECK(message_of({{"dropout", 1}}) == "cell: dropout 1 not in [0, 1)");
  CHECK(message_of({{"loopback", 1}}) == "cell: loopback must be true or false, got 1");
  CHECK_THAT(message_of({{"pooling", "max"}}), Catch::Contains("pooling 'max' is unknown"));
  CHECK_THAT(message_of({{"layers", "last"}}), Catch::Contains("layers 'last' is not all, none"));
  CHECK_THAT(message_of({{"layers", "last:0"}}), Catch::Contains("0 not in [1, 10000]"));
  CHECK_THAT(message_of({{"layers", "3-1"}}), Catch::Contains("A <= B"));
  CHECK_THAT(message_of({{"layers", "-1-2"}}), Catch::Contains("is not all"));
  CHECK_THAT(message_of({{"warmup", "two"}}), Catch::Contains("warmup 'two'"));
  CHECK_THAT(message_of({{"warmup", -1}}), Catch::Contains("warmup '-1'"));
  CHECK_THAT(message_of({{"warmup", "1 days"}}), Catch::Contains("warmup '1 days'"));
  CHECK_THAT(message_of({{"compressor", {{"tq", "none"}}}}), Catch::Contains("unknown site 'tq'"));
  CHECK_THAT(message_of({{"compressor", 3}}), Catch::Contains("must be a codec spec"));
  CHECK_THAT(message_of({{"compressor", ""}}), Catch::Contains("is empty"));
  CHECK_THAT(message_of(json::array()), Catch::Contains("expected an object"));
  CHECK_THAT(message_of({{"hardware", {{"tp", 0}}}}), Catch::Contains("hardware: tp 0 not in"));
  CHECK_THAT(message_of({{"hardware", {{"kind", "imagined"}}}}), Catch::Contains("'imagined'"));
}

TEST_CASE("the key is XXH64 of the JSON, a line feed and the versions") {
  const CellConfig cell;
  const std::string key = tersor::cell_key(cell, "wire 1; none 1");
  CHECK(key.size() == 16);
  CHECK(key.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(tersor::cell_key(cell, "wire 1; none 1") == key);
  CHECK(tersor::cell_key(cell, "wire 1; none 2") != key);
  CellConfig other = cell;
  other.learning_rate = 2e-4;
  CHECK(tersor::cell_key(other, "wire 1; none 1") != key);
  // From Python: xxhash.xxh64(TEXT + "\nwire 1; none 1").hexdigest(), where TEXT is
  CHECK(tersor::to_json(cell).dump() ==
        R"({"compressor":{"tp":"none","tp.backward":"none"},"hardware":{"name":"cpu-tp1",)"
        R"("kind":"measured","device":"cpu","tp":1,"pp":1,"threads":1,"link":""},)"
        R"("dataset":"synthetic","model":"bert-tiny","stage":"finetune","layers":"all",)"
        R"("warmup":"0","inference":"both","sum_order":"library","loopback":false,"overlap":"off",)"
        R"("epochs":1,"max_steps":0,"train_rows":0,"eval_rows":0,"micro_batch":32,"sequence":32,)"
        R"("learning_rate":0.0001,"learning_rate_warmup":0.065,"weight_decay":0.01,"clip":1.0,)"
        R"("dropout":0.0,"pooling":"mean","freeze":"embeddings"})");
  CHECK(key == "4975c07cfd79b339");
}

TEST_CASE("the nearest name") {
  const std::vector<std::string> names{"none", "cast", "topk", "quantize"};
  CHECK(tersor::nearest_name("tpok", names) == "topk");
  CHECK(tersor::nearest_name("TOPK", names) == "topk");
  CHECK(tersor::nearest_name("quantise", names) == "quantize");
  CHECK(tersor::nearest_name("zz", names).empty());
  CHECK(tersor::nearest_name("", names).empty());
  CHECK(tersor::nearest_name("x", {}).empty());
  CHECK(tersor::known_names_hint("zz", {"a", "b"}) == " (known: a, b)");
}

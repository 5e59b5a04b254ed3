// SPDX-License-Identifier: Apache-2.0
#include "protocol/cell.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "common/error.hpp"

using nlohmann::json;
using tersor::protocol::Cell;
using tersor::protocol::cell_from_json;

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
  const json defaults = json::parse(tersor::protocol::to_json(Cell{}).dump());
  CHECK(defaults["hardware"]["name"] == "cpu-tp1");
  CHECK(defaults["compressor"] == json{{"tp", "none"}, {"tp.backward", "none"}});
  CHECK(json::parse(tersor::protocol::to_json(cell_from_json(json::object())).dump()) == defaults);

  Cell cell;
  cell.compression.codecs = {{"tp", "topk(ratio=0.05)"}, {"tp.backward", "quantize(bits=4)"}};
  cell.hardware = {"cpu-emulated-tp4", "emulated", "cpu", 4, 2, 3, "veth"};
  cell.data.name = "mrpc";
  cell.compression.layers = "last:3";
  cell.compression.warmup = "2 epochs";
  cell.compression.loopback = true;
  cell.training.max_steps = 5000000000;
  cell.training.learning_rate = 5e-5;
  cell.model.pooling = "cls";
  const std::string text = tersor::protocol::to_json(cell).dump();
  const Cell back = cell_from_json(json::parse(text));
  CHECK(tersor::protocol::to_json(back).dump() == text);
  CHECK(back.training.max_steps == 5000000000);
  CHECK(back.hardware.processes() == 1);
  CHECK(back.hardware.tp == 4);
}

TEST_CASE("one compressor spec stands for the forward sites; an object names its sites") {
  CHECK(cell_from_json({{"compressor", "cast"}}).compression.codecs ==
        std::map<std::string, std::string>{{"tp", "cast"}, {"tp.backward", "none"}});
  CHECK(cell_from_json({{"compressor", {{"tp.backward", "cast"}}}}).compression.codecs ==
        std::map<std::string, std::string>{{"tp", "none"}, {"tp.backward", "cast"}});
  const json grid{{"pp", 2}};
  CHECK(
      cell_from_json({{"compressor", "cast"}, {"hardware", grid}}).compression.codecs ==
      std::map<std::string, std::string>{{"tp", "cast"}, {"tp.backward", "none"}, {"pp", "cast"}});
  CHECK(cell_from_json({{"compressor", {{"tp", "cast"}}}, {"hardware", grid}}).compression.codecs ==
        std::map<std::string, std::string>{{"tp", "cast"}, {"tp.backward", "none"}});
}

TEST_CASE("spellings of one value give one text") {
  CHECK(cell_from_json({{"warmup", 8}}).compression.warmup == "8");
  CHECK(cell_from_json({{"warmup", "008"}}).compression.warmup == "8");
  CHECK(cell_from_json({{"warmup", "8 steps"}}).compression.warmup == "8");
  CHECK(cell_from_json({{"warmup", "1 epoch"}}).compression.warmup == "1 epochs");
  CHECK(cell_from_json({{"warmup", "0 epochs"}}).compression.warmup == "0");
  CHECK(cell_from_json({{"layers", "last:03"}}).compression.layers == "last:3");
  CHECK(cell_from_json({{"layers", "0-2"}}).compression.layers == "0-2");
  CHECK(tersor::protocol::to_json(cell_from_json({{"clip", 1}})).dump() ==
        tersor::protocol::to_json(cell_from_json({{"clip", 1.0}})).dump());
  CHECK(tersor::protocol::to_json(cell_from_json({{"dropout", -0.0}})).dump() ==
        tersor::protocol::to_json(Cell{}).dump());
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

TEST_CASE("the key is XXH64 of the sorted JSON, a line feed and the versions") {
  const Cell cell;
  const std::string key = tersor::protocol::cell_key(cell, "wire 1; none 1");
  CHECK(tersor::protocol::cell_key(cell, "wire 1; none 2") != key);
  Cell other = cell;
  other.training.learning_rate = 2e-4;
  CHECK(tersor::protocol::cell_key(other, "wire 1; none 1") != key);
  // From Python: xxhash.xxh64(TEXT + "\nwire 1; none 1").hexdigest(), where TEXT is
  CHECK(
      json(tersor::protocol::to_json(cell)).dump() ==
      R"({"clip":1.0,"compressor":{"tp":"none","tp.backward":"none"},"dataset":"synthetic",)"
      R"("dropout":0.0,"epochs":1,"eval_rows":0,"freeze":"embeddings","hardware":{"device":"cpu",)"
      R"("kind":"measured","link":"","name":"cpu-tp1","pp":1,"threads":1,"tp":1},)"
      R"("inference":"both","layers":"all","learning_rate":0.0001,"learning_rate_warmup":0.065,)"
      R"("loopback":false,"max_steps":0,"micro_batch":32,"model":"bert-tiny","overlap":"off",)"
      R"("pooling":"mean","sequence":32,"stage":"finetune","sum_order":"library","train_rows":0,)"
      R"("warmup":"0","weight_decay":0.01})");
  CHECK(key == "b5ed9ba9b5315f79");
}

TEST_CASE("a field as it was before it existed is left out, and read back as that") {
  Cell cell;
  const std::string key = tersor::protocol::cell_key(cell, "wire 1");
  const json written = json(tersor::protocol::to_json(cell));
  CHECK_FALSE(written.at("hardware").contains("nodes"));
  CHECK(cell_from_json(written).hardware.nodes == 1);
  // Said or not, by any version of tersor: one cell.
  json said = written;
  said["hardware"]["nodes"] = 1;
  said["compressor"]["pp"] = "none";
  CHECK(tersor::protocol::identity(said) == written);
  CHECK(tersor::protocol::cell_key(said, "wire 1") == key);
  CHECK(cell_from_json(said).compression.codecs.size() == 2);
  cell.hardware.nodes = 2;
  CHECK(json(tersor::protocol::to_json(cell)).at("hardware").at("nodes") == 2);
  CHECK(tersor::protocol::cell_key(cell, "wire 1") != key);
  // A field of the first version is hashed, default or not.
  json shorter = written;
  shorter.erase("clip");
  CHECK(tersor::protocol::cell_key(shorter, "wire 1") != key);
}

// SPDX-License-Identifier: Apache-2.0
#include "protocol/records.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "common/error.hpp"

using namespace tersor;
using namespace tersor::protocol;
using Catch::Contains;
using Catch::StartsWith;

namespace {

/// As a worker writes them: the same bytes come out of what was read.
const std::vector<std::string> kLines{
    R"json({"type":"start","format":1,"cell_key":"0123456789abcdef","seed":18446744073709551615,"attempt":2,"rank":1,"world":2,"pid":7,"host":"box","time":"2026-01-02T03:04:05Z","environment":{"torch":"2.11.0","cuda":null,"a":1},"hardware":{"cpu":"x","cores":2}})json",
    R"json({"type":"start","format":1,"cell_key":"0123456789abcdef","seed":1,"attempt":1,"rank":0,"world":1,"host":"","time":"","environment":{},"hardware":{},"model":{"name":"bert-tiny","arch":{"layers":2}},"dataset":{"name":"synthetic","best_accuracy":null},"codecs":{"tp":{"spec":"topk(ratio=0.1)","added_parameters":3,"added_flops":12.5},"tp.backward":{"spec":"none","added_parameters":0,"added_flops":0.0}},"steps":20})json",
    R"({"type":"step","step":3,"epoch":0,"ns":{"total":7,"forward":1,"backward":2,"optimizer":3,"encode":4,"transfer":5,"decode":6},"loss":0.25,"learning_rate":0.0001,"gradient_norm":1.0})",
    R"({"type":"step","step":3,"epoch":0,"ns":{"total":7,"forward":1,"backward":2,"optimizer":3,"encode":4,"transfer":5,"decode":6}})",
    R"({"type":"step","step":3,"epoch":0,"ns":{"total":7,"forward":1,"backward":2,"optimizer":3,"encode":4,"transfer":5,"decode":6},"loss":null,"nonfinite":true,"learning_rate":0.5,"gradient_norm":0.0})",
    R"({"type":"eval","epoch":1,"step":3,"inference":"off","split":"dev","rows":2,"loss":0.5,"ns":9,"metrics":{"f1":null,"nonfinite":true,"accuracy":0.75},"primary":"f1","predictions":[1.0,null],"labels":[0.0,1.0]})",
    R"({"type":"error","step":2,"site":5,"site_name":"layer0.mlp","message_relative_l2":0.1,"message_cosine":null,"nonfinite":true,"sum_relative_l2":0.2,"sum_cosine":1.0})",
    R"({"type":"traffic","site":"tp","site_name":"layer0.mlp","direction":"forward","phase":"train","collective":"node.all_reduce","dtype":"float32","spec":"none","calls":1,"raw_bytes":2,"payload_bytes":3,"metadata_bytes":4,"sent_bytes":5,"handed_bytes":6,"encode_ns":7,"transfer_ns":8,"decode_ns":9})",
    R"({"type":"traffic","site":"tp","site_name":"layer0.mlp","direction":"forward","phase":"train","collective":"all_to_all","dtype":"float32","spec":"none","calls":1,"raw_bytes":2,"payload_bytes":3,"metadata_bytes":4,"sent_bytes":5,"handed_bytes":6,"encode_ns":7,"transfer_ns":8,"decode_ns":9,"sent_bytes_p2":10,"sent_bytes_p4":11,"sent_bytes_p8":12})",
    R"({"type":"error","step":2,"site":5,"site_name":"layer0.mlp","message_relative_l2":null,"nonfinite":true,"message_cosine":null,"message_reason":"two rounds","sum_relative_l2":0.2,"sum_cosine":1.0})",
    R"({"type":"memory","peak_rss_bytes":1,"codec_state_bytes":2,"parameter_bytes":3})",
    R"({"type":"end","status":"failed","cause":"lost_peer","reason":"all-reduce failed","wall_ns":5,"steps":4})",
    R"({"type":"end","status":"ok","cause":"none","reason":"","wall_ns":5,"steps":4,"checksum":"0123456789abcdef","records":12})"};

Record read(const std::string& line) { return read_record(LineReader(line, "rank0.jsonl", 7)); }

std::string complaint(const std::string& line) {
  try {
    (void)read(line);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kData);
    return error.what();
  }
  return "no error";
}

std::string replaced(std::string line, const std::string& from, const std::string& to) {
  const auto at = line.find(from);
  REQUIRE(at != std::string::npos);
  return line.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("records: what was read is written with the same bytes") {
  for (const std::string& line : kLines) CHECK(to_json(read(line)).dump() == line);
}

TEST_CASE("records: fields have their types") {
  const auto start = std::get<Start>(read(kLines[1]));
  CHECK(start.codecs.at("tp").added_parameters == 3);
  CHECK(start.steps == 20);
  CHECK_FALSE(start.pid);
  CHECK(std::get<Start>(read(kLines[0])).seed == std::numeric_limits<std::uint64_t>::max());
  CHECK(std::get<Step>(read(kLines[2])).training->gradient_norm == 1.0);
  CHECK_FALSE(std::get<Step>(read(kLines[3])).training);
  CHECK_FALSE(std::get<Step>(read(kLines[4])).training->loss);
  const auto eval = std::get<Eval>(read(kLines[5]));
  CHECK(std::isnan(eval.predictions.at(1)));
  CHECK_FALSE(eval.metrics.at(0).second);
  CHECK(std::get<Traffic>(read(kLines[7])).wire_bytes == 5);
  CHECK(std::get<Traffic>(read(kLines[7])).input_bytes == 6);
  CHECK_FALSE(std::get<Traffic>(read(kLines[7])).wire_bytes_p8);
  CHECK(std::get<Traffic>(read(kLines[8])).wire_bytes_p8 == 12);
  CHECK(std::get<MessageError>(read(kLines[9])).message_reason == "two rounds");
  CHECK(std::get<End>(read(kLines[11])).verdict() == Verdict{Status::kFailed, Cause::kLostPeer});
}

TEST_CASE("records: what is wrong is named with line, column, field and value") {
  CHECK(complaint(replaced(kLines[2], "\"step\":3", "\"step\":-3")) ==
        "rank0.jsonl:7:16: record 'step': 'step' must be a whole number from 0, got -3");
  CHECK_THAT(complaint(replaced(kLines[2], "\"epoch\":0,", "")),
             Contains("record 'step': 'epoch' is missing"));
  CHECK_THAT(complaint(replaced(kLines[2], "\"encode\":4", "\"encode\":1.5")),
             Contains("'encode' must be a whole number from 0, got 1.5"));
  CHECK_THAT(complaint(replaced(kLines[0], "\"format\":1", "\"format\":2")),
             Contains("rank0.jsonl:7:17: record 'start': 'format' 2 is not the format"));
  CHECK_THAT(complaint(replaced(kLines[0], "\"rank\":1", "\"rank\":2")),
             Contains("'world' 2 is too small for rank 2"));
  CHECK_THAT(complaint(replaced(kLines[1], "\"spec\":\"none\",", "")),
             Contains("'codecs' needs an object with a spec for site 'tp.backward'"));
  CHECK_THAT(complaint(replaced(kLines[1], "12.5", "\"many\"")),
             Contains("'codecs' needs a number of added_flops for site 'tp'"));
  CHECK_THAT(complaint(replaced(kLines[5], "\"primary\":\"f1\"", "\"primary\":\"bleu\"")),
             Contains("names 'bleu'"));
  CHECK_THAT(complaint(replaced(kLines[5], "\"rows\":2", "\"rows\":3")),
             Contains("has 2 items for 3 rows"));
  CHECK_THAT(complaint(replaced(kLines[7], "\"train\"", "\"test\"")),
             Contains("'phase' must be one of train, eval, got \"test\""));
  CHECK_THAT(complaint(replaced(kLines[11], "\"failed\"", "\"running\"")),
             Contains("'status' must be one of ok, failed, diverged, oom, got \"running\""));
  CHECK_THAT(complaint(replaced(kLines[11], "\"lost_peer\"", "\"lost\"")),
             Contains("'cause' must be one of none, interrupted, lost_peer,") &&
                 Contains(", got \"lost\""));
  CHECK_THAT(complaint(R"({"type":"stop"})"),
             Contains("is unknown (start, step, eval, error, traffic, memory, end)"));
  CHECK_THAT(complaint("{}"), Contains("rank0.jsonl:7:1: 'type' is missing"));
  CHECK_THAT(complaint("{\"type\":"), Contains("not JSON"));
}

TEST_CASE("records: facts that have a column have its type") {
  const std::string& start = kLines[0];
  for (const auto& [from, to, what] : std::vector<std::array<std::string, 3>>{
           {"\"cores\":2", "\"cores\":\"2\"",
            "'cores' of 'hardware' must be a whole number from 0, got \"2\""},
           {"\"cores\":2", "\"cores\":9223372036854775808", "'cores' of 'hardware' must be"},
           {"\"cores\":2", "\"cores\":-1", "'cores' of 'hardware' must be"},
           {"\"cpu\":\"x\"", "\"cpu\":[]", "'cpu' of 'hardware' must be a string, got []"},
           {"\"a\":1", "\"threads\":\"x\"", "'threads' of 'environment' must be a whole number"},
           {"\"environment\":{\"torch\":\"2.11.0\",\"cuda\":null,\"a\":1}", "\"environment\":7",
            "'environment' must be an object"}})
    CHECK_THAT(complaint(replaced(start, from, to)),
               StartsWith("rank0.jsonl:7:") && Contains("record 'start': " + what));
  const std::string& first = kLines[1];
  CHECK_THAT(complaint(replaced(first, "\"layers\":2}", "\"layers\":2},\"parameters\":{}")),
             Contains("'parameters' of 'model' must be a whole number from 0, got {}"));
  CHECK_THAT(complaint(replaced(first, "{\"layers\":2}", "2")),
             Contains("'arch' of 'model' must be an object"));
  CHECK_THAT(complaint(replaced(first, "\"best_accuracy\":null", "\"best_accuracy\":\"x\"")),
             Contains("'best_accuracy' of 'dataset' must be a number"));
  CHECK(complaint(replaced(first, "\"best_accuracy\":null", "\"other\":[{}]")) == "no error");
}

TEST_CASE("records: an end without a cause is of a tersor that knew none") {
  const auto cause = [](const std::string& status) {
    return std::get<End>(read(R"({"type":"end","status":")" + status + "\"}")).cause;
  };
  CHECK(cause("ok") == Cause::kNone);
  CHECK(cause("failed") == Cause::kUnknown);
  CHECK(cause("diverged") == Cause::kNonFinite);
  CHECK(cause("oom") == Cause::kOutOfMemoryHost);
}

TEST_CASE("records: numbers that are not finite are none") {
  CHECK(finite_number(0.5) == 0.5);
  CHECK_FALSE(finite_number(std::nan("")));
  CHECK_FALSE(finite_number(-std::numeric_limits<double>::infinity()));
}

TEST_CASE("records: a search forgives what is no record") {
  CHECK(find_record(kLines[8]));
  CHECK_FALSE(find_record(kLines[8].substr(0, 30)));
  CHECK_FALSE(find_record("epoch 1"));
  const std::string line = R"({"step":10,"steps":20,"loss":null,"nonfinite":true,"epoch":1})";
  const auto progress = find_progress(line);
  REQUIRE(progress);
  CHECK(progress->step == 10);
  CHECK_FALSE(progress->loss);
  CHECK(to_json(*progress).dump() == line);
  CHECK_FALSE(find_progress("warning: x"));
}

// SPDX-License-Identifier: Apache-2.0
#include "results/ingest/import.hpp"

#include <catch2/catch.hpp>

#include "common/error.hpp"
#include "results/ingest/measured_file.hpp"
#include "results/query/reader.hpp"
#include "results/testing/spools.hpp"

namespace tersor::results {
namespace {

using Catch::Contains;
using nlohmann::json;
using testing::TempFolder;
using testing::write_text;

/// No measurement: every number is made up, and the file says so.
json made_gpu_check() {
  const json base{{"dtype", "float32"}, {"shape", {1, 4, 1024}}, {"status", "ok"}};
  json equal = base;
  equal.update({{"kind", "equality"}, {"operation", "encode"}, {"spec", "sign"}, {"equal", true}});
  json speed = base;
  speed.update({{"kind", "speed"},
                {"operation", "decode"},
                {"spec", "quantize(bits=4)"},
                {"mode", "cold"},
                {"times_ns", {3000, 1000, 2000}},
                {"copy_times_ns", {500, 700}},
                {"raw_bytes", 16384},
                {"payload_bytes", 4096},
                {"note", "kept"}});
  json skipped = base;
  skipped.update({{"kind", "speed"},
                  {"operation", "encode"},
                  {"spec", "powersgd"},
                  {"mode", "hot"},
                  {"status", "skipped"},
                  {"reason", "no kernel"}});
  return {{"format", "tersor-gpu-check"},
          {"version", 1},
          {"synthetic", true},
          {"measured_at", "2026-01-31T12:00:00Z"},
          {"hardware", {{"gpu", "made up"}, {"gpus", 1}, {"clock_mhz", 1000}}},
          {"environment", {{"cuda", "13.0"}, {"driver", "1.0"}}},
          {"cases", {equal, speed, skipped}}};
}

json made_benchmark() {
  return {{"context",
           {{"date", "2026-01-31T12:00:00+00:00"},
            {"executable", "tersor-bench"},
            {"num_cpus", 2},
            {"caches", json::array()}}},
          {"synthetic", true},
          {"benchmarks",
           {{{"name", "encode/topk(ratio=0.01)/float16/32x128x1024/manual_time"},
             {"run_type", "iteration"},
             {"iterations", 100},
             {"real_time", 1.5},
             {"cpu_time", 1.25},
             {"time_unit", "us"},
             {"memcpy_ratio", 0.5},
             {"payload_bytes", 12}},
            {{"name", "odd"}, {"error_occurred", true}, {"error_message", "no memory"}}}}};
}

std::vector<std::vector<Value>> rows(const std::filesystem::path& db, const std::string& sql) {
  Reader reader(db);
  return reader.query(sql).rows;
}

std::string complaint(const json& file) {
  try {
    parse_measured_file(file.dump(), "x.json");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kData);
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a GPU check is imported whole, and once") {
  const TempFolder folder;
  const auto db = folder / "a.db";
  write_text(folder / "check.json", made_gpu_check().dump(1));
  const ImportResult first = import_file(db, folder / "check.json");
  CHECK_FALSE(first.was_there);
  CHECK(first.cases == 3);
  CHECK(first.ok == 2);
  CHECK(first.skipped == 1);
  write_text(folder / "copy.json", made_gpu_check().dump(1));
  CHECK(import_file(db, folder / "copy.json").was_there);
  CHECK(rows(db, "SELECT name, is_synthetic FROM imported_file") ==
        std::vector<std::vector<Value>>{{std::string("check.json"), std::int64_t{1}}});
  CHECK(rows(db, "SELECT count(*) FROM imported_case")[0][0] == Value(std::int64_t{3}));
  const auto time = rows(db,
                         "SELECT gpu, dtype, hidden, mode, n, median, unit FROM v_imported WHERE "
                         "spec = 'quantize(bits=4)' AND quantity = 'time'");
  REQUIRE(time.size() == 1);
  CHECK(time[0] == std::vector<Value>{std::string("made up"), std::string("float32"),
                                      std::int64_t{1024}, std::string("cold"), std::int64_t{3},
                                      2000.0, std::string("ns")});
  CHECK(rows(db, "SELECT median FROM v_imported WHERE quantity = 'copy_time'")[0][0] ==
        Value(600.0));
  CHECK(rows(db, "SELECT reason FROM v_imported WHERE status = 'skipped'")[0][0] ==
        Value(std::string("no kernel")));
  CHECK(rows(db, "SELECT is_equal FROM v_imported WHERE spec = 'sign'")[0][0] ==
        Value(std::int64_t{1}));
  // What no column holds is in facts and context, and the text is the file.
  CHECK(rows(db, "SELECT facts ->> '$.note' FROM imported_case WHERE place = 1")[0][0] ==
        Value(std::string("kept")));
  CHECK(rows(db, "SELECT facts ->> '$.clock_mhz' FROM hardware")[0][0] ==
        Value(std::int64_t{1000}));
  CHECK(rows(db, "SELECT text FROM imported_file")[0][0] == Value(made_gpu_check().dump(1)));
  // A file with one more number is another file.
  json other = made_gpu_check();
  other["cases"][1]["times_ns"].push_back(4000);
  write_text(folder / "check.json", other.dump(1));
  CHECK_FALSE(import_file(db, folder / "check.json").was_there);
  CHECK(rows(db, "SELECT count(*) FROM imported_case")[0][0] == Value(std::int64_t{6}));
}

TEST_CASE("Google Benchmark's JSON is imported: names taken apart, counters with their units") {
  const TempFolder folder;
  const auto db = folder / "a.db";
  write_text(folder / "bench.json", made_benchmark().dump());
  const ImportResult result = import_file(db, folder / "bench.json");
  CHECK(result.kind == "google-benchmark");
  CHECK(result.failed == 1);
  const auto values = rows(db,
                           "SELECT operation, spec, dtype, quantity, unit, median FROM v_imported "
                           "WHERE place = 0 ORDER BY quantity");
  REQUIRE(values.size() == 4);
  CHECK(values[0] == std::vector<Value>{std::string("encode"), std::string("topk(ratio=0.01)"),
                                        std::string("float16"), std::string("cpu_time"),
                                        std::string("ns"), 1250.0});
  CHECK(rows(db, "SELECT samples, tokens, hidden FROM imported_case WHERE place = 0")[0] ==
        std::vector<Value>{std::int64_t{32}, std::int64_t{128}, std::int64_t{1024}});
  CHECK(values[1][3] == Value(std::string("memcpy_ratio")));
  CHECK(values[1][4] == Value(std::string("1")));
  CHECK(values[2][4] == Value(std::string("B")));
  CHECK(values[3][5] == Value(1500.0));
  CHECK(rows(db, "SELECT reason FROM imported_case WHERE place = 1")[0][0] ==
        Value(std::string("no memory")));
}

TEST_CASE("rows of Google Benchmark that are not of the common kind") {
  json file = made_benchmark();
  json& rows_of_file = file["benchmarks"];
  json cv = rows_of_file[0];
  cv.update({{"run_type", "aggregate"},
             {"aggregate_name", "cv"},
             {"aggregate_unit", "percentage"},
             {"real_time", 0.15},
             {"cpu_time", 0.01},
             {"payload_bytes", 0.25}});
  json mean = rows_of_file[0];
  mean.update({{"run_type", "aggregate"},
               {"aggregate_name", "mean"},
               {"aggregate_unit", "time"},
               {"repetitions", 0},
               {"bytes_per_second", 5e9},
               {"items_per_second", 7.0}});
  const json skipped{{"name", "here"},
                     {"iterations", 1},
                     {"real_time", 0},
                     {"cpu_time", 0},
                     {"time_unit", "ns"},
                     {"skipped", true},
                     {"skip_message", "not on this machine"}};
  json idle = rows_of_file[0];
  idle.update({{"iterations", 0}, {"real_time", 0}, {"cpu_time", 0}});
  const json fit{{"name", "encode_BigO"},  {"run_type", "aggregate"}, {"aggregate_name", "BigO"},
                 {"cpu_coefficient", 1.0}, {"real_coefficient", 1.0}, {"big_o", "N"},
                 {"time_unit", "ns"}};
  const json rms{
      {"name", "encode_RMS"}, {"run_type", "aggregate"}, {"aggregate_name", "RMS"}, {"rms", 0.1}};
  for (const json& row : {cv, mean, skipped, idle, fit, rms}) rows_of_file.push_back(row);
  const MeasuredFile read = parse_measured_file(file.dump(), "x.json");
  CHECK(read.fits == 2);
  REQUIRE(read.cases.size() == 6);
  const auto quantity = [&](std::size_t place, const std::string& name) {
    for (const MeasuredQuantity& one : read.cases[place].quantities)
      if (one.name == name) return std::pair(one.values.at(0), one.unit);
    return std::pair(-1.0, std::string("none"));
  };
  CHECK(quantity(2, "real_time") == std::pair(0.15, std::string("1")));
  CHECK(quantity(2, "payload_bytes") == std::pair(0.25, std::string("1")));
  CHECK(quantity(3, "real_time") == std::pair(1500.0, std::string("ns")));
  CHECK(quantity(3, "bytes_per_second") == std::pair(5e9, std::string("B/s")));
  CHECK(quantity(3, "items_per_second") == std::pair(7.0, std::string("1/s")));
  CHECK(read.cases[4].status == protocol::Status::kSkipped);
  CHECK(read.cases[4].reason == "not on this machine");
  CHECK(read.cases[4].quantities.empty());
  CHECK(read.cases[5].reason == "no iteration was run");
  CHECK(read.cases[5].quantities.empty());
  CHECK(read.cases[1].status == protocol::Status::kFailed);
}

TEST_CASE("a value that its column cannot take is refused where it stands") {
  const auto changed = [](json file, const std::string& pointer, const json& value) {
    file[json::json_pointer(pointer)] = value;
    return complaint(file);
  };
  CHECK_THAT(changed(made_gpu_check(), "/hardware/gpus", "1"),
             Contains("x.json: hardware.gpus: must be a whole number from 0, got \"1\""));
  CHECK_THAT(changed(made_gpu_check(), "/environment/driver", json::array()), Contains("accepted"));
  CHECK_THAT(changed(made_gpu_check(), "/environment/threads", 1.5),
             Contains("environment.threads"));
  CHECK_THAT(changed(made_gpu_check(), "/cases/1/raw_bytes", 18446744073709551615u),
             Contains("cases[1].raw_bytes"));
  CHECK_THAT(changed(made_gpu_check(), "/cases/1/shape/0", 18446744073709551615u),
             Contains("cases[1].shape"));
  CHECK_THAT(changed(made_benchmark(), "/context/num_cpus", "2"),
             Contains("context.num_cpus: expected a whole number"));
  CHECK_THAT(changed(made_benchmark(), "/context/compiler", json::object()),
             Contains("context.compiler"));
  CHECK_THAT(changed(made_benchmark(), "/benchmarks/0/real_time", 1e307),
             Contains("benchmarks[0].real_time: is out of range"));
  CHECK(changed(made_benchmark(), "/benchmarks/0/name",
                "encode/x/float32/99999999999999999999x1x1") == "accepted");
}

TEST_CASE("a malformed file: the error says where, and nothing is stored") {
  const auto changed = [](const std::string& pointer, const json& value) {
    json file = made_gpu_check();
    file[json::json_pointer(pointer)] = value;
    return complaint(file);
  };
  CHECK(changed("/version", 2) == "x.json: version: this tersor reads version 1, got 2");
  CHECK_THAT(changed("/format", "other"), Contains("format: expected \"tersor-gpu-check\""));
  CHECK_THAT(changed("/hardware", json::object()), Contains("hardware.gpu: is missing"));
  CHECK_THAT(changed("/cases", json::array()), Contains("cases: expected an array"));
  CHECK_THAT(changed("/cases/1/spec", 7), Contains("cases[1].spec: expected a text, got 7"));
  CHECK_THAT(changed("/cases/1/shape", {1, 2}), Contains("cases[1].shape: expected [samples"));
  CHECK_THAT(changed("/cases/1/dtype", "int8"), Contains("'int8' is none of float32"));
  CHECK_THAT(changed("/cases/1/times_ns", json::array()), Contains("cases[1].times_ns"));
  CHECK_THAT(changed("/cases/1/times_ns/1", 0), Contains("above 0 as element 1, got 0"));
  CHECK_THAT(changed("/cases/0/equal", false), Contains("is false where status is ok"));
  CHECK_THAT(changed("/cases/2/reason", ""), Contains("cases[2].reason: is missing"));
  CHECK_THAT(changed("/cases/0", 1), Contains("cases[0]: expected an object"));
  json bench = made_benchmark();
  bench["benchmarks"][0].erase("time_unit");
  CHECK_THAT(complaint(bench), Contains("benchmarks[0].time_unit: is missing"));

  const TempFolder folder;
  const std::string whole = made_gpu_check().dump();
  write_text(folder / "cut.json", whole.substr(0, whole.size() / 2));
  CHECK_THROWS_WITH(import_file(folder / "a.db", folder / "cut.json"),
                    Contains("cut.json:1:") && Contains("not JSON"));
  CHECK_THROWS_WITH(import_file(folder / "a.db", folder / "none.json"), Contains("no such file"));
  write_text(folder / "large.json", "{");
  std::filesystem::resize_file(folder / "large.json", kMostImportBytes + 1);
  CHECK_THROWS_WITH(import_file(folder / "a.db", folder / "large.json"),
                    Contains("large.json: has 64 MiB; a file of measurements has at most 64 MiB"));
  CHECK_FALSE(std::filesystem::exists(folder / "a.db"));
}

}  // namespace tersor::results

// SPDX-License-Identifier: Apache-2.0
#include "results/ingest/ingest.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "results/ingest/steps.hpp"
#include "results/query/reader.hpp"
#include "results/testing/spools.hpp"

namespace tersor::results {
namespace {

using Catch::Contains;
using nlohmann::ordered_json;
using protocol::Cause;
using protocol::Status;
using protocol::Verdict;
using testing::FakeRun;
using testing::read_text;
using testing::run_command;
using testing::TempFolder;
using testing::write_lines;
using testing::write_text;

struct Database {
  TempFolder folder;
  std::filesystem::path path = folder / "a.db";
  Store store{path};

  RunInfo begin(const FakeRun& run) {
    store.add_cell(run.cell_key(), run.config(), run.codecs());
    return store.begin_run(run.cell_key(), run.seed, 0, 0, 0, "box", "");
  }
  std::vector<std::vector<Value>> rows(const std::string& sql) {
    return Reader(path).query(sql).rows;
  }
  double number(const std::string& sql) {
    const Value value = rows(sql).at(0).at(0);
    if (const auto* integer = std::get_if<std::int64_t>(&value))
      return static_cast<double>(*integer);
    return std::get<double>(value);
  }
};

TEST_CASE("a spool that names the key of its cell before schema version 5 is its run's") {
  Database db;
  const FakeRun run;
  const RunInfo info = db.begin(run);
  run.write(db.folder / "spool");
  SQLite::Database file(db.path.string(), SQLite::OPEN_READWRITE);
  file.exec("UPDATE cell SET former_key = cell_key, cell_key = 'another'");
  CHECK(db.store.find_run("another", run.seed)->former_key == run.cell_key());
  CHECK(ingest(db.store, info.id, db.folder / "spool") == Verdict{});
  file.exec("UPDATE cell SET former_key = 'a third'");
  CHECK_THROWS_WITH(ingest(db.store, info.id, db.folder / "spool"),
                    Catch::Contains("belongs to cell " + run.cell_key()));
}

TEST_CASE("a spool becomes rows with the numbers that it holds") {
  Database db;
  FakeRun run;
  run.codec = "topk(ratio=0.1)";
  run.accuracy = {0.7, 0.75, 0.72};
  run.relative_error = 0.25;
  run.payload_bytes = 20000;
  run.metadata_bytes = 4000;
  run.collective = "all_gather";
  const RunInfo info = testing::store_run(db.store, run, db.folder / "spools");
  CHECK(db.store.find_run(run.cell_key(), 1)->status == Status::kOk);

  // Rank 1 is always 2 ms slower: 52, 53, 54 ms in turn. 20 steps, the first 2 are left out.
  const auto row = db.rows(
      "SELECT m.n, m.skipped, m.min, m.median, m.max FROM measurement m JOIN metric k ON k.id = "
      "m.metric_id WHERE k.name = 'step_time' AND rank = -1")[0];
  CHECK(row == std::vector<Value>{std::int64_t{18}, std::int64_t{2}, 52e6, 53e6, 54e6});
  CHECK(db.number("SELECT m.median FROM measurement m JOIN metric k ON k.id = m.metric_id WHERE "
                  "k.name = 'step_time' AND rank = 0") == 51e6);
  CHECK(db.number("SELECT m.median FROM measurement m JOIN metric k ON k.id = m.metric_id WHERE "
                  "k.name = 'forward_time' AND rank = -1") == Approx(53e6 * 0.4));
  CHECK(db.number("SELECT count(*) FROM measurement") == 7 * 3);

  // The samples are the values themselves, little-endian.
  const auto sample = db.rows(
      "SELECT s.data, s.count, s.first_step FROM sample s JOIN measurement m ON m.id = "
      "s.measurement_id JOIN metric k ON k.id = m.metric_id WHERE k.name = 'step_time' AND "
      "rank = -1")[0];
  const std::string bytes = std::get<Blob>(sample[0]).bytes;
  REQUIRE(bytes.size() == 20 * sizeof(double));
  for (int step = 0; step < 20; ++step) {
    double value = 0;
    std::memcpy(&value, bytes.data() + static_cast<std::size_t>(step) * sizeof(double),
                sizeof(double));
    CHECK(value == run.step_ns(step, 1));
  }

  CHECK(db.number("SELECT count(*) FROM series") == 20 * 4);
  CHECK(db.number("SELECT value FROM series s JOIN metric k ON k.id = s.metric_id WHERE k.name = "
                  "'train_loss' AND step = 3") == 0.25);
  CHECK(db.number("SELECT count(*) FROM eval") == 6);
  CHECK(db.number("SELECT last_value FROM v_run_accuracy WHERE metric = 'accuracy' AND inference = "
                  "'on'") == 0.72);
  CHECK(db.number("SELECT best_value FROM v_run_accuracy WHERE metric = 'accuracy' AND inference = "
                  "'off'") == 0.76);
  CHECK(db.number("SELECT max(message_relative_l2) FROM message_error") == 0.25);
  CHECK(db.number("SELECT sum(sent_bytes) FROM traffic WHERE phase = 'train' AND direction = "
                  "'forward'") == 2 * 20 * 20000);
  // One label set serves all evaluations; predictions are kept for each.
  CHECK(db.number("SELECT count(*) FROM label_set") == 1);
  CHECK(db.number("SELECT count(*) FROM prediction") == 6);
  CHECK(db.rows("SELECT checksum, init_hash, steps, wall_ns FROM run")[0] ==
        std::vector<Value>{std::string("0123456789abcdef"), std::string("0000000000000011"),
                           std::int64_t{20}, std::int64_t{2'000'000'000}});
  CHECK(db.rows("SELECT pid, host, peak_rss_bytes FROM process WHERE rank = 1")[0] ==
        std::vector<Value>{std::int64_t{1001}, std::string("box"), std::int64_t{1'000'001}});
  CHECK(info.attempt == 1);
}

TEST_CASE("a site has errors of its activations and of its gradients") {
  Database db;
  FakeRun run;
  run.relative_error = 0.5;
  run.samples_gradients = true;
  testing::store_run(db.store, run, db.folder / "spools");
  CHECK(
      db.rows("SELECT site_name, message_relative_l2 FROM message_error WHERE step = 0 AND site = "
              "1 ORDER BY 1") ==
      std::vector<std::vector<Value>>{{std::string("layer0.attention"), 0.5},
                                      {std::string("layer0.attention.backward"), 0.05}});
}

TEST_CASE("facts are stored once, however many runs share them") {
  Database db;
  for (const std::uint64_t seed : {1, 2, 3}) {
    FakeRun run;
    run.seed = seed;
    testing::store_run(db.store, run, db.folder / "spools");
  }
  for (const char* table : {"hardware", "environment", "dataset", "model", "code", "codec", "cell"})
    CHECK(db.number(std::string("SELECT count(*) FROM ") + table) == 1);
  CHECK(db.number("SELECT count(*) FROM run") == 3);
}

TEST_CASE("a spool that is stored twice changes nothing, a longer one replaces it") {
  Database db;
  FakeRun run;
  const RunInfo info = db.begin(run);
  const auto folder = db.folder / "spool";
  std::vector<ordered_json> lines = run.records(0);
  const std::vector<ordered_json> half(lines.begin(), lines.begin() + 11);
  write_lines(folder / "rank0.jsonl", half);
  write_lines(folder / "rank1.jsonl", run.records(1));
  CHECK_FALSE(ingest(db.store, info.id, folder));
  CHECK(db.number("SELECT steps FROM run") == 10);
  run.write(folder);
  CHECK(ingest(db.store, info.id, folder) == Verdict{});
  const auto dump = [&] { return run_command("sqlite3 " + db.path.string() + " .dump").output; };
  const std::string once = dump();
  CHECK_THAT(once, Contains("COMMIT"));
  CHECK(ingest(db.store, info.id, folder) == Verdict{});
  CHECK(dump() == once);
  CHECK(db.number("SELECT steps FROM run") == 20);
}

TEST_CASE("a torn last line is forgiven, and only that") {
  Database db;
  FakeRun run;
  const RunInfo info = db.begin(run);
  const auto folder = db.folder / "spool";
  run.write(folder);
  const std::string whole = read_text(folder / "rank0.jsonl");
  // Cut at every byte of the last record.
  const std::size_t last = whole.rfind('\n', whole.size() - 2) + 1;
  for (std::size_t stop = last; stop <= whole.size(); ++stop) {
    write_text(folder / "rank0.jsonl", whole.substr(0, stop));
    const auto claimed = ingest(db.store, info.id, folder);
    INFO("cut " << whole.size() - stop);
    CHECK(claimed.has_value() == (stop >= whole.size() - 1));
    CHECK(db.number("SELECT torn_bytes FROM spool_file WHERE rank = 0") ==
          static_cast<double>(stop >= whole.size() - 1 ? 0 : stop - last));
  }
  // Nothing but a start that was torn.
  write_text(folder / "rank0.jsonl", "{\"type\":\"sta");
  CHECK_FALSE(ingest(db.store, info.id, folder));
  CHECK(db.number("SELECT count(*) FROM eval") == 0);
}

TEST_CASE("a bad line names file, line and column, and nothing is stored") {
  Database db;
  FakeRun run;
  const RunInfo info = db.begin(run);
  const auto folder = db.folder / "spool";
  const auto complaint = [&](const std::function<void(std::vector<std::string>&)>& change) {
    std::vector<std::string> lines;
    for (const auto& record : run.records(0)) lines.push_back(record.dump());
    change(lines);
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    write_text(folder / "rank0.jsonl", text);
    try {
      ingest(db.store, info.id, folder);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kData);
      CHECK(db.number("SELECT count(*) FROM spool_file") == 0);
      CHECK(db.number("SELECT count(*) FROM series") == 0);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const auto swap = [](std::string& line, const std::string& from, const std::string& to) {
    line.replace(line.find(from), from.size(), to);
  };
  CHECK_THAT(complaint([](auto& l) { l[4] = "{\"type\": \"step\", \"step\": 3,,}"; }),
             Contains("rank0.jsonl:5:28: not JSON"));
  CHECK_THAT(complaint([](auto& l) { l[4] = l[4].substr(0, 20); }), Contains("rank0.jsonl:5:"));
  CHECK_THAT(complaint([](auto& l) { l[2] = ""; }), Contains("rank0.jsonl:3:"));
  CHECK_THAT(complaint([](auto& l) { l[2] = "[1]"; }),
             Contains("rank0.jsonl:3:1: expected a JSON object"));
  CHECK_THAT(complaint([](auto& l) { l[2] = "{\"type\":\"stop\"}"; }), Contains("is unknown"));
  CHECK_THAT(complaint([&](auto& l) { swap(l[3], "\"step\":2", "\"step\":\"2\""); }),
             Contains("rank0.jsonl:4:16: record 'step': 'step' must be a whole number"));
  CHECK_THAT(complaint([&](auto& l) { swap(l[3], "\"step\":2", "\"step\":0"); }),
             Contains("0 is not the 2 that is due: steps count from 0"));
  CHECK_THAT(complaint([&](auto& l) { swap(l[3], "\"encode\":1000000", "\"encode\":-1"); }),
             Contains("'encode' must be a whole number from 0"));
  CHECK_THAT(
      complaint([&](auto& l) { swap(l[3], "\"loss\":0.3333333333333333", "\"loss\":null"); }),
      Contains("'loss' must be a number (null only beside \"nonfinite\": true)"));
  CHECK_THAT(complaint([&](auto& l) { swap(l[21], "\"rows\":400", "\"rows\":401"); }),
             Contains("has 400 items for 401 rows"));
  CHECK_THAT(
      complaint([&](auto& l) { swap(l[21], "\"primary\":\"accuracy\"", "\"primary\":\"bleu\""); }),
      Contains("names 'bleu'"));
  CHECK_THAT(
      complaint([&](auto& l) { swap(l[21], "\"inference\":\"on\"", "\"inference\":\"yes\""); }),
      Contains("must be one of on, off"));
  CHECK_THAT(complaint([](auto& l) { l.insert(l.begin() + 22, l[21]); }),
             Contains("was evaluated twice"));
  CHECK_THAT(complaint([](auto& l) { l.insert(l.begin() + 1, l[0]); }), Contains("comes twice"));
  CHECK_THAT(complaint([](auto& l) { l.erase(l.begin()); }), Contains("must be 'start'"));
  CHECK_THAT(complaint([](auto& l) { l.push_back(l[5]); }), Contains("after the 'end'"));
  CHECK_THAT(complaint([&](auto& l) { swap(l[0], "\"format\":1", "\"format\":2"); }),
             Contains("2 is not the format"));
  CHECK_THAT(complaint([&](auto& l) { swap(l[0], "\"seed\":1", "\"seed\":7"); }),
             Contains("has seed 7"));
  CHECK_THAT(complaint([&](auto& l) { swap(l[0], "\"attempt\":1", "\"attempt\":2"); }),
             Contains("attempt 2"));
  CHECK_THAT(complaint([&](auto& l) { swap(l[0], run.cell_key(), "0000000000000000"); }),
             Contains("belongs to cell 0000000000000000"));
  CHECK_THAT(complaint([&](auto& l) { swap(l[0], "\"rank\":0", "\"rank\":1"); }),
             Contains("does not belong in the file of rank 0"));
  CHECK_THAT(
      complaint([&](auto& l) { swap(l[3], "\"loss\":0.3333333333333333", "\"loss\":1e999"); }),
      Contains("rank0.jsonl:4:"));
}

TEST_CASE("a spool that ends as ok and lacks something is refused") {
  Database db;
  FakeRun run;
  run.accuracy = {0.7, 0.75};
  const RunInfo info = db.begin(run);
  const auto folder = db.folder / "spool";
  const auto complaint = [&](const std::function<void(std::vector<ordered_json>&)>& change,
                             bool counts_records) {
    std::vector<ordered_json> lines = run.records(0);
    if (!counts_records) lines.back().erase("records");
    change(lines);
    write_lines(folder / "rank0.jsonl", lines);
    write_lines(folder / "rank1.jsonl", run.records(1));
    try {
      ingest(db.store, info.id, folder);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kData);
      CHECK(db.number("SELECT count(*) FROM spool_file") == 0);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  // Each kind of record of today's spools, which count their records.
  for (std::size_t place = 1; place + 1 < run.records(0).size(); ++place) {
    INFO(run.records(0)[place].dump());
    CHECK_THAT(complaint([&](auto& l) { l.erase(l.begin() + std::ptrdiff_t(place)); }, true),
               Contains("rank0.jsonl:"));
  }
  // What older spools can be asked.
  const auto without = [&](const std::string& type, int count) {
    return complaint(
        [&](auto& lines) {
          for (int i = 0; i < count; ++i)
            lines.erase(std::find_if(lines.begin(), lines.end(),
                                     [&](const auto& line) { return line["type"] == type; }));
        },
        false);
  };
  CHECK_THAT(without("step", 1),
             Contains("rank0.jsonl:2:16: record 'step': 'step' 1 is not the 0"));
  CHECK_THAT(without("eval", 1), Contains("1 evaluations with inference on for 2 epochs"));
  CHECK_THAT(without("traffic", 3), Contains("lacks its 'traffic' records"));
  CHECK_THAT(without("memory", 1), Contains("lacks its 'memory' record"));
  CHECK_THAT(complaint([](auto& l) { l.back()["steps"] = 21; }, false),
             Contains("'steps' says 21, the file has 20"));
  CHECK_THAT(complaint([](auto& l) { l[0]["steps"] = 21; }, false),
             Contains("has 20 of the 21 steps that 'start' plans"));
  CHECK_THAT(complaint([](auto& l) { l[20]["epoch"] = 0; }, false),
             Contains("'epoch' 0 does not follow epoch 1"));
  CHECK_THAT(complaint([](auto& l) { l[20]["epoch"] = 9223372036854775807; }, false),
             Contains("does not follow epoch 1"));
  CHECK_THAT(complaint([](auto& l) { l[21]["epoch"] = 9223372036854775807; }, false),
             Contains("is evaluated before it has begun: 2 did"));
  CHECK_THAT(complaint(
                 [](auto& l) {
                   l.erase(l.begin() + 20);
                   l.back()["steps"] = 19;
                   l[0]["steps"] = 19;
                 },
                 false),
             Contains("rank1.jsonl") && Contains("has 20 steps where rank 0 has 19"));
  CHECK(complaint([](auto&) {}, false) == "no error");
}

TEST_CASE("what stands in place of a spool ends its run alone") {
  Database db;
  FakeRun run;
  const RunInfo info = db.begin(run);
  const auto folder = db.folder / "spool";
  const auto file = folder / "rank0.jsonl";
  const auto complaint = [&] {
    try {
      ingest(db.store, info.id, folder);
    } catch (const Error& error) {
      CHECK((error.kind() == ErrorKind::kData || error.kind() == ErrorKind::kMissing));
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK_THAT(complaint(), Contains("no such spool folder"));
  write_text(folder, "x");
  CHECK_THAT(complaint(), Contains("the spool folder cannot be read: Not a directory"));
  std::filesystem::remove(folder);
  std::filesystem::create_directories(file);
  CHECK_THAT(complaint(), Contains("rank0.jsonl: is no regular file"));
  std::filesystem::remove(file);
  REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  CHECK_THAT(complaint(), Contains("rank0.jsonl: is no regular file"));
  std::filesystem::remove(file);
  std::filesystem::create_symlink("/nowhere/at/all", file);
  CHECK_THAT(complaint(), Contains("rank0.jsonl: cannot be read: No such file"));
  std::filesystem::remove(file);
  run.write(folder);
  std::filesystem::resize_file(file, std::uintmax_t{2} << 30);
  CHECK_THAT(complaint(), Contains("the line is longer than 16 MiB"));
  // A value that passes every check and is two rows for one key in the database.
  std::vector<ordered_json> lines = run.records(0);
  ordered_json twin = lines[lines.size() - 3];
  REQUIRE(twin["type"] == "traffic");
  lines[lines.size() - 3]["spec"] = "a b";
  twin["spec"] = std::string("a\0b", 3);
  lines.insert(lines.end() - 2, twin);
  lines.back()["records"] = lines.size() - 1;
  write_lines(file, lines);
  CHECK_THAT(complaint(), Contains("cannot be stored: UNIQUE constraint failed: traffic"));
  run.write(folder);
  CHECK(complaint() == "no error");
}

TEST_CASE("values that are not finite are NULL with a flag") {
  Database db;
  FakeRun run;
  run.status = "diverged";
  run.reason = "loss is not finite";
  const RunInfo info = db.begin(run);
  const auto folder = db.folder / "spool";
  std::vector<ordered_json> lines = run.records(0);
  for (auto& line : lines) {
    if (line["type"] == "step" && line["step"] == 5) {
      line["loss"] = nullptr;
      line["nonfinite"] = true;
    }
    if (line["type"] == "eval" && line["inference"] == "on") {
      line["loss"] = nullptr;
      line["metrics"]["f1"] = nullptr;
      line["predictions"][1] = nullptr;
      line["nonfinite"] = true;
    }
  }
  write_lines(folder / "rank0.jsonl", lines);
  write_lines(folder / "rank1.jsonl", run.records(1));
  CHECK(ingest(db.store, info.id, folder) == Verdict{Status::kDiverged, Cause::kNonFinite});
  CHECK(db.rows("SELECT step, value FROM series WHERE nonfinite = 1") ==
        std::vector<std::vector<Value>>{{std::int64_t{5}, std::monostate{}}});
  CHECK(db.number("SELECT count(*) FROM eval WHERE nonfinite = 1 AND loss IS NULL") == 1);
  CHECK(db.number("SELECT count(*) FROM eval_metric WHERE nonfinite = 1 AND value IS NULL") == 1);
  CHECK(db.number("SELECT count(*) FROM series WHERE nonfinite = 0 AND value IS NULL") == 0);
}

TEST_CASE("the status of a run is the worst of its ranks, and ok only with all of them") {
  const auto claimed = [](const std::vector<std::optional<Verdict>>& ends) {
    Spool spool;
    for (const auto& verdict : ends) {
      RankSpool rank;
      rank.start.emplace();
      rank.start->world = static_cast<std::int64_t>(ends.size());
      if (verdict) rank.end = protocol::End{.status = verdict->status, .cause = verdict->cause};
      spool.ranks.push_back(rank);
    }
    return claimed_verdict(spool);
  };
  const Verdict ok;
  const Verdict refused{Status::kFailed, Cause::kRefused};
  const Verdict alone{Status::kFailed, Cause::kLostPeer};
  const Verdict diverged{Status::kDiverged, Cause::kNonFinite};
  const Verdict oom{Status::kOom, Cause::kOutOfMemoryDevice};
  CHECK(claimed({ok, ok}) == ok);
  CHECK(claimed({ok, std::nullopt}) == std::nullopt);
  CHECK(claimed({refused, std::nullopt}) == refused);
  CHECK(claimed({refused, diverged}) == diverged);
  CHECK(claimed({oom, refused, diverged}) == oom);
  CHECK(claimed({alone, refused}) == refused);
  CHECK(claimed({alone, ok}) == alone);
  CHECK(claimed({}) == std::nullopt);
  Spool lone;
  lone.ranks.resize(1);
  lone.ranks[0].start.emplace();
  lone.ranks[0].start->world = 2;
  lone.ranks[0].end.emplace();
  CHECK(claimed_verdict(lone) == std::nullopt);
}

TEST_CASE("step time is the slowest rank's, step by step, with that rank's parts") {
  Spool spool;
  spool.ranks.resize(2);
  for (int rank = 0; rank < 2; ++rank) {
    spool.ranks[static_cast<std::size_t>(rank)].rank = rank;
    spool.ranks[static_cast<std::size_t>(rank)].start.emplace();
    spool.ranks[static_cast<std::size_t>(rank)].start->world = 2;
  }
  const auto add = [&](std::size_t rank, std::int64_t step, std::int64_t total,
                       std::int64_t encode) {
    protocol::Step record;
    record.step = step;
    record.ns.total = total;
    record.ns.encode = encode;
    spool.ranks[rank].steps.push_back(record);
  };
  add(0, 0, 10, 1);
  add(1, 0, 20, 2);
  add(0, 1, 30, 3);
  add(1, 1, 30, 4);
  add(0, 2, 50, 5);  // rank 1 was killed before step 2
  const StepSeries times = slowest_times(spool);
  CHECK(times.steps == std::vector<std::int64_t>{0, 1});
  CHECK(times.parts[0] == std::vector<double>{20, 30});
  CHECK(times.parts[4] == std::vector<double>{2, 3});
  CHECK(rank_times(spool.ranks[0]).parts[0] == std::vector<double>{10, 30, 50});
}

TEST_CASE("summaries leave out first touch and steps before the compression starts") {
  std::vector<protocol::Step> steps(100);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].step = static_cast<std::int64_t>(i);
    steps[i].epoch = static_cast<std::int64_t>(i / 50);
  }
  CHECK(skipped_steps(steps, "0") == 5);
  CHECK(skipped_steps(steps, "20") == 25);
  CHECK(skipped_steps(steps, "1 epochs") == 55);
  CHECK(skipped_steps(steps, "100") == 5);  // never compressed: all steps count
  CHECK(skipped_steps({steps.begin(), steps.begin() + 9}, "0") == 0);
  CHECK(skipped_steps({}, "0") == 0);
}

TEST_CASE("other files in a spool folder are not read, a missing folder is an error") {
  Database db;
  FakeRun run;
  const RunInfo info = db.begin(run);
  const auto folder = db.folder / "spool";
  run.write(folder);
  write_text(folder / "rank01.jsonl", "no spool");
  write_text(folder / "rank0.jsonl.bak", "no spool");
  write_text(folder / "cell.json", "{}");
  CHECK(ingest(db.store, info.id, folder) == Verdict{});
  CHECK_THROWS_AS(ingest(db.store, info.id, folder / "nowhere"), Error);
  CHECK_THROWS_AS(ingest(db.store, 12345, folder), Error);
  CHECK(db.number("SELECT count(*) FROM spool_file") == 2);
}

TEST_CASE("an evaluation metric that the schema does not know is added") {
  Database db;
  FakeRun run;
  const RunInfo info = db.begin(run);
  const auto folder = db.folder / "spool";
  std::vector<ordered_json> lines = run.records(0);
  for (auto& line : lines)
    if (line["type"] == "eval") line["metrics"]["perplexity"] = 12.5;
  write_lines(folder / "rank0.jsonl", lines);
  write_lines(folder / "rank1.jsonl", run.records(1));
  ingest(db.store, info.id, folder);
  CHECK(db.rows("SELECT better FROM metric WHERE name = 'perplexity'")[0][0] ==
        Value(std::string("lower")));
}

}  // namespace
}  // namespace tersor::results

// SPDX-License-Identifier: Apache-2.0
#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "reports/engine/traffic.hpp"
#include "reports/testing/sample_report.hpp"
#include "results/ingest/ingest.hpp"

namespace tersor::reports {
namespace {

using Catch::Contains;
using results::Store;
using results::testing::FakeRun;
using testing::kRaw;
using testing::row_of;
using testing::SampleReport;
namespace fs = std::filesystem;

void change(Store& store, const char* sql) {
  store.write([&](SQLite::Database& db) { db.exec(sql); });
}

TEST_CASE("accuracy: means, deviations and reasons") {
  const SampleReport report;
  const auto rows = report.csv("accuracy.csv");
  const auto none = row_of(
      rows, {{"codec", "none"}, {"kind", "measured"}, {"inference", "on"}, {"metric", "accuracy"}});
  CHECK(std::stod(none.at("mean")) == Approx((0.8131 + 0.8062 + 0.7982) / 3));
  CHECK(std::stod(none.at("sd")) == Approx(0.0074572).epsilon(1e-3));  // numpy.std(ddof=1)
  CHECK(none.at("n") == "3");
  const auto failed = row_of(rows, {{"codec", "sign"}});
  CHECK(failed.at("mean").empty());
  CHECK(failed.at("not_ok_reason") == "failed: worker of rank 1 died: signal 9 <kill>");
  CHECK(row_of(rows, {{"kind", "shaped"}}).at("not_ok_reason") ==
        "infeasible: network namespaces need root");
}

TEST_CASE("accuracy: a group that is no better than the most frequent class is pointed out") {
  const auto report_of = [](double accuracy) {
    return SampleReport([=](const fs::path& path, const fs::path& spools) {
             Store store(path);
             FakeRun run;
             run.accuracy = {accuracy};
             results::testing::store_run(store, run, spools);
           })
        .text("report.md");
  };
  // 400 rows, half of them of one class: 0.5 + 1.96 sqrt(0.25 / 400) = 0.549.
  CHECK_THAT(report_of(0.548), Contains("`none` reaches 54.8 %, no better than always giving the "
                                        "most frequent class (50.0 %, 95 % of chance up to 54.9"));
  CHECK_THAT(report_of(0.551), !Contains("most frequent class"));
}

TEST_CASE("what a model that learned nothing reaches depends on the metric") {
  const auto report_of = [](double value, const char* metric) {
    return SampleReport([=](const fs::path& path, const fs::path& spools) {
             Store store(path);
             FakeRun run;
             run.accuracy = {value};
             results::testing::store_run(store, run, spools);
             change(store, "DELETE FROM eval_metric WHERE NOT is_primary");
             store.write([&](SQLite::Database& db) {
               SQLite::Statement rename(
                   db, "UPDATE eval_metric SET metric_id = (SELECT id FROM metric WHERE name = ?)");
               rename.bind(1, metric);
               rename.exec();
             });
           })
        .text("report.md");
  };
  // 400 rows, half of them of class 1. F1 of always giving 1: 2 x 0.5 / 1.5 = 0.6667; its deviation
  // 2 / 1.5^2 sqrt(0.25 / 400) = 0.02222, times 1.96: up to 0.7102.
  CHECK_THAT(report_of(0.71, "f1"),
             Contains("`none` reaches f1 \xc3\x97 100 = 71.0, no better than always giving class 1 "
                      "(66.7, 95 % of chance up to 71.0)"));
  CHECK_THAT(report_of(0.711, "f1"), !Contains("learned nothing"));
  // Correlation of unrelated lists: 1.96 / sqrt(399) = 0.0981.
  for (const char* metric : {"matthews", "pearson", "spearman"}) {
    CHECK_THAT(report_of(0.098, metric),
               Contains("an answer that does not depend on the input (0.0, "
                        "95 % of chance up to 9.8)"));
    CHECK_THAT(report_of(0.0985, metric), !Contains("learned nothing"));
  }
}

TEST_CASE("differences are paired by seed and judged no further than three seeds carry") {
  const SampleReport report;
  const auto rows = report.csv("differences.csv");
  const auto topk = row_of(rows, {{"codec", "topk"}, {"kind", "measured"}, {"inference", "on"}});
  // scipy.stats.ttest_rel and t.interval on (73.05, 74.08, 73.51) against (81.31, 80.62, 79.82).
  CHECK(std::stod(topk.at("change_points")) == Approx(-7.0366666667));
  CHECK(std::stod(topk.at("ci_low_points")) == Approx(-9.6839).epsilon(1e-4));
  CHECK(std::stod(topk.at("p")) == Approx(0.0075585).epsilon(1e-4));
  // Seven codecs: 7 x 0.0076 = 0.053 does not pass, and the table says so.
  CHECK(std::stod(topk.at("p_holm")) == Approx(7 * std::stod(topk.at("p"))));
  CHECK(
      topk.at("verdict") ==
      "undecided: its own interval leaves out 0, but not after the correction for 7 codecs (n = 3 "
      "then decides only differences above 7.24)");  // scipy: t.ppf(1 - 0.05 / 14, 2) sd / sqrt(3)
  const auto q8 = row_of(rows, {{"codec", "quantize"}, {"kind", "measured"}, {"inference", "on"}});
  CHECK_THAT(q8.at("verdict"), Contains("undecided: n = 3 decides only differences above"));
  // One emulated seed decides nothing; it is compared with the emulated none only.
  const auto emulated =
      row_of(rows, {{"codec", "cast"}, {"kind", "emulated"}, {"inference", "on"}});
  CHECK(emulated.at("verdict") == "undecided: n = 1 decides nothing");
  CHECK(emulated.at("n") == "1");
  CHECK(emulated.at("change_points") == "0");
}

TEST_CASE("a difference that three seeds can carry is decided") {
  const SampleReport report([](const fs::path& path, const fs::path& spools) {
    Store store(path);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      FakeRun run;
      run.seed = seed;
      run.accuracy = {0.80 + 0.001 * static_cast<double>(seed)};
      results::testing::store_run(store, run, spools);
      run.codec = "topk(ratio=0.01)";
      run.accuracy = {0.70 + 0.0012 * static_cast<double>(seed)};
      results::testing::store_run(store, run, spools);
      run.codec = "quantize";
      run.accuracy = {0.80 + 0.001 * static_cast<double>(seed)};
      results::testing::store_run(store, run, spools);
    }
  });
  const auto rows = report.csv("differences.csv");
  CHECK(row_of(rows, {{"codec", "topk(ratio=0.01)"}, {"inference", "on"}}).at("verdict") ==
        "below none");
  CHECK(row_of(rows, {{"codec", "quantize"}, {"inference", "on"}}).at("verdict") ==
        "same value on every seed");
}

TEST_CASE("a diverged seed is counted, not averaged, and not hidden") {
  const SampleReport report([](const fs::path& path, const fs::path& spools) {
    Store store(path);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      FakeRun run;
      run.seed = seed;
      results::testing::store_run(store, run, spools);
      run.codec = "quantize(bits=1)";
      run.accuracy = {0.6};
      run.status = seed == 3 ? "diverged" : "ok";
      results::testing::store_run(store, run, spools);
    }
  });
  CHECK_THAT(report.text("report.md"), Contains("60.0 \xc2\xb1 0.0 (n = 2, 1 diverged)"));
  CHECK_THAT(
      row_of(report.csv("differences.csv"), {{"codec", "quantize(bits=1)"}, {"inference", "on"}})
          .at("verdict"),
      Contains("1 diverged, not in the mean"));
}

TEST_CASE("equal differences prove nothing") {
  const SampleReport report([](const fs::path& path, const fs::path& spools) {
    Store store(path);
    const std::vector<double> rows{72, 75, 150};
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      FakeRun run;
      run.seed = seed;
      run.accuracy = {rows[seed - 1] / 300};
      results::testing::store_run(store, run, spools);
      run.codec = "cast";
      run.accuracy = {(rows[seed - 1] + 1) / 300};
      results::testing::store_run(store, run, spools);
      run.codec = "topk";
      run.accuracy = {(rows[seed - 1] - 10 - static_cast<double>(seed)) / 300};
      results::testing::store_run(store, run, spools);
    }
  });
  const auto rows = report.csv("differences.csv");
  const auto cast = row_of(rows, {{"codec", "cast"}, {"inference", "on"}});
  CHECK(cast.at("verdict") == "undecided: no spread to judge by");
  CHECK(cast.at("sd_points") == "0");
  CHECK(cast.at("p").empty());
  CHECK(cast.at("ci_low_points").empty());
  // -11, -12, -13 rows: t = -12 / (1 / sqrt(3)) = -20.8; the family is this codec alone.
  const auto topk = row_of(rows, {{"codec", "topk"}, {"inference", "on"}});
  CHECK(std::stod(topk.at("p")) == Approx(0.0023067).epsilon(1e-4));  // scipy.stats.ttest_1samp
  CHECK(topk.at("p_holm") == topk.at("p"));
  CHECK(topk.at("verdict") == "below none");
}

TEST_CASE("the smallest difference that n decides is that of Holm's procedure") {
  // Of two codecs the first is decided at 0.05 / 2, so the second needs 0.05: t(0.975, 2) = 4.303,
  // not t(0.9875, 2) = 6.205.
  const SampleReport report([](const fs::path& path, const fs::path& spools) {
    Store store(path);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const double s = static_cast<double>(seed);
      FakeRun run;
      run.seed = seed;
      run.accuracy = {0.8};
      results::testing::store_run(store, run, spools);
      run.codec = "topk";
      run.accuracy = {0.7 + 0.001 * s};
      results::testing::store_run(store, run, spools);
      run.codec = "quantize";
      run.accuracy = {0.8 + 0.01 * (s - 2)};
      results::testing::store_run(store, run, spools);
    }
  });
  const auto rows = report.csv("differences.csv");
  CHECK(row_of(rows, {{"codec", "topk"}, {"inference", "on"}}).at("verdict") == "below none");
  const auto q = row_of(rows, {{"codec", "quantize"}, {"inference", "on"}});
  CHECK(std::stod(q.at("decided_above_points")) == Approx(4.302652729749462 / std::sqrt(3.0)));
  CHECK(q.at("verdict") == "undecided: n = 3 decides only differences above 2.48");
}

TEST_CASE("two seeds are too few for an interval and a verdict") {
  const SampleReport report([](const fs::path& path, const fs::path& spools) {
    Store store(path);
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      FakeRun run;
      run.seed = seed;
      results::testing::store_run(store, run, spools);
      run.codec = "topk";
      run.accuracy = {seed == 1 ? 0.57 : 0.82};
      results::testing::store_run(store, run, spools);
    }
  });
  // Student's t would give [-164, +153].
  CHECK_THAT(report.text("report.md"), Contains("(too few seeds)") && !Contains("164.3"));
  const auto topk = row_of(report.csv("differences.csv"), {{"codec", "topk"}, {"inference", "on"}});
  CHECK(topk.at("verdict") == "undecided: too few seeds (n = 2)");
  CHECK(topk.at("ci_low_points").empty());
  CHECK(topk.at("seeds_and_rows_low_points").empty());
  CHECK(topk.at("p").empty());
}

TEST_CASE("a seed without a value is counted, not averaged, and not hidden") {
  const SampleReport report([](const fs::path& path, const fs::path& spools) {
    Store store(path);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      FakeRun run;
      run.seed = seed;
      results::testing::store_run(store, run, spools);
      for (const char* codec : {"quantize", "topk"}) {
        run.codec = codec;
        run.accuracy = {0.6};
        results::testing::store_run(store, run, spools);
      }
    }
    change(store,
           "UPDATE eval_metric SET value = NULL, nonfinite = 1 WHERE eval_id IN (SELECT e.id FROM "
           "eval e JOIN run r ON r.id = e.run_id JOIN cell c ON c.id = r.cell_id "
           "WHERE (c.codec = 'quantize' AND r.seed = 2) OR c.codec = 'topk')");
  });
  const std::string text = report.text("report.md");
  CHECK_THAT(text, Contains("60.0 \xc2\xb1 0.0 (n = 2, 1 undefined)"));
  CHECK_THAT(text, Contains("undefined (n = 0, 3 undefined)"));
  const auto values = report.csv("accuracy.csv");
  CHECK(row_of(values, {{"codec", "quantize"}, {"inference", "on"}}).at("undefined_n") == "1");
  CHECK(row_of(values, {{"codec", "topk"}, {"inference", "on"}}).at("undefined_n") == "3");
  const auto rows = report.csv("differences.csv");
  CHECK_THAT(row_of(rows, {{"codec", "quantize"}, {"inference", "on"}}).at("verdict"),
             Contains("1 undefined, not in the mean"));
  CHECK(row_of(rows, {{"codec", "topk"}, {"inference", "on"}}).at("verdict") ==
        "undecided: no seed with a value on both sides; 3 undefined, not in the mean");
}

TEST_CASE("emulated times are never reported") {
  const SampleReport report;
  for (const char* name : {"time.csv", "breakdown.csv"})
    for (const auto& row : report.csv(name)) CHECK(row.at("kind") != "emulated");
  // 777 ms, 778 ms, 779 ms: the median step of the emulated runs, in no table.
  CHECK_THAT(report.text("index.html"),
             !Contains("777.") && !Contains("778.") && !Contains("779."));
  CHECK_THAT(report.text("index.html"), Contains("2 cells are emulated or modelled"));
}

TEST_CASE("time: medians of the slowest rank, and how many times faster") {
  const SampleReport report;
  const auto rows = report.csv("time.csv");
  // Steps of rank 1: base + 2 ms + (0, 1, 2) ms; seeds add 1.5, 3, 4.5 ms to the base.
  CHECK(std::stod(row_of(rows, {{"codec", "none"}, {"kind", "measured"}}).at("step_ms_mean")) ==
        Approx(485 + 3 + 3));
  CHECK(std::stod(row_of(rows, {{"codec", "topk"}}).at("step_ms_mean")) == Approx(576));
  // cast takes 476 ms: 476 / 576 = 0.826, 491 / 576 = 0.852.
  CHECK_THAT(report.text("report.md"), Contains("| `topk(ratio=0.01)` | 576.0 \xc2\xb1 1.5 (n = 3, "
                                                "IQR 0 %) | 0.83\xc3\x97 | 0.85\xc3\x97 |"));
  CHECK(row_of(rows, {{"kind", "shaped"}}).at("not_ok_reason") ==
        "infeasible: network namespaces need root");
}

TEST_CASE("times of a machine that was not quiet are marked") {
  const SampleReport report([](const fs::path& path, const fs::path& spools) {
    Store store(path);
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      FakeRun run;
      run.seed = seed;
      run.base_ns = seed == 1 ? 50'000'000 : 90'000'000;  // seeds far apart
      results::testing::store_run(store, run, spools);
      run.codec = "cast";
      run.base_ns = 50'000'000;
      results::testing::store_run(store, run, spools);
    }
  });
  const std::string text = report.text("report.md");
  CHECK_THAT(text, Contains("The machine was not quiet during `none` (sst2"));
  // cast against itself is a fact; against a noisy none it is not.
  CHECK_THAT(text, Contains("| 1.00\xc3\x97 | **1.38\xc3\x97** (not quiet) |"));
  CHECK_THAT(SampleReport().text("report.md"), !Contains("not quiet"));
}

TEST_CASE("bytes: formulas of the collectives at p = 2, 4, 8") {
  CHECK(sent_bytes("all_reduce", 800, 2, 2, false) == 800);
  CHECK(sent_bytes("all_reduce", 800, 8, 2, false) == 1400);
  CHECK(sent_bytes("all_gather", 800, 4, 2, false) == 2400);
  CHECK(sent_bytes("all_to_all", 800, 4, 2, false) == 600);
  // Second round of a two-step sum: one of two chunks was 400 bytes, one of four is 200.
  CHECK(sent_bytes("all_gather", 400, 4, 2, true) == 600);
  CHECK(sent_bytes("send", 800, 4, 2, false) == 800);
  // How many ranks a node of another p has is nowhere said.
  CHECK(std::isnan(sent_bytes("node.all_gather", 800, 8, 4, false)));

  const SampleReport report;
  const auto rows = report.csv("bytes.csv");
  const auto q8 = row_of(rows, {{"codec", "quantize"}, {"kind", "measured"}});
  const double payload = kRaw / 4.0 + 768;
  CHECK(std::stod(q8.at("compared_raw_bytes_per_step")) == kRaw);
  CHECK(std::stod(q8.at("compared_payload_bytes_per_step")) == payload);
  CHECK(std::stod(q8.at("compared_metadata_bytes_per_step")) == 768);
  CHECK(std::stod(q8.at("compared_sent_bytes_per_step_p2")) == payload);
  CHECK(std::stod(q8.at("compared_sent_bytes_per_step_p4")) == 3 * payload);
  CHECK(std::stod(q8.at("compared_sent_bytes_per_step_p8")) == 7 * payload);
  // cast at the same site: a ring all-reduce of half the bytes.
  CHECK(std::stod(q8.at("reference_compared_sent_bytes_per_step_p2")) == kRaw / 2.0);
  CHECK(std::stod(q8.at("reference_compared_sent_bytes_per_step_p8")) == 2.0 * 7 / 8 * kRaw / 2.0);
  // Dense gradients as well: kRaw more.
  CHECK(std::stod(q8.at("sent_bytes_per_step")) == payload + kRaw);
  CHECK(std::stod(q8.at("compared_sent_bytes_per_step")) == payload);
  // One name, one meaning: what the database's views call so is that of all sites too.
  results::Reader reader(report.db);
  const auto view = reader.query(
      "SELECT mean FROM v_by_config WHERE metric = 'sent_bytes_per_step' AND codec = 'quantize'");
  CHECK(std::get<double>(view.rows.at(0).at(0)) == payload + kRaw);
  const auto cast = row_of(rows, {{"codec", "cast"}, {"kind", "measured"}});
  for (const char* p : {"2", "4", "8"})
    CHECK(std::stod(cast.at(std::string("compared_sent_bytes_per_step_p") + p)) ==
          std::stod(cast.at(std::string("reference_compared_sent_bytes_per_step_p") + p)));
}

TEST_CASE("bytes: the payload of two steps counts once, other p are as the codec has them") {
  // Chunks of 8,000 bytes of a message of 128 KiB at p = 2, an eighth as much at p = 8 and 100
  // bytes of scales. Runs of before the codec told them have the second round among the payloads.
  for (const bool is_recorded : {true, false}) {
    const SampleReport report([=](const fs::path& path, const fs::path& spools) {
      {
        Store store(path);
        FakeRun run;
        results::testing::store_run(store, run, spools);
        run.codec = "twostep";
        run.collective = "all_to_all";
        run.payload_bytes = 16000;
        results::testing::store_run(store, run, spools);
      }
      SQLite::Database db(path.string(), SQLite::OPEN_READWRITE);
      db.exec("UPDATE traffic SET sent_bytes = 8000 * calls WHERE collective = 'all_to_all'");
      db.exec(
          "INSERT INTO traffic SELECT run_id, rank, site, site_name, direction, phase, "
          "'all_gather', dtype, spec, calls, 0, 8000 * calls, 0, 8000 * calls, 8000 * calls, 0, 0, "
          "0, NULL, NULL, NULL FROM traffic WHERE collective = 'all_to_all'");
      if (!is_recorded) return;
      db.exec("UPDATE traffic SET payload_bytes = 0 WHERE collective = 'all_gather'");
      db.exec(
          "UPDATE traffic SET sent_bytes_p2 = 8000 * calls, sent_bytes_p4 = 12300 * calls, "
          "sent_bytes_p8 = 14700 * calls WHERE collective IN ('all_to_all', 'all_gather')");
    });
    const auto row = row_of(report.csv("bytes.csv"), {{"codec", "twostep"}});
    CHECK(std::stod(row.at("compared_payload_bytes_per_step")) == 16000);
    CHECK(std::stod(row.at("ratio")) == 131072.0 / 16000);
    CHECK(std::stod(row.at("compared_sent_bytes_per_step_p2")) == 16000);
    CHECK(std::stod(row.at("compared_sent_bytes_per_step_p4")) ==
          (is_recorded ? 2 * 12300 : 2 * 12000));
    CHECK(std::stod(row.at("compared_sent_bytes_per_step_p8")) ==
          (is_recorded ? 2 * 14700 : 2 * 14000));
  }
}

TEST_CASE("a codec that sends more than cast(bf16) is warned of, at that p") {
  const SampleReport report;
  const std::string text = report.text("report.md");
  // Gathered 8-bit codes: a quarter of the raw bytes against half at p = 2; at p = 4 three quarters
  // against three quarters and the scales, at p = 8 seven quarters against seven eighths.
  CHECK_THAT(text, Contains("`quantize(bits=8)` sends more than cast(format=bf16) at p = 4, 8 ("));
  CHECK_THAT(text, !Contains("`randk(ratio=0.1)` sends more") && !Contains("`none` sends more"));
  CHECK_THAT(text, !Contains("differ from the formula"));
}

TEST_CASE("a row whose count differs from the formula is named") {
  const SampleReport report([](const fs::path& path, const fs::path& spools) {
    Store store(path);
    FakeRun run;
    run.codec = "topk(ratio=0.01)";
    run.collective = "all_gather";
    run.payload_bytes = 1000;
    store.add_cell(run.cell_key(), run.config(), run.codecs());
    const auto info = store.begin_run(run.cell_key(), 1, 0, 0, 0, "", "");
    for (int rank = 0; rank < 2; ++rank) {
      auto lines = run.records(rank);
      for (auto& line : lines)
        if (line["type"] == "traffic" && line["site"] == "tp")
          line["sent_bytes"] = line["sent_bytes"].get<std::int64_t>() * 3;
      results::testing::write_lines(spools / ("rank" + std::to_string(rank) + ".jsonl"), lines);
    }
    results::ingest(store, info.id, spools);
    store.finish_run(info.id, {}, "", 0, "");
  });
  CHECK_THAT(report.text("report.md"),
             Contains("the counted sent bytes differ from the formula by 200.0 %"));
}

TEST_CASE("rows of one rank say that their codecs are off") {
  const SampleReport report([](const fs::path& path, const fs::path& spools) {
    Store store(path);
    FakeRun run;
    run.hardware = "cpu-tp1";
    run.tp = run.world = 1;
    run.codec = "topk";
    results::testing::store_run(store, run, spools);
  });
  CHECK_THAT(report.text("report.md"), Contains("cpu-tp1 \xc2\xb7 one rank, codecs off"));
  CHECK_THAT(SampleReport().text("report.md"), !Contains("codecs off"));
}

TEST_CASE("gradients have an error table of their own") {
  const SampleReport report([](const fs::path& path, const fs::path& spools) {
    Store store(path);
    FakeRun run;
    run.codec = "quantize(bits=2)";
    run.relative_error = 0.5;
    run.samples_gradients = true;
    results::testing::store_run(store, run, spools);
  });
  CHECK_THAT(report.text("report.md"),
             Contains("Gradients against their uncompressed values") &&
                 Contains("| `quantize(bits=2)` | 0.0500 (n = 1, 1 sample) |"));
}

TEST_CASE("cost: means over seeds of what a codec adds") {
  const SampleReport report;
  const auto row = row_of(report.csv("cost.csv"), {{"codec", "topk"}, {"kind", "measured"}});
  CHECK(row.at("n") == "3");
  CHECK(row.at("added_flops") == "12.5");        // tp 12.5, tp.backward 0
  CHECK(row.at("peak_rss_bytes") == "1000001");  // of rank 1
  CHECK(row.at("model_parameters") == "100000");
}

TEST_CASE("error and breakdown add up") {
  const SampleReport report;
  const auto error = row_of(report.csv("error.csv"), {{"codec", "topk"}, {"seed", "1"}});
  CHECK(std::stod(error.at("message_relative_l2")) == Approx(0.8));
  CHECK(std::stod(error.at("sum_relative_l2")) == Approx(0.4));
  CHECK(error.at("samples") == "2");
  std::map<std::string, double> parts;
  for (const auto& row : report.csv("breakdown.csv"))
    if (row.at("codec") == "none" && row.at("seed") == "1")
      parts[row.at("metric")] = std::stod(row.at("mean_ms"));
  CHECK(parts.at("forward_time") == Approx(0.4 * parts.at("step_time")));
  CHECK(parts.at("transfer_time") == Approx(3));
}

}  // namespace
}  // namespace tersor::reports

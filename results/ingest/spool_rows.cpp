// SPDX-License-Identifier: Apache-2.0
#include "results/ingest/spool_rows.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <bit>
#include <span>
#include <string>

#include "common/error.hpp"
#include "results/db/facts.hpp"
#include "results/ingest/steps.hpp"
#include "results/stats/stats.hpp"
#include "results/text.hpp"

namespace tersor::results {
namespace {

static_assert(std::endian::native == std::endian::little, "blobs are little-endian binary64");

/// Of no values too, an empty blob is not NULL.
std::string_view blob_of(const std::vector<double>& values) {
  if (values.empty()) return "";
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

int blob_bytes(const std::vector<double>& values) {
  return static_cast<int>(blob_of(values).size());
}

template <typename T>
void bind_optional(SQLite::Statement& statement, int index, const std::optional<T>& value) {
  if (value)
    statement.bind(index, *value);
  else
    statement.bind(index);
}

/// Facts are hashed with their keys in order.
nlohmann::json sorted(const protocol::Facts& facts) {
  return facts.is_null() ? nlohmann::json::object() : nlohmann::json(facts);
}

/// Executes a prepared INSERT and makes it ready for the next row.
void insert(SQLite::Statement& statement) {
  statement.exec();
  statement.reset();
}

/// "total" -> "step_time", "forward" -> "forward_time".
std::string metric_of(const protocol::StepPart& part) {
  const bool is_total = part.time == &protocol::StepTimes::total;
  return std::string(is_total ? "step" : part.name) + "_time";
}

/// Ids of metrics; a name that the schema does not know yet (an evaluation metric of a newer data
/// set) is added.
class Metrics {
 public:
  explicit Metrics(SQLite::Database& db) : db_(db) {}

  std::int64_t id(const std::string& name) {
    SQLite::Statement find(db_, "SELECT id FROM metric WHERE name = ?");
    find.bind(1, name);
    if (find.executeStep()) return find.getColumn(0).getInt64();
    SQLite::Statement add(db_,
                          "INSERT INTO metric (name, unit, better, kind, representative, gate, "
                          "description) VALUES (?, '1', ?, 'accuracy', 'last', 'none', "
                          "'evaluation metric first seen in a spool')");
    const bool is_cost = name.find("loss") != std::string::npos ||
                         name.find("error") != std::string::npos ||
                         name.find("perplexity") != std::string::npos;
    add.bind(1, name);
    add.bind(2, is_cost ? "lower" : "higher");
    add.exec();
    return db_.getLastInsertRowid();
  }

 private:
  SQLite::Database& db_;
};

/// Writes one run's rows.
class SpoolWriter {
 public:
  SpoolWriter(SQLite::Database& db, RunId run) : db_(db), run_(run), metrics_(db) {}

  bool is_stored(const Spool& spool) {
    SQLite::Statement find(db_, "SELECT rank, hash FROM spool_file WHERE run_id = ? ORDER BY rank");
    find.bind(1, run_);
    std::vector<std::pair<int, std::string>> stored;
    while (find.executeStep())
      stored.emplace_back(find.getColumn(0).getInt(), find.getColumn(1).getString());
    std::vector<std::pair<int, std::string>> given;
    for (const RankSpool& rank : spool.ranks) given.emplace_back(rank.rank, rank.hash);
    return stored == given;
  }

  void clear() {
    for (const char* table : {"spool_file", "process", "run_codec", "measurement", "series", "eval",
                              "message_error", "traffic"}) {
      SQLite::Statement remove(db_, std::string("DELETE FROM ") + table + " WHERE run_id = ?");
      remove.bind(1, run_);
      remove.exec();
    }
  }

  void store(const Spool& spool) {
    for (const RankSpool& rank : spool.ranks) {
      add_file(rank);
      if (!rank.start) continue;
      add_process(rank);
      add_traffic(rank);
      add_measurements(rank_times(rank), rank.steps);
    }
    if (spool.ranks.empty() || spool.ranks.front().rank != 0) return;
    const RankSpool& first = spool.ranks.front();
    if (!first.start) return;
    const StepSeries slowest = slowest_times(spool);
    add_measurements(slowest, first.steps);
    add_series(first, slowest);
    add_errors(first);
    for (const protocol::Eval& eval : first.evals) add_eval(eval);
    update_run(first);
  }

 private:
  void add_file(const RankSpool& rank) {
    SQLite::Statement add(db_,
                          "INSERT INTO spool_file (run_id, rank, hash, bytes, torn_bytes) "
                          "VALUES (?, ?, ?, ?, ?)");
    add.bind(1, run_);
    add.bind(2, rank.rank);
    add.bind(3, rank.hash);
    add.bind(4, rank.bytes);
    add.bind(5, rank.torn_bytes);
    add.exec();
  }

  void add_process(const RankSpool& rank) {
    SQLite::Statement add(db_,
                          "INSERT INTO process (run_id, rank, pid, host, started_at, status, "
                          "reason, steps, wall_ns, peak_rss_bytes, codec_state_bytes, "
                          "parameter_bytes, hardware_id, environment_id, cause) "
                          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    const protocol::Memory memory = rank.memory.value_or(protocol::Memory{});
    add.bind(1, run_);
    add.bind(2, rank.rank);
    bind_optional(add, 3, rank.start->pid);
    add.bind(4, clean_text(rank.start->host));
    add.bind(5, clean_text(rank.start->time));
    if (rank.end) {
      add.bind(6, std::string(to_string(rank.end->status)));
      add.bind(7, clean_text(rank.end->reason));
      bind_optional(add, 9, rank.end->wall_ns);
      add.bind(15, std::string(to_string(rank.end->cause)));
    }
    add.bind(8, static_cast<std::int64_t>(rank.steps.size()));
    bind_optional(add, 10, memory.peak_rss_bytes);
    bind_optional(add, 11, memory.codec_state_bytes);
    bind_optional(add, 12, memory.parameter_bytes);
    add.bind(13, add_hardware(db_, sorted(rank.start->hardware)));
    add.bind(14, add_environment(db_, sorted(rank.start->environment)));
    add.exec();
  }

  void add_traffic(const RankSpool& rank) {
    std::string names = "run_id, rank";
    std::string marks = "?, ?";
    for (const auto& [name, text] : protocol::kTrafficTexts) names += std::string(", ") + name;
    for (const auto& [name, sum] : protocol::kTrafficSums) names += std::string(", ") + name;
    for (const auto& at : protocol::kTrafficAt) names += std::string(", ") + at.name;
    const std::size_t columns = protocol::kTrafficTexts.size() + protocol::kTrafficSums.size() +
                                protocol::kTrafficAt.size();
    for (std::size_t i = 0; i < columns; ++i) marks += ", ?";
    SQLite::Statement add(db_, "INSERT INTO traffic (" + names + ") VALUES (" + marks + ")");
    for (const protocol::Traffic& traffic : rank.traffic) {
      add.bind(1, run_);
      add.bind(2, rank.rank);
      int index = 2;
      for (const auto& [name, text] : protocol::kTrafficTexts)
        add.bind(++index, clean_text(traffic.*text));
      for (const auto& [name, sum] : protocol::kTrafficSums) add.bind(++index, traffic.*sum);
      for (const auto& at : protocol::kTrafficAt) bind_optional(add, ++index, traffic.*at.bytes);
      insert(add);
    }
  }

  std::string warmup() {
    SQLite::Statement find(db_,
                           "SELECT coalesce(c.warmup, '0') FROM run r JOIN cell c "
                           "ON c.id = r.cell_id WHERE r.id = ?");
    find.bind(1, run_);
    find.executeStep();
    return find.getColumn(0).getString();
  }

  void add_measurements(const StepSeries& times, const std::vector<protocol::Step>& steps) {
    if (times.steps.empty()) return;
    const std::int64_t skipped =
        std::min(skipped_steps(steps, warmup()), static_cast<std::int64_t>(times.steps.size()) - 1);
    for (std::size_t part = 0; part < times.parts.size(); ++part)
      add_measurement(metric_of(protocol::kStepParts[part]), times.rank, times.parts[part],
                      times.steps.front(), skipped);
  }

  void add_measurement(const std::string& metric, int rank, const std::vector<double>& values,
                       std::int64_t first_step, std::int64_t skipped) {
    const Summary s = summarize(std::span(values).subspan(static_cast<std::size_t>(skipped)));
    SQLite::Statement add(db_,
                          "INSERT INTO measurement (run_id, metric_id, phase, rank, n, skipped, "
                          "min, q1, median, q3, max, mean, sd, ess, ci_low, ci_high) "
                          "VALUES (?, ?, 'train', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    add.bind(1, run_);
    add.bind(2, metrics_.id(metric));
    add.bind(3, rank);
    add.bind(4, s.n);
    add.bind(5, skipped);
    int index = 5;
    for (const double value : {s.min, s.q1, s.median, s.q3, s.max, s.mean})
      add.bind(++index, value);
    for (const auto& value : {s.sd, s.ess, s.ci_low, s.ci_high}) bind_optional(add, ++index, value);
    add.exec();
    const std::int64_t measurement = db_.getLastInsertRowid();
    SQLite::Statement sample(db_,
                             "INSERT INTO sample (measurement_id, count, first_step, hash, data) "
                             "VALUES (?, ?, ?, ?, ?)");
    sample.bind(1, measurement);
    sample.bind(2, static_cast<std::int64_t>(values.size()));
    sample.bind(3, first_step);
    sample.bind(4, hash_of(blob_of(values)));
    sample.bind(5, blob_of(values).data(), blob_bytes(values));
    sample.exec();
  }

  void add_series(const RankSpool& rank, const StepSeries& slowest) {
    SQLite::Statement add(db_,
                          "INSERT INTO series (metric_id, run_id, step, value, nonfinite) "
                          "VALUES (?, ?, ?, ?, ?)");
    const auto add_value = [&](std::int64_t metric, std::int64_t step,
                               const protocol::Number& value) {
      add.bind(1, metric);
      add.bind(2, run_);
      add.bind(3, step);
      bind_optional(add, 4, value);
      add.bind(5, value ? 0 : 1);
      insert(add);
    };
    const std::int64_t loss = metrics_.id("train_loss");
    const std::int64_t rate = metrics_.id("learning_rate");
    const std::int64_t norm = metrics_.id("gradient_norm");
    for (const protocol::Step& step : rank.steps) {
      add_value(loss, step.step, step.training->loss);
      add_value(rate, step.step, step.training->learning_rate);
      add_value(norm, step.step, step.training->gradient_norm);
    }
    const std::int64_t time = metrics_.id("step_time");
    for (std::size_t i = 0; i < slowest.steps.size(); ++i)
      add_value(time, slowest.steps[i], slowest.parts[0][i]);
  }

  void add_errors(const RankSpool& rank) {
    SQLite::Statement add(db_,
                          "INSERT INTO message_error (run_id, step, site, site_name, "
                          "message_relative_l2, message_cosine, sum_relative_l2, sum_cosine, "
                          "nonfinite, message_reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (const protocol::MessageError& error : rank.errors) {
      add.bind(1, run_);
      add.bind(2, error.step);
      add.bind(3, error.site);
      add.bind(4, clean_text(error.site_name));
      int index = 4;
      bool is_finite = true;
      for (const protocol::Number* value : {&error.message_relative_l2, &error.message_cosine,
                                            &error.sum_relative_l2, &error.sum_cosine}) {
        bind_optional(add, ++index, *value);
        const bool has_reason = index <= 6 && !error.message_reason.empty();
        is_finite = is_finite && (value->has_value() || has_reason);
      }
      add.bind(9, is_finite ? 0 : 1);
      if (error.message_reason.empty())
        add.bind(10);
      else
        add.bind(10, clean_text(error.message_reason));
      insert(add);
    }
  }

  void add_eval(const protocol::Eval& eval) {
    SQLite::Statement add(db_,
                          "INSERT INTO eval (run_id, epoch, step, inference, split, rows, loss, "
                          "nonfinite, time_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    add.bind(1, run_);
    add.bind(2, eval.epoch);
    bind_optional(add, 3, eval.step);
    add.bind(4, eval.inference);
    add.bind(5, clean_text(eval.split));
    add.bind(6, eval.rows);
    bind_optional(add, 7, eval.loss);
    add.bind(8, eval.loss ? 0 : 1);
    bind_optional(add, 9, eval.ns);
    add.exec();
    const std::int64_t id = db_.getLastInsertRowid();
    SQLite::Statement metric(db_,
                             "INSERT INTO eval_metric (eval_id, metric_id, is_primary, value, "
                             "nonfinite) VALUES (?, ?, ?, ?, ?)");
    for (const auto& [name, value] : eval.metrics) {
      metric.bind(1, id);
      metric.bind(2, metrics_.id(name));
      metric.bind(3, name == eval.primary ? 1 : 0);
      bind_optional(metric, 4, value);
      metric.bind(5, value ? 0 : 1);
      insert(metric);
    }
    add_predictions(id, eval);
  }

  void add_predictions(std::int64_t eval_id, const protocol::Eval& eval) {
    const std::string label_hash = hash_of(blob_of(eval.labels));
    SQLite::Statement labels(
        db_, "INSERT INTO label_set (hash, count, data) VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
    labels.bind(1, label_hash);
    labels.bind(2, eval.rows);
    labels.bind(3, blob_of(eval.labels).data(), blob_bytes(eval.labels));
    labels.exec();
    SQLite::Statement add(db_,
                          "INSERT INTO prediction (eval_id, count, hash, label_hash, data) "
                          "VALUES (?, ?, ?, ?, ?)");
    add.bind(1, eval_id);
    add.bind(2, eval.rows);
    add.bind(3, hash_of(blob_of(eval.predictions)));
    add.bind(4, label_hash);
    add.bind(5, blob_of(eval.predictions).data(), blob_bytes(eval.predictions));
    add.exec();
  }

  void update_run(const RankSpool& rank) {
    const protocol::Start& start = *rank.start;
    SQLite::Statement update(db_,
                             "UPDATE run SET environment_id = ?, hardware_id = ?, dataset_id = ?, "
                             "model_id = ?, init_hash = ?, world = ?, steps_planned = ?, "
                             "steps = ?, wall_ns = ?, checksum = ?, ingested_at = ? WHERE id = ?");
    update.bind(1, add_environment(db_, sorted(start.environment)));
    update.bind(2, add_hardware(db_, sorted(start.hardware)));
    if (!start.dataset.empty()) update.bind(3, add_dataset(db_, sorted(start.dataset)));
    if (!start.model.empty()) update.bind(4, add_model(db_, sorted(start.model)));
    bind_json(update, 5, field_or_null(sorted(start.model), "init_hash"));
    update.bind(6, start.world);
    bind_optional(update, 7, start.steps);
    const auto counted = static_cast<std::int64_t>(rank.steps.size());
    update.bind(8, rank.end && rank.end->steps ? *rank.end->steps : counted);
    if (rank.end) {
      bind_optional(update, 9, rank.end->wall_ns);
      if (!rank.end->checksum.empty()) update.bind(10, clean_text(rank.end->checksum));
    }
    update.bind(11, utc_now());
    update.bind(12, run_);
    update.exec();
    for (const auto& [site, codec] : start.codecs) {
      SQLite::Statement add(db_,
                            "INSERT INTO run_codec (run_id, site, spec, added_parameters, "
                            "added_flops) VALUES (?, ?, ?, ?, ?)");
      add.bind(1, run_);
      add.bind(2, clean_text(site));
      add.bind(3, clean_text(codec.spec));
      bind_optional(add, 4, codec.added_parameters);
      bind_optional(add, 5, codec.added_flops);
      add.exec();
    }
  }

  SQLite::Database& db_;
  RunId run_;
  Metrics metrics_;
};

}  // namespace

void store_spool(SQLite::Database& db, RunId run, const Spool& spool) {
  SpoolWriter writer(db, run);
  if (writer.is_stored(spool)) return;
  writer.clear();
  writer.store(spool);
}

}  // namespace tersor::results

// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "common/error.hpp"
#include "harness/cli/command.hpp"
#include "harness/run/runner.hpp"

namespace tersor::harness {
namespace {

constexpr std::int64_t kMostSteps = std::int64_t{1} << 31;  // of a cell

constexpr const char* kAbout =
    "Run every cell of a matrix that the database lacks, and store the results.";

constexpr const char* kNotes =
    "A run that is ok in the database is skipped; one that was interrupted runs again; one that\n"
    "failed stays as it is unless --retry-failed. Ctrl-C stops the run in progress and keeps what "
    "is\n"
    "finished: the same command goes on. Spools and logs stand in DB.runs/CELL-SEED-ATTEMPT/.\n"
    "Ranks are pinned to the cores that this process may use (narrow them with taskset).\n"
    "Filter: key=value[,value..] or key!=value; keys are `seed` and what `tersor list fields` "
    "names;\n"
    "* and ? are wildcards; all filters must hold.\n"
    "Exit status: 0 all ok, 1 some run failed (now or before), 2 bad input, 3 none failed but "
    "some\n"
    "cannot run here, 130 interrupted, 5 a defect of tersor.\n"
    "Examples:\n"
    "  tersor run matrices/quickstart.json --db results.db\n"
    "  tersor run quickstart --db results.db --dry-run\n"
    "  tersor run matrices/sst2-small.json --db results.db --data DIR --filter "
    "'compressor=topk*'\n";

void add_choices(CLI::App& command, RunOptions& options) {
  command
      .add_option("FILE", options.matrix,
                  "Matrix file (-: standard input), or the name of a built-in matrix")
      ->required()
      ->check(refuse_empty)
      ->transform(input_path);
  command.add_option("--db", options.database, "Results database; made where it is missing")
      ->required()
      ->check(refuse_empty);
  command.add_option("--data", options.data,
                     "Folder that holds glue/ (default: $TERSOR_DATA; none: embedded data only)");
  command.add_option(
      "--weights", options.weights,
      "Folder of model.safetensors and vocab.txt (default: $TERSOR_WEIGHTS, else what "
      "scripts/fetch got)");
  command.add_option("--profiles", options.profiles, "Folder of own hardware profiles (NAME.json)");
  command.add_option("--filter", options.filters, "Only the runs that match; may be repeated")
      ->take_all();
  command.add_flag("--dry-run", options.is_dry_run, "Say what would run and why; change nothing");
  command.add_flag("--fail-fast", options.fail_fast, "Stop at the first run that is not ok");
  command.add_flag("--retry-failed", options.retry_failed,
                   "Run again what failed, diverged, timed out or ran out of memory");
  command.add_flag("--yes", options.allow_many, "Accept a matrix of more than 10000 runs");
  command.add_flag("--drop-spools", options.drop_spools,
                   "Remove the spool folders of ok runs once they are stored");
}

void add_limits(CLI::App& command, RunOptions& options) {
  command
      .add_option("--timeout", options.limits.timeout_seconds,
                  "Seconds that a run may take (0: no limit)")
      ->check(refuse_negative)
      ->capture_default_str();
  command
      .add_option("--stall", options.limits.stall_seconds,
                  "Seconds without a sign of life after which a run counts as hung (0: no limit)")
      ->check(refuse_negative)
      ->capture_default_str();
  command
      .add_option("--error-every", options.error_every,
                  "Sample the compression error every N steps (0: never)")
      ->check(refuse_outside(0, kMostSteps))
      ->capture_default_str();
  command
      .add_option(
          "--messages-every", options.messages_every,
          "Every N steps, write what rank 0 sends at each site to messages-STEP.safetensors "
          "in the run's folder, for `tersor codec sweep` and tersor-bench (0: never)")
      ->check(refuse_outside(0, kMostSteps))
      ->capture_default_str();
}

const CommandRegistrar kRun(10, "run", [](CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  constexpr double kStallSeconds = 1800;
  options->limits.stall_seconds = kStallSeconds;
  CLI::App* command = app.add_subcommand("run", kAbout);
  command->footer(kNotes);
  add_choices(*command, *options);
  add_limits(*command, *options);
  command->callback([options] {
    if (options->drop_spools && options->messages_every > 0)
      throw Error(ErrorKind::kUsage,
                  "--messages-every " + std::to_string(options->messages_every) +
                      " writes messages that --drop-spools removes: leave one of them out");
    set_exit_status(run_matrix(*options));
  });
});

}  // namespace
}  // namespace tersor::harness

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "harness/testing/program.hpp"

using Catch::Contains;
using tersor::harness::testing::run_program;

TEST_CASE("tersor --help is there at once, and loads no libtorch") {
  const auto help = run_program({TERSOR_PROGRAM, "--help"});
  CHECK(help.status == 0);
  CHECK_THAT(help.output, Contains("run") && Contains("doctor") && Contains("--version"));
  // Processor time, and the best of a few: the machine may be busy. The limit is the project's
  // promise.
  double best = 1;
  for (int i = 0; i < 10; ++i)
    best = std::min(best, run_program({TERSOR_PROGRAM, "--help"}).cpu_seconds);
#ifndef TERSOR_SANITIZED
  CHECK(best < 0.020);
#endif
  const auto libraries = run_program({"/usr/bin/ldd", TERSOR_PROGRAM});
  CHECK(libraries.status == 0);
  for (const char* heavy : {"libtorch", "libc10", "libcublas", "libcudnn", "libnccl"})
    CHECK_THAT(libraries.output, !Contains(heavy));
}

TEST_CASE("exit statuses of the command line") {
  CHECK(run_program({TERSOR_PROGRAM, "--version"}).status == 0);
  CHECK(run_program({TERSOR_PROGRAM}).status == 2);
  CHECK(run_program({TERSOR_PROGRAM, "rum"}).status == 2);
  CHECK(run_program({TERSOR_PROGRAM, "run"}).status == 2);
  CHECK(run_program({TERSOR_PROGRAM, "run", "--help"}).status == 0);
  const auto missing = run_program({TERSOR_PROGRAM, "run", "no.json", "--db", "/tmp/none.db"});
  CHECK(missing.status == 2);
  CHECK_THAT(missing.output, Contains("no.json: there is no such file"));
}

TEST_CASE("an unknown command is named, with the nearest known one") {
  const auto said = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), TERSOR_PROGRAM);
    const auto result = run_program(arguments);
    CHECK(result.status == 2);
    return result.output;
  };
  CHECK_THAT(said({"reprot"}), Contains("unknown command 'reprot'; did you mean 'report'?"));
  CHECK_THAT(said({"codec", "chekc", "x"}),
             Contains("codec: unknown command 'chekc'; did you mean 'check'?"));
  CHECK_THAT(said({"query", "SELECT 1", "--db", "x", "--limit", "-1"}),
             Contains("--limit: '-1' is no number of zero or more"));
  CHECK_THAT(said({"codec", "roundtrip", "none", "x.npy", "--tokens", "0"}), Contains("--tokens"));
}

TEST_CASE("options of tersor run that no run can follow are refused") {
  const auto run = [](std::vector<std::string> options) {
    std::vector<std::string> arguments{TERSOR_PROGRAM, "run", "quickstart", "--db", "/tmp/none.db"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.emplace_back("--dry-run");
    return run_program(arguments, {{"TERSOR_WORKER", TERSOR_FAKE_WORKER}});
  };
  for (const char* option : {"--messages-every", "--error-every"}) {
    for (const char* value : {"99999999999999999999", "2147483649", "-1", "1.5", "1e9"}) {
      const auto refused = run({option, value});
      CHECK(refused.status == 2);
      CHECK_THAT(refused.output, Contains(std::string(option) + ": '" + value +
                                          "' is no whole number from 0 to 2147483648"));
    }
  }
  const auto both = run({"--messages-every", "5", "--drop-spools"});
  CHECK(both.status == 2);
  CHECK_THAT(both.output,
             Contains("--messages-every 5 writes messages that --drop-spools removes"));
  CHECK(run({"--messages-every", "0", "--drop-spools"}).status == 0);
}

TEST_CASE("control bytes of a command line do not reach the terminal") {
  const std::string escape = "\x1b[31mred";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"codec", "canonical", "top\x1b[31mred"},
        {"codec", "decode", "\x1b[31mred"},
        {"\x1b[31mred"},
        {"codec", "decode", "x", "--\x1b[31mred"},
        {"codec", "decode", "x", "--max-elements", "\x1b[31mred"}}) {
    std::vector<std::string> arguments{TERSOR_PROGRAM};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const auto refused = run_program(arguments);
    CHECK(refused.status == 2);
    CHECK_THAT(refused.output, Contains("\\x1b[31mred") && !Contains(escape));
  }
}

TEST_CASE("every command's help has examples of that command") {
  const std::vector<std::vector<std::string>> commands{{"run"},
                                                       {"query"},
                                                       {"show"},
                                                       {"report"},
                                                       {"list"},
                                                       {"list", "codecs"},
                                                       {"data"},
                                                       {"data", "list"},
                                                       {"data", "tokens"},
                                                       {"codec"},
                                                       {"codec", "check"},
                                                       {"codec", "roundtrip"},
                                                       {"codec", "canonical"},
                                                       {"codec", "encode"},
                                                       {"codec", "decode"},
                                                       {"codec", "inspect"},
                                                       {"codec", "sweep"}};
  for (const auto& command : commands) {
    std::vector<std::string> arguments{TERSOR_PROGRAM};
    std::string name = "tersor";
    for (const std::string& word : command) {
      arguments.push_back(word);
      name += " " + word;
    }
    arguments.emplace_back("--help");
    const auto help = run_program(arguments);
    INFO(name);
    CHECK(help.status == 0);
    const auto examples = help.output.find("Example");
    REQUIRE(examples != std::string::npos);
    CHECK_THAT(help.output.substr(examples), Contains(name));
  }
}

TEST_CASE("the doctor says what can run, and why the rest cannot") {
  const auto found = run_program({TERSOR_PROGRAM, "doctor"}, {{"TERSOR_WORKER", TERSOR_FAKE_WORKER},
                                                              {"XDG_CACHE_HOME", "/nonexistent"},
                                                              {"TERSOR_DATA", ""},
                                                              {"TERSOR_WEIGHTS", ""}});
  INFO(found.output);
  CHECK(found.status == 0);
  CHECK_THAT(found.output, Contains("ok   cpu-tp1") && Contains("ok   synthetic") &&
                               Contains("no   sst2") && Contains("no   minilm-l6") &&
                               Contains("scripts/fetch minilm-l6"));
  const auto json = run_program({TERSOR_PROGRAM, "doctor", "--json"}, {{"TERSOR_WORKER", "/none"}});
  CHECK(json.status == 1);
  CHECK_THAT(json.output, Contains("\"worker\": {\n    \"ok\": false"));
}

TEST_CASE("output that cannot be written is an error, in every command that prints") {
  const auto shell = [](const std::string& line) {
    return run_program({"/bin/sh", "-c", std::string(TERSOR_PROGRAM) + " " + line});
  };
  for (const char* command : {"--help", "--version", "list codecs", "list codecs --json",
                              "list fields", "list presets", "doctor", "doctor --json", "data list",
                              "codec canonical none", "codec inspect topk --shape 1,8,8"}) {
    INFO(command);
    const auto full = shell(std::string(command) + " > /dev/full");
    CHECK(full.status == 2);
    CHECK_THAT(full.output, Contains("standard output cannot be written: No space left on device"));
    const auto closed = shell(std::string(command) + " >&-");
    CHECK(closed.status == 2);
    CHECK_THAT(closed.output, Contains("standard output cannot be written: Bad file descriptor"));
  }
  const auto early = shell("list codecs --json | head -c 1");
  CHECK(early.status == 0);
  CHECK(early.output == "{");
}

TEST_CASE("a command line that lacks something says what to write") {
  const auto tersor = [](std::vector<std::string> words) {
    words.insert(words.begin(), TERSOR_PROGRAM);
    return run_program(words);
  };
  CHECK(tersor({"help"}).output == tersor({"--help"}).output);
  CHECK(tersor({"help", "codec", "inspect"}).output ==
        tersor({"codec", "inspect", "--help"}).output);
  CHECK_THAT(tersor({"show"}).output, Contains("runs, accuracy, speed or traffic"));
  CHECK_THAT(tersor({"show", "--db", "a b.db"}).output, Contains("show runs --db 'a b.db'"));
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"import", "x.json", "--db", ""},
                                             {"query", "select 1", "--db", ""},
                                             {"run", "smoke", "--db", ""},
                                             {"report", "--db", "", "--out", "r"},
                                             {"report", "--db", "a.db", "--out", ""}}) {
    const auto refused = tersor(words);
    CHECK(refused.status == 2);
    CHECK_THAT(refused.output, Contains("--db") || Contains("--out"));
    CHECK_THAT(refused.output, Contains("is empty"));
  }
  const auto filter =
      tersor({"run", "smoke", "--db", "/tmp/none.db", "--dry-run", "--filter", "codec=topk"});
  CHECK_THAT(filter.output, Contains("did you mean 'compressor'?"));
}

TEST_CASE("a matrix is read from a pipe, and what is none is named") {
  const auto shell = [](const std::string& line) { return run_program({"/bin/sh", "-c", line}); };
  const std::string text =
      R"({"name": "m", "matrix": {"compressor": ["none"], "hardware": ["cpu-emulated-tp2"], "seed": [1]}})";
  for (const char* source : {"-", "/dev/stdin"})
    CHECK_THAT(shell("echo '" + text + "' | " + TERSOR_PROGRAM + " run " + source +
                     " --db /tmp/none.db --dry-run")
                   .output,
               Contains("1 run"));
  const auto refused = [&](const std::string& matrix, const char* why) {
    const auto done =
        shell("echo '" + matrix + "' | " + TERSOR_PROGRAM + " run - --db /tmp/none.db --dry-run");
    CHECK(done.status == 2);
    CHECK_THAT(done.output, Contains(why));
  };
  refused(R"({"name": "m", "presets": {"p": 1}, "matrix": {}})", "/dev/stdin:1:32: preset 'p'");
  refused(R"({"name": "m", "matrix": {"learning_rate": [1e400]}})",
          "/dev/stdin:1:44: the number 1e400");
  const auto folder =
      run_program({TERSOR_PROGRAM, "run", "/tmp", "--db", "/tmp/none.db", "--dry-run"});
  CHECK_THAT(folder.output, Contains("/tmp: is a folder"));
  CHECK_THAT(run_program({TERSOR_PROGRAM, "run", "/dev/zero", "--db", "/tmp/none.db"}).output,
             Contains("at most"));
}

#ifndef __SANITIZE_ADDRESS__  // it needs terabytes of addresses
TEST_CASE("memory that runs out, in whatever moment, is said and no defect") {
  for (const int kibibytes : {80'000, 100'000, 120'000, 140'000}) {
    const auto done = run_program(
        {"/bin/sh", "-c",
         "(echo '{\"context\": {}, \"benchmarks\": ['; yes '{\"name\": \"x\"},' | head -600000; "
         "echo '{}]}') | (ulimit -v " +
             std::to_string(kibibytes) + "; " + TERSOR_PROGRAM +
             " import /dev/stdin --db /tmp/none.db)"});
    INFO(kibibytes);
    CHECK(done.status == 2);
    CHECK_THAT(done.output, Contains("out of memory") && Contains("ulimit -v"));
  }
}
#endif

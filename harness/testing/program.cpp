// SPDX-License-Identifier: Apache-2.0
#include "harness/testing/program.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>
#include <variant>

#include "results/query/format.hpp"

namespace tersor::harness::testing {
namespace {

namespace fs = std::filesystem;

pid_t spawn(const std::vector<std::string>& arguments,
            const std::map<std::string, std::string>& variables, int output) {
  const pid_t child = fork();
  if (child != 0) return child;
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  for (const char* name : {"TERSOR_DATA", "TERSOR_WEIGHTS"}) setenv(name, "", 1);
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

std::string read_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string text_of(const results::Value& value) {
  if (results::is_null(value)) return "null";
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return results::exact_number(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return "blob";
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& arguments,
                          const std::map<std::string, std::string>& variables) {
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  const pid_t child = spawn(arguments, variables, ends[1]);
  close(ends[1]);
  ProgramResult result;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    result.output.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  rusage used{};
  REQUIRE(wait4(child, &status, 0, &used) == child);
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  for (const timeval& part : {used.ru_utime, used.ru_stime})
    result.cpu_seconds +=
        static_cast<double>(part.tv_sec) + static_cast<double>(part.tv_usec) / 1e6;
  return result;
}

Workplace::Workplace() {
  std::string name = (fs::temp_directory_path() / "tersor-harness-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()) != nullptr);
  folder_ = name;
}

Workplace::~Workplace() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

fs::path Workplace::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
  return path(name);
}

fs::path Workplace::write_matrix(const std::string& seeds, const std::string& hardware) const {
  return write("matrix.json",
               "{\"name\": \"m\", \"matrix\": {\"compressor\": \"cast\", "
               "\"hardware\": [" +
                   hardware + "], \"seed\": [" + seeds + "]}}");
}

std::vector<std::string> Workplace::command(const std::vector<std::string>& more) const {
  std::vector<std::string> all{TERSOR_PROGRAM, "run", path("matrix.json").string(), "--db",
                               path("results.db").string()};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

ProgramResult Workplace::run(const std::string& fake, const std::vector<std::string>& more) const {
  return run_program(command(more), {{"TERSOR_WORKER", TERSOR_FAKE_WORKER}, {"TERSOR_FAKE", fake}});
}

pid_t Workplace::start(const std::string& fake, const std::vector<std::string>& more,
                       std::map<std::string, std::string> variables) const {
  constexpr int kReadableByAll = 0644;
  const int log =
      open(path("log").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kReadableByAll);
  variables.insert({{"TERSOR_WORKER", TERSOR_FAKE_WORKER}, {"TERSOR_FAKE", fake}});
  const pid_t child = spawn(command(more), variables, log);
  close(log);
  return child;
}

int Workplace::wait(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::vector<std::string> Workplace::query(const std::string& sql) const {
  results::Reader reader(path("results.db"));
  std::vector<std::string> lines;
  for (const auto& row : reader.query(sql).rows) {
    std::string line;
    for (const auto& value : row) line.append(line.empty() ? "" : " | ").append(text_of(value));
    lines.push_back(line);
  }
  return lines;
}

std::vector<pid_t> Workplace::processes() const {
  std::vector<pid_t> found;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (!std::isdigit(static_cast<unsigned char>(name[0]))) continue;
    if (read_text(entry->path() / "cmdline").find(folder_.string()) != std::string::npos)
      found.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return found;
}

void Workplace::wait_for(const std::function<bool()>& condition, const std::string& what) {
  INFO("waiting for " << what);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

bool Workplace::has_steps() const {
  std::error_code error;
  const fs::path runs = path("results.db.runs");
  for (fs::recursive_directory_iterator entry(runs, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename() == "rank1.jsonl" &&
        read_text(entry->path()).find("\"step\"") != std::string::npos)
      return true;
  return false;
}

}  // namespace tersor::harness::testing

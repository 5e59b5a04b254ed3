// SPDX-License-Identifier: Apache-2.0
#include "common/log.hpp"

#include <cstdio>
#include <mutex>
#include <utility>

#include "common/printable.hpp"
#include "common/standard_output.hpp"

namespace tersor {
namespace {

struct Settings {
  std::mutex mutex;
  std::string name = "tersor";
  LogLevel least = LogLevel::kNote;
  std::function<void(std::string_view)> writer;
};

Settings& settings() {
  static Settings instance;
  return instance;
}

std::string prefix_of(LogLevel level, const std::string& name) {
  if (level == LogLevel::kError) return name + ": ";
  return level == LogLevel::kWarning ? "warning: " : "note: ";
}

}  // namespace

void log_line(LogLevel level, std::string_view message) noexcept try {
  Settings& now = settings();
  const std::lock_guard lock(now.mutex);
  if (level < now.least) return;
  const std::string line = prefix_of(level, now.name) + printable(message);
  if (now.writer) return now.writer(line);
  flush_standard_output();
  std::fprintf(stderr, "%s\n", line.c_str());
} catch (...) {
  std::fputs("tersor: a message could not be written\n", stderr);
}

void set_log_name(std::string name) {
  const std::lock_guard lock(settings().mutex);
  settings().name = std::move(name);
}

void set_log_level(LogLevel least) {
  const std::lock_guard lock(settings().mutex);
  settings().least = least;
}

void set_log_writer(std::function<void(std::string_view line)> writer) {
  const std::lock_guard lock(settings().mutex);
  settings().writer = std::move(writer);
}

}  // namespace tersor

// SPDX-License-Identifier: Apache-2.0
#include "harness/run/console.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "common/standard_output.hpp"
#include "harness/run/duration_text.hpp"

namespace tersor::harness {
namespace {

void write_now(const std::string& text) {
  print_data(text);
  flush_standard_output();
}

}  // namespace

Console::Console() : is_terminal_(isatty(STDOUT_FILENO) == 1) {}
Console::~Console() { clear_live(); }

void Console::line(const std::string& text) {
  clear_live();
  write_now(text + "\n");
}

void Console::live(const std::string& head, const Progress& progress, double seconds,
                   const std::optional<double>& seconds_to_go) {
  if (!is_terminal_) return;
  std::string text = head;
  if (progress.steps > 0) {
    text += "  step " + std::to_string(progress.step) + "/" + std::to_string(progress.steps);
    if (progress.loss) {
      std::array<char, 32> loss{};
      std::snprintf(loss.data(), loss.size(), "  loss %.4f", *progress.loss);
      text += loss.data();
    }
  }
  text += "  " + duration_text(seconds);
  if (seconds_to_go) text += ", " + duration_text(*seconds_to_go) + " to go";
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 && text.size() >= size.ws_col)
    text.resize(size.ws_col - 1U);  // a wrapped line cannot be rewritten
  write_now("\r\033[K" + text);
  has_live_ = true;
}

void Console::clear_live() {
  if (!has_live_) return;
  write_now("\r\033[K");
  has_live_ = false;
}

std::string end_text(const std::optional<double>& seconds_to_go) {
  if (!seconds_to_go) return {};
  const std::time_t end =
      std::time(nullptr) + static_cast<std::time_t>(std::llround(*seconds_to_go));
  std::tm local{};
  localtime_r(&end, &local);
  std::array<char, 16> clock{};
  std::strftime(clock.data(), clock.size(), "%H:%M:%S", &local);
  return "  end at " + std::string(clock.data()) + " (in " + duration_text(*seconds_to_go) + ")";
}

}  // namespace tersor::harness

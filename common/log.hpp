// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace tersor {

/// What a program says beside its output, on standard error: one place for what it looks like, and
/// no formatting library in a header.
enum class LogLevel {
  kNote,     ///< worth knowing: "note: cut after 100 rows"
  kWarning,  ///< may be wrong: "warning: ..."
  kError     ///< the program's name in front: "tersor: ..."
};

/// Writes one line; control characters of the message are made visible (printable()). Standard
/// output is flushed first, so that a terminal shows both in order. Never throws: what cannot be
/// written is lost.
void log_line(LogLevel level, std::string_view message) noexcept;

/// In front of errors; "tersor" unless main says otherwise.
void set_log_name(std::string name);
/// Lines below `least` are dropped. All are written at first.
void set_log_level(LogLevel least);
/// Takes the lines instead of standard error, without their newline; empty: standard error again.
void set_log_writer(std::function<void(std::string_view line)> writer);

}  // namespace tersor

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "harness/run/spool_tail.hpp"

namespace tersor::harness {

/// What `tersor run` says on standard output, line by line. On a terminal the run in progress has a
/// line of its own that is rewritten in place; elsewhere only whole lines are written, each at
/// once.
class Console {
 public:
  Console();
  ~Console();

  void line(const std::string& text);
  /// The line in progress: "[3/27] LABEL  step 40/128  loss 0.512  12 s, 1 min 10 s to go".
  void live(const std::string& head, const Progress& progress, double seconds,
            const std::optional<double>& seconds_to_go);
  void clear_live();

 private:
  bool is_terminal_;
  bool has_live_ = false;
};

/// " ETA 14:05:10 (in 1 min 20 s)", or empty.
std::string end_text(const std::optional<double>& seconds_to_go);

}  // namespace tersor::harness

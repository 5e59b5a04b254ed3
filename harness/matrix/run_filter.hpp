// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <string>
#include <vector>

#include "harness/matrix/matrix.hpp"

namespace tersor::harness {

/// Chooses runs by expressions, all of which must hold: `key=value[,value..]` or
/// `key!=value[,value..]`. A key is `seed` or a cell's key (`compressor.tp.backward`, `hardware.tp`
/// reach inside); a value may have the wildcards * and ?; commas inside parentheses belong to a
/// codec spec, which is compared in its canonical form.
class RunFilter {
 public:
  /// Throws Error(kUsage) on a malformed expression or an unknown key, Error(kSpec) on a bad codec.
  explicit RunFilter(const std::vector<std::string>& expressions);

  bool empty() const { return terms_.empty(); }
  bool matches(const RunSpec& run) const;

 private:
  struct Term {
    std::string key;
    bool is_wanted = true;
    std::vector<std::string> patterns;
    std::set<std::string> presets;  ///< those of them that depend on the message
  };
  std::vector<Term> terms_;
};

}  // namespace tersor::harness

// SPDX-License-Identifier: Apache-2.0
#include "harness/matrix/run_filter.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <string_view>

#include "common/error.hpp"
#include "common/nearest.hpp"
#include "common/number.hpp"
#include "compressors/spec/registry.hpp"
#include "harness/matrix/message_spec.hpp"
#include "protocol/fields.hpp"

namespace tersor::harness {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts{""};
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// What a filter may name: the axes, and the fields inside `compressor` and `hardware`.
std::vector<std::string> known_keys() {
  std::vector<std::string> keys = axis_names();
  for (const protocol::Field& field : protocol::fields())
    if (!field.object.empty()) keys.push_back(field.path);
  return keys;
}

std::string value_of(const RunSpec& run, const std::string& key) {
  if (key == "seed") return std::to_string(run.seed);
  if (key == "compressor") return compressor_label(run.cell.compression.codecs);
  if (key == "hardware") return run.cell.hardware.name;
  const auto& fields = protocol::fields();
  const auto field = std::find_if(fields.begin(), fields.end(),
                                  [&](const protocol::Field& one) { return one.path == key; });
  return plain_text(field->get(run.cell));
}

/// Wildcards, or one number in another spelling ("1e-6" and "0.000001", "1" and "1.0"); whole
/// numbers have one, and seeds are larger than a double tells apart.
bool is_match(const std::string& pattern, const std::string& value) {
  if (fnmatch(pattern.c_str(), value.c_str(), 0) == 0) return true;
  const auto is_whole = [](const std::string& text) {
    return text.find_first_not_of("0123456789") == std::string::npos;
  };
  if (is_whole(pattern) && is_whole(value)) return false;
  const auto wanted = parse_real(pattern);
  return wanted && wanted == parse_real(value);
}

}  // namespace

RunFilter::RunFilter(const std::vector<std::string>& expressions) {
  static const std::vector<std::string> keys = known_keys();
  for (const std::string& expression : expressions) {
    const auto equals = expression.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(ErrorKind::kUsage, "--filter '" + expression +
                                         "' is not key=value[,value..] or key!=value[,value..], "
                                         "e.g. 'compressor=topk*' or 'seed!=3'");
    Term term;
    term.is_wanted = expression[equals - 1] != '!';
    term.key = expression.substr(0, term.is_wanted ? equals : equals - 1);
    if (std::find(keys.begin(), keys.end(), term.key) == keys.end())
      throw Error(ErrorKind::kUsage, "--filter '" + expression + "': unknown key '" + term.key +
                                         "'" + unknown_key_hint(term.key, keys));
    term.patterns = split(std::string_view(expression).substr(equals + 1));
    if (term.key.rfind("compressor", 0) == 0) {
      for (std::string& pattern : term.patterns) {
        if (pattern.find_first_of("*?") != std::string::npos) continue;
        pattern = axis_spec(pattern);
        if (compressors::depends_on_message(pattern)) term.presets.insert(pattern);
      }
    }
    terms_.push_back(std::move(term));
  }
}

bool RunFilter::matches(const RunSpec& run) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    const std::string value = value_of(run, term.key);
    const bool is_found =
        std::any_of(term.patterns.begin(), term.patterns.end(), [&](const std::string& pattern) {
          return term.presets.contains(pattern) ? spec_in(run.cell, pattern) == value
                                                : is_match(pattern, value);
        });
    return is_found == term.is_wanted;
  });
}

}  // namespace tersor::harness

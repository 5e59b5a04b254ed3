// SPDX-License-Identifier: Apache-2.0
#include "workloads/layers/layer_set.hpp"

#include <string>

#include "common/error.hpp"
#include "common/number.hpp"

namespace tersor::workloads {
namespace {

[[noreturn]] void fail(std::string_view text, const std::string& why) {
  throw Error(ErrorKind::kUsage, "layers '" + std::string(text) + "': " + why);
}

std::vector<bool> range(std::int64_t layers, std::int64_t begin, std::int64_t end) {
  std::vector<bool> chosen(static_cast<std::size_t>(layers), false);
  for (std::int64_t i = begin; i < end; ++i) chosen[static_cast<std::size_t>(i)] = true;
  return chosen;
}

}  // namespace

std::vector<bool> parse_layers(std::string_view text, std::int64_t layers) {
  if (text == "all") return range(layers, 0, layers);
  if (text == "none") return range(layers, 0, 0);
  const bool is_last = text.starts_with("last:");
  if (is_last || text.starts_with("first:")) {
    const auto count = parse_whole_number(text.substr(text.find(':') + 1));
    if (!count) fail(text, "expected a whole number after ':'");
    if (*count > layers) fail(text, "the model has " + std::to_string(layers) + " layers");
    return is_last ? range(layers, layers - *count, layers) : range(layers, 0, *count);
  }
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto begin = parse_whole_number(text.substr(0, dash));
    const auto end = parse_whole_number(text.substr(dash + 1));
    if (begin && end) {
      if (*begin > *end) fail(text, "the first layer is above the last");
      if (*end >= layers) fail(text, "the model's layers are 0 to " + std::to_string(layers - 1));
      return range(layers, *begin, *end + 1);
    }
  }
  fail(text, "expected all, none, last:N, first:N or A-B (layers from 0, both ends included)");
}

std::int64_t parse_warmup(std::string_view text, std::int64_t steps_per_epoch) {
  std::string_view number = text.substr(0, text.find(' '));
  const std::string_view unit =
      number.size() < text.size() ? text.substr(number.size() + 1) : "steps";
  const auto count = parse_whole_number(number);
  const bool is_epochs = unit == "epochs" || unit == "epoch";
  if (!count || !(is_epochs || unit == "steps" || unit == "step"))
    throw Error(ErrorKind::kUsage, "warmup '" + std::string(text) +
                                       "': expected a number of steps (\"20\") or \"N epochs\"");
  return is_epochs ? *count * steps_per_epoch : *count;
}

}  // namespace tersor::workloads

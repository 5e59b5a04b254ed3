// SPDX-License-Identifier: Apache-2.0
#include "protocol/choices.hpp"

#include <algorithm>
#include <numeric>

#include "common/error.hpp"
#include "common/number.hpp"

namespace tersor::protocol {
namespace {

using Kind = LayerChoice::Kind;

constexpr std::int64_t kMostLayers = 10000;

[[noreturn]] void fail(std::string_view field, std::string_view text, const std::string& why) {
  throw Error(ErrorKind::kUsage, std::string(field) + " '" + std::string(text) + "'" + why);
}

}  // namespace

LayerChoice parse_layers(std::string_view text) {
  constexpr std::string_view kForms = " is not all, none, last:N, first:N or A-B";
  if (text == "all") return {Kind::kAll};
  if (text == "none") return {Kind::kNone};
  if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    const std::string_view side = text.substr(0, colon);
    const auto count = parse_whole_number(text.substr(colon + 1));
    if ((side != "last" && side != "first") || !count) fail("layers", text, std::string(kForms));
    if (*count < 1 || *count > kMostLayers)
      fail("layers", text, ": " + std::to_string(*count) + " not in [1, 10000]");
    return {side == "last" ? Kind::kLast : Kind::kFirst, *count};
  }
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) fail("layers", text, std::string(kForms));
  const auto begin = parse_whole_number(text.substr(0, dash));
  const auto last = parse_whole_number(text.substr(dash + 1));
  if (!begin || !last) fail("layers", text, std::string(kForms));
  if (*begin > *last || *last > kMostLayers)
    fail("layers", text, ": needs A <= B <= 10000 (zero-based, inclusive)");
  return {Kind::kRange, 0, *begin, *last};
}

WarmupChoice parse_warmup(std::string_view text) {
  const auto blank = text.find(' ');
  const auto count = parse_whole_number(text.substr(0, blank));
  const std::string_view unit = blank == std::string_view::npos ? "steps" : text.substr(blank + 1);
  const bool is_epochs = unit == "epochs" || unit == "epoch";
  if (!count || (!is_epochs && unit != "steps" && unit != "step"))
    fail("warmup", text, " is not \"N\" (steps) or \"N epochs\"");
  return {*count, is_epochs};
}

std::vector<std::int64_t> parse_partition(std::string_view text) {
  if (text == "even") return {};
  std::vector<std::int64_t> blocks;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('+', begin), text.size());
    const auto count = parse_whole_number(text.substr(begin, end - begin));
    if (!count)
      fail("partition", text, " is neither even nor the blocks of each stage, such as 4+2");
    if (*count < 1 || *count > kMostLayers)
      fail("partition", text, ": " + std::to_string(*count) + " not in [1, 10000]");
    blocks.push_back(*count);
    begin = end + 1;
  }
  return blocks;
}

std::string text_of(const LayerChoice& layers) {
  switch (layers.kind) {
    case Kind::kAll: return "all";
    case Kind::kNone: return "none";
    case Kind::kFirst: return "first:" + std::to_string(layers.count);
    case Kind::kLast: return "last:" + std::to_string(layers.count);
    case Kind::kRange: break;
  }
  return std::to_string(layers.begin) + "-" + std::to_string(layers.last);
}

std::string text_of(const WarmupChoice& warmup) {
  return std::to_string(warmup.count) + (warmup.is_epochs && warmup.count > 0 ? " epochs" : "");
}

std::string text_of_partition(const std::vector<std::int64_t>& blocks) {
  if (blocks.empty()) return "even";
  std::string text;
  for (const std::int64_t count : blocks) {
    if (!text.empty()) text += '+';
    text += std::to_string(count);
  }
  return text;
}

std::vector<std::int64_t> blocks_of_stages(std::string_view partition, std::int64_t blocks,
                                           int stages) {
  const auto refuse = [&](const std::string& why) {
    fail("partition", partition,
         " of " + std::to_string(blocks) + " blocks over " + std::to_string(stages) +
             " stages: " + why);
  };
  std::vector<std::int64_t> counts = parse_partition(partition);
  if (counts.empty()) {
    if (blocks < stages) refuse("every stage needs a block");
    for (int stage = 0; stage < stages; ++stage)
      counts.push_back(blocks / stages + (stage < blocks % stages ? 1 : 0));
  }
  if (std::ssize(counts) != stages)
    refuse("it has " + std::to_string(counts.size()) + " numbers, one for each stage is needed");
  const std::int64_t sum = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (sum != blocks) refuse("its sum is " + std::to_string(sum));
  return counts;
}

}  // namespace tersor::protocol

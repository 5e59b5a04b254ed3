// SPDX-License-Identifier: Apache-2.0
#include "protocol/choices.hpp"

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

}  // namespace tersor::protocol

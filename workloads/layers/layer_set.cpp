// SPDX-License-Identifier: Apache-2.0
#include "workloads/layers/layer_set.hpp"

#include <string>

#include "common/error.hpp"
#include "protocol/choices.hpp"

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

std::vector<bool> layers_of(std::string_view text, std::int64_t layers) {
  using Kind = protocol::LayerChoice::Kind;
  const protocol::LayerChoice choice = protocol::parse_layers(text);
  if (choice.count > layers) fail(text, "the model has " + std::to_string(layers) + " layers");
  switch (choice.kind) {
    case Kind::kAll: return range(layers, 0, layers);
    case Kind::kNone: return range(layers, 0, 0);
    case Kind::kFirst: return range(layers, 0, choice.count);
    case Kind::kLast: return range(layers, layers - choice.count, layers);
    case Kind::kRange: break;
  }
  if (choice.last >= layers)
    fail(text, "the model's layers are 0 to " + std::to_string(layers - 1));
  return range(layers, choice.begin, choice.last + 1);
}

std::int64_t warmup_steps(std::string_view text, std::int64_t steps_per_epoch) {
  const protocol::WarmupChoice choice = protocol::parse_warmup(text);
  return choice.is_epochs ? choice.count * steps_per_epoch : choice.count;
}

}  // namespace tersor::workloads

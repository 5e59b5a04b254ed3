// SPDX-License-Identifier: Apache-2.0
#include "workloads/messages/site_numbers.hpp"

#include <string>

#include "common/error.hpp"

namespace tersor::workloads {
namespace {

constexpr std::int64_t kFirstBoundary = 0x8000;

void check(const char* what, std::int64_t index, std::int64_t limit) {
  if (index < 0 || index >= limit)
    throw Error(ErrorKind::kUsage, std::string(what) + " " + std::to_string(index) +
                                       " not in [0, " + std::to_string(limit) +
                                       "): sites have numbers of 16 bits");
}

}  // namespace

std::uint16_t attention_site(std::int64_t layer) {
  check("layer", layer, kMaxLayers);
  return static_cast<std::uint16_t>(2 * layer);
}

std::uint16_t mlp_site(std::int64_t layer) {
  check("layer", layer, kMaxLayers);
  return static_cast<std::uint16_t>(2 * layer + 1);
}

std::uint16_t boundary_site(std::int64_t block) {
  check("block", block, kTiedEmbeddingSite - kFirstBoundary);
  return static_cast<std::uint16_t>(kFirstBoundary + block);
}

}  // namespace tersor::workloads

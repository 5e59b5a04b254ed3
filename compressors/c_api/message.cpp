// SPDX-License-Identifier: Apache-2.0
#include "compressors/c_api/message.hpp"

#include <algorithm>
#include <cstring>

#include "common/error.hpp"

namespace tersor::compressors {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 56;

void expect(bool condition, const std::string& message) {
  if (!condition) throw Error(ErrorKind::kUsage, "message: " + message);
}

void check_shape(const Shape& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t size : {shape.samples, shape.tokens, shape.hidden}) {
    expect(size >= 0 && size <= kMostElements, "a size is negative or above 2^56");
    if (size == 0) continue;
    expect(elements <= kMostElements / size, "more than 2^56 elements");
    elements *= size;
  }
}

}  // namespace

MessageParts message_parts(const tersor_message* message) {
  expect(message != nullptr, "null");
  std::size_t given = 0;
  std::memcpy(&given, message, sizeof given);
  constexpr std::size_t kLeast = offsetof(tersor_message, phase);
  expect(given >= kLeast,
         "struct_size " + std::to_string(given) + " is less than " + std::to_string(kLeast));
  tersor_message m{};
  std::memcpy(&m, message, std::min(given, sizeof m));
  MessageParts parts;
  parts.shape = {m.samples, m.tokens, m.hidden};
  check_shape(parts.shape);
  expect(m.dtype <= 2, "dtype " + std::to_string(m.dtype) + " is not 0, 1 or 2");
  expect(m.phase <= 1, "phase " + std::to_string(m.phase) + " is not 0 or 1");
  expect(m.direction <= 1, "direction " + std::to_string(m.direction) + " is not 0 or 1");
  parts.dtype = static_cast<DType>(m.dtype);
  Context& context = parts.context;
  context.seed = m.seed;
  context.step = m.step;
  context.call = m.call;
  context.site = m.site;
  context.phase = static_cast<Phase>(m.phase);
  context.direction = static_cast<Direction>(m.direction);
  context.rank = m.rank;
  context.ranks = std::max(1u, m.ranks);
  expect(context.ranks <= 65536 && context.rank < context.ranks,
         "rank " + std::to_string(m.rank) + " of " + std::to_string(m.ranks));
  expect(m.threads <= 1024, std::to_string(m.threads) + " threads");
  context.threads = static_cast<int>(std::max(1u, m.threads));
  expect(m.sample_id_count == 0 ||
             (m.sample_ids != nullptr && m.sample_id_count == static_cast<std::size_t>(m.samples)),
         std::to_string(m.sample_id_count) + " sample ids for " + std::to_string(m.samples) +
             " samples");
  context.sample_ids = {m.sample_ids, m.sample_id_count};
  context.workspace = {static_cast<std::byte*>(m.workspace),
                       m.workspace == nullptr ? 0 : m.workspace_bytes};
  context.element_offset = m.element_offset;
  context.second_round = m.second_round != 0;
  return parts;
}

tersor_message c_message(const Shape& shape, DType dtype, const Context& context) {
  tersor_message m{};
  m.struct_size = sizeof m;
  m.samples = shape.samples;
  m.tokens = shape.tokens;
  m.hidden = shape.hidden;
  m.dtype = static_cast<std::uint32_t>(dtype);
  m.phase = static_cast<std::uint32_t>(context.phase);
  m.seed = context.seed;
  m.step = context.step;
  m.call = context.call;
  m.site = context.site;
  m.direction = static_cast<std::uint32_t>(context.direction);
  m.rank = context.rank;
  m.ranks = context.ranks;
  m.threads = static_cast<std::uint32_t>(context.threads);
  m.sample_ids = context.sample_ids.data();
  m.sample_id_count = context.sample_ids.size();
  m.element_offset = context.element_offset;
  m.second_round = context.second_round ? 1 : 0;
  return m;
}

}  // namespace tersor::compressors

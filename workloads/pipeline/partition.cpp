// SPDX-License-Identifier: Apache-2.0
#include "workloads/pipeline/partition.hpp"

#include "protocol/choices.hpp"

namespace tersor::workloads {

std::vector<BlockRange> split_blocks(std::int64_t blocks, int stages, std::string_view partition) {
  std::vector<BlockRange> ranges;
  std::int64_t first = 0;
  for (const std::int64_t count : protocol::blocks_of_stages(partition, blocks, stages)) {
    ranges.push_back({first, first + count});
    first += count;
  }
  return ranges;
}

}  // namespace tersor::workloads

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tersor::protocol {

/// The field `layers`: which layers of a model are compressed, whatever their number is.
struct LayerChoice {
  enum class Kind { kAll, kNone, kFirst, kLast, kRange };
  Kind kind = Kind::kAll;
  std::int64_t count = 0;  ///< of kFirst and kLast
  std::int64_t begin = 0;  ///< of kRange, from 0
  std::int64_t last = 0;   ///< of kRange, inclusive
};

/// The field `warmup`: how long nothing is compressed at first.
struct WarmupChoice {
  std::int64_t count = 0;
  bool is_epochs = false;  ///< else steps
};

/// `all | none | last:N | first:N | A-B`. Throws Error(kUsage) on another form, N or B beyond
/// 10,000 and A > B.
LayerChoice parse_layers(std::string_view text);
/// "N", "N steps" or "N epochs". Throws Error(kUsage) on another form.
WarmupChoice parse_warmup(std::string_view text);

/// "even", or the blocks of each stage of a pipeline, "4+2"; empty: even. Throws Error(kUsage) on
/// another form, and where a stage has none.
std::vector<std::int64_t> parse_partition(std::string_view text);

/// The form in which a cell is hashed: no leading zeros, "0" for no warmup of either unit.
std::string text_of(const LayerChoice& layers);
std::string text_of(const WarmupChoice& warmup);
std::string text_of_partition(const std::vector<std::int64_t>& blocks);

/// The blocks of each stage of a model of `blocks`. Even: where blocks are left over, one more for
/// each of the first stages. Throws Error(kUsage) as parse_partition, and where the numbers are not
/// one for each stage or do not add up.
std::vector<std::int64_t> blocks_of_stages(std::string_view partition, std::int64_t blocks,
                                           int stages);

}  // namespace tersor::protocol

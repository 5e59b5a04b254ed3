// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "datasets/dataset.hpp"

namespace tersor::datasets {

/// Whether a data set's name is the path of a corpus: it has a '/', or ends in .txt, .tokens, .npy
/// or .bin.
bool is_corpus_file(std::string_view name);

/// The corpus in a file, made at the first call for its name and kept as long as the program runs.
/// Text is UTF-8. Token ids: a .npy of one dimension, uint16, uint32 or int32, or a .bin of llm.c:
/// 256 little-endian int32, of which 0 is 20240520 (uint16 ids follow) or 20240801 (uint32), 1 the
/// version, 2 the number of ids. A file without this header is refused: it does not tell how wide
/// its ids are.
///
/// The file has no splits: the lines that begin in its first 90 % of bytes are train, those that
/// begin in the next 5 % dev, the rest test (ids: floor(0.9 n), floor(0.95 n) in the same way).
const DatasetInfo& corpus_file(std::string_view path);

}  // namespace tersor::datasets

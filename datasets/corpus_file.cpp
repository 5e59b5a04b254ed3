// SPDX-License-Identifier: Apache-2.0
#include "datasets/corpus_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>

#include "common/error.hpp"
#include "common/mapped_file.hpp"
#include "common/npy.hpp"
#include "datasets/corpus.hpp"

namespace tersor::datasets {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeaderWords = 256;  // of llm.c's .bin
constexpr std::uint32_t kMagic16 = 20240520;
constexpr std::uint32_t kMagic32 = 20240801;
constexpr std::size_t kRun = std::size_t{1} << 16;  // ids handed over at once

/// Where the ids of a token file are.
struct TokenFile {
  std::size_t offset = 0;
  std::size_t width = 0;  ///< bytes
  std::size_t count = 0;
};

std::uint32_t read_word(std::span<const std::byte> file, std::size_t at, std::size_t width) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < width; ++i)
    value |= std::to_integer<std::uint32_t>(file[at + i]) << (8 * i);
  return value;
}

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  throw Error(ErrorKind::kData, name + ": " + what);
}

TokenFile npy_tokens(std::span<const std::byte> file, const std::string& name) {
  const NpyHeader header = parse_npy_header(file, name);
  const std::size_t width = header.descr == "<u2"                            ? 2
                            : header.descr == "<u4" || header.descr == "<i4" ? 4
                                                                             : 0;
  if (width == 0 || header.dims.size() != 1)
    fail(name, "dtype '" + header.descr + "' of " + std::to_string(header.dims.size()) +
                   " dimensions; token ids are one dimension of uint16, uint32 or int32: save "
                   "array.astype('<u2').ravel()");
  return {header.data_offset, width, static_cast<std::size_t>(header.dims[0])};
}

TokenFile bin_tokens(std::span<const std::byte> file, const std::string& name) {
  const std::size_t header = kHeaderWords * 4;
  const std::uint32_t magic = file.size() < header ? 0 : read_word(file, 0, 4);
  if (magic != kMagic16 && magic != kMagic32)
    fail(name,
         "no header of llm.c (256 int32, the first 20240520 for uint16 ids or 20240801 for "
         "uint32), so that nothing tells how wide its ids are; write one, or save a .npy");
  return {header, magic == kMagic16 ? std::size_t{2} : 4, read_word(file, 8, 4)};
}

TokenFile describe(std::span<const std::byte> file, const std::string& name) {
  const bool is_npy = name.ends_with(".npy");
  const TokenFile facts = is_npy ? npy_tokens(file, name) : bin_tokens(file, name);
  if (facts.count != (file.size() - facts.offset) / facts.width ||
      (file.size() - facts.offset) % facts.width != 0)
    fail(name, "its header tells " + std::to_string(facts.count) + " ids of " +
                   std::to_string(facts.width) + " bytes, " +
                   std::to_string(file.size() - facts.offset) + " bytes follow: cut short?");
  return facts;
}

/// First and one past the last of a split among `count` bytes or ids.
std::array<std::size_t, 2> share(std::size_t count, SplitName split) {
  const std::size_t train = count / 10 * 9 + count % 10 * 9 / 10;
  const std::size_t dev = count / 20 * 19 + count % 20 * 19 / 20;
  if (split == SplitName::kTrain) return {0, train};
  return split == SplitName::kDev ? std::array{train, dev} : std::array{dev, count};
}

fs::path found(const DatasetInfo& info, const fs::path& root) {
  const fs::path path = root / info.files.front().path;
  if (const Availability state = available(info, root); !state.available)
    throw Error(ErrorKind::kMissing,
                "data set " + info.name + ": no file " + path.string() + "; " + state.remedy);
  return path;
}

void read_tokens(const DatasetInfo& info, const fs::path& root, SplitName split,
                 const TokenUse& use) {
  const fs::path path = found(info, root);
  const MappedFile file(path);
  const TokenFile facts = describe(file.bytes(), path.string());
  const auto [begin, end] = share(facts.count, split);
  std::vector<std::int32_t> ids;
  for (std::size_t at = begin; at < end; at += ids.size()) {
    ids.clear();
    for (std::size_t i = at; i < std::min(end, at + kRun); ++i) {
      const std::uint32_t id = read_word(file.bytes(), facts.offset + i * facts.width, facts.width);
      if (id >> 31 != 0)
        fail(path.string(), "id " + std::to_string(i) + " is no token: " + std::to_string(id) +
                                " is 2^31 or more");
      ids.push_back(static_cast<std::int32_t>(id));
    }
    if (!use(ids)) return;
  }
}

/// The lines of the whole file, of which those that begin in the split are handed on.
void read_lines(const DatasetInfo& info, const fs::path& root, SplitName split,
                const LineUse& use) {
  const auto [begin, end] = share(fs::file_size(found(info, root)), split);
  std::size_t at = 0;
  file_lines()(info, root, split, [&, begin = begin, end = end](std::string_view line) {
    const std::size_t first = at;
    at += line.size();
    if (first < begin) return true;
    return first < end && use(line) && at < end;
  });
}

DatasetInfo describe_file(const std::string& path) {
  DatasetInfo info;
  info.name = path;
  info.title = "the corpus in this file";
  info.source = "a file of the user's";
  info.url = path;
  info.licence = "the file's";
  info.subset_rule =
      "the file's first 90 % are train, the next 5 % dev, the rest test; the first N tokens of "
      "each";
  info.metrics = {"perplexity"};
  for (const SplitName split : {SplitName::kTrain, SplitName::kDev, SplitName::kTest})
    info.files.push_back({split, path, 0, ""});
  const bool is_text = !path.ends_with(".npy") && !path.ends_with(".bin");
  info.content = is_text ? Content::kText : Content::kTokens;
  if (is_text)
    info.lines = read_lines;
  else
    info.tokens = read_tokens;
  return info;
}

}  // namespace

bool is_corpus_file(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".txt") ||
         name.ends_with(".tokens") || name.ends_with(".npy") || name.ends_with(".bin");
}

const DatasetInfo& corpus_file(std::string_view path) {
  static std::mutex mutex;
  static std::map<std::string, DatasetInfo, std::less<>> known;
  const std::scoped_lock lock(mutex);
  const auto found = known.find(path);
  if (found != known.end()) return found->second;
  return known.emplace(path, describe_file(std::string(path))).first->second;
}

}  // namespace tersor::datasets

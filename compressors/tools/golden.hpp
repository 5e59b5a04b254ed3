// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compressors/api/codec.hpp"

namespace tersor::compressors {

/// How one group of a golden folder (cases by kind, streams, canonical forms, ..) came out.
struct GoldenCount {
  int equal = 0;
  int skipped = 0;  ///< the codec is not in this build
  int different = 0;
  int all() const { return equal + skipped + different; }
};

struct GoldenReport {
  std::map<std::string, GoldenCount>
      groups;  ///< message, sum, twostep, streams, xxh64_low, canonical, refused
  std::map<std::string, int> skipped_codecs;  ///< name -> cases skipped for want of it
  std::vector<std::string> differences;  ///< "case: what, byte offset, expected, got", in order

  GoldenCount total() const;
};

struct GoldenOptions {
  int threads = 1;
  std::string filter;  ///< only cases whose name contains it
  /// Gives what runs in a codec's place (on_device.hpp); empty: the codec itself.
  std::function<std::shared_ptr<const Codec>(std::shared_ptr<const Codec>)> place;
};

/// Runs every case of a golden folder: manifest.json with `format` 1, inputs as .npy, payload
/// files. Messages carry the state of sender and receiver on; `sum` and `twostep` run whole
/// collectives in memory. Throws Error(kMissing, kData) where the folder or its manifest is not
/// there or malformed; a difference is no exception.
GoldenReport check_golden(const std::filesystem::path& folder, const GoldenOptions& options = {});

}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "protocol/cell.hpp"

namespace tersor::harness {

/// A named place where cells can run: one JSON file, keys `name` (as the file), `description` and
/// those of protocol::Hardware.
struct HardwareProfile {
  protocol::Hardware config;
  std::string description;
  std::string origin;  ///< the file, for messages
};

using HardwareProfiles = std::map<std::string, HardwareProfile>;

/// The profiles that the program carries and, where `own_profiles` is not empty, the *.json of that
/// folder, which may replace carried ones. Throws Error(kUsage) with file, line and column on a bad
/// file, Error(kMissing) where the folder is not there.
HardwareProfiles load_profiles(const std::filesystem::path& own_profiles = {});

/// Throws Error(kUsage) with the nearest and the known names.
const HardwareProfile& find_profile(const HardwareProfiles& profiles, const std::string& name);

}  // namespace tersor::harness

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
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

/// The profile `base` with other values of protocol::Hardware, checked ones. Its name, where
/// `changes` has none, says how it differs: "cpu-tp2-pp2" of "cpu". Throws Error(kUsage) where
/// there is no such base, and where the name is that of a profile with other values.
protocol::Hardware grid_on(const HardwareProfiles& profiles, const std::string& base,
                           const nlohmann::json& changes);

}  // namespace tersor::harness

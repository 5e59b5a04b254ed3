// SPDX-License-Identifier: Apache-2.0
#include "harness/hardware/profile.hpp"

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "common/nearest.hpp"
#include "harness/input/embedded.hpp"
#include "harness/input/json_text.hpp"
#include "protocol/fields.hpp"

namespace tersor::harness {
namespace {

HardwareProfile read_profile(const JsonText& file, const std::string& stem) {
  const auto& root = file.root();
  if (!root.is_object()) file.fail("", "a hardware profile is a JSON object");
  HardwareProfile profile;
  profile.origin = file.origin();
  nlohmann::json config = root;
  if (const auto found = config.find("description"); found != config.end()) {
    if (!found->is_string()) file.fail("/description", "description must be a string");
    profile.description = found->get<std::string>();
    config.erase(found);
  }
  // Key by key, so that a mistake is found where it stands.
  for (const auto& [key, value] : config.items()) {
    const nlohmann::json one{{"hardware", {{key, value}}}};
    try {
      (void)protocol::cell_from_json(one);
    } catch (const Error& error) {
      file.fail(JsonText::child("", key), error.what());
    }
  }
  // What a profile leaves out has its default, not the value from before the field existed.
  const protocol::Cell defaults;
  nlohmann::json whole = protocol::all_values(defaults).at("hardware");
  whole.update(config);
  profile.config = protocol::cell_from_json({{"hardware", whole}}).hardware;
  if (!config.contains("name") || profile.config.name != stem)
    file.fail("/name", "the name must be that of the file: '" + stem + "'");
  return profile;
}

}  // namespace

HardwareProfiles load_profiles(const std::filesystem::path& own_profiles) {
  HardwareProfiles profiles;
  for (const EmbeddedFile& file : embedded_files())
    if (file.group == "profiles")
      profiles[std::string(file.name)] = read_profile(
          JsonText(std::string(file.text), std::string(file.path)), std::string(file.name));
  if (own_profiles.empty()) return profiles;
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator entry(own_profiles, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".json") files.push_back(entry->path());
  if (error)
    throw Error(ErrorKind::kMissing, "--profiles " + own_profiles.string() + ": " +
                                         error.message() +
                                         "; give a folder of hardware profiles (NAME.json)");
  std::sort(files.begin(), files.end());
  for (const auto& file : files)
    profiles[file.stem().string()] = read_profile(JsonText::read(file), file.stem().string());
  return profiles;
}

const HardwareProfile& find_profile(const HardwareProfiles& profiles, const std::string& name) {
  if (const auto found = profiles.find(name); found != profiles.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, profile] : profiles) names.push_back(known);
  throw Error(ErrorKind::kUsage,
              "unknown hardware profile '" + name + "'" + known_names_hint(name, names));
}

protocol::Hardware grid_on(const HardwareProfiles& profiles, const std::string& base,
                           const nlohmann::json& changes) {
  protocol::Cell cell;
  cell.hardware = find_profile(profiles, base).config;
  nlohmann::json values = protocol::all_values(cell).at("hardware");
  std::string name = base;
  for (const protocol::Field& field : protocol::fields()) {
    if (field.object != "hardware" || !changes.contains(field.key)) continue;
    const nlohmann::json& value = changes.at(field.key);
    if (value != values.at(field.key)) {
      name += '-';
      name += value.is_string() ? value.get<std::string>() : field.key + value.dump();
    }
    values[field.key] = value;
  }
  if (!changes.contains("name")) values["name"] = name;
  cell.hardware = protocol::cell_from_json({{"hardware", values}}).hardware;
  const auto same = profiles.find(cell.hardware.name);
  if (same == profiles.end()) return cell.hardware;
  protocol::Cell known;
  known.hardware = same->second.config;
  if (protocol::all_values(known).at("hardware") != values)
    throw Error(ErrorKind::kUsage, "the grid on '" + base + "' has the name of the profile '" +
                                       cell.hardware.name +
                                       "', which has other values; give it a \"name\"");
  return cell.hardware;
}

}  // namespace tersor::harness

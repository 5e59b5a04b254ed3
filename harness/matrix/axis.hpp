// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/hardware/profile.hpp"
#include "harness/input/json_text.hpp"

namespace tersor::harness {

/// One checked value of an axis.
struct AxisValue {
  /// Canonical: what protocol::all_values has under the key, or the seed. Of a compressor that is
  /// one spec the site `pp` is null: sites_at() knows what it is.
  nlohmann::json value;
  std::string label;  ///< for people: a spec, a profile's name, the value itself
};

/// The key `seed`, or one of protocol::Cell's.
struct Axis {
  std::string key;
  std::vector<AxisValue> values;
};

/// Turns what a matrix file says into checked, canonical values. Every mistake is thrown as
/// Error(kUsage) with file, line and column.
class AxisReader {
 public:
  AxisReader(const JsonText& file, const HardwareProfiles& profiles);

  /// Names for codec specs (the file's own `presets`): a spec or an object of site and spec.
  void add_preset(const std::string& name, const std::string& pointer);

  /// Refuses a key that is no axis, at the member `pointer`.
  void check_key(const std::string& key, const std::string& pointer) const;

  /// How many values `read` would give for the scalar or array at `pointer`, without expanding.
  std::uint64_t count(const std::string& key, const std::string& pointer) const;
  /// The values of a scalar or array, sweeps `{a,b}` expanded; refuses an empty array and two equal
  /// values.
  Axis read(const std::string& key, const std::string& pointer) const;

 private:
  std::vector<AxisValue> read_one(const std::string& key, const std::string& pointer) const;
  protocol::Hardware read_hardware(const nlohmann::ordered_json& given,
                                   const std::string& pointer) const;
  std::vector<AxisValue> read_compressor(const nlohmann::ordered_json& given,
                                         const std::string& pointer) const;
  std::vector<std::string> read_specs(const nlohmann::ordered_json& given,
                                      const std::string& pointer) const;

  const JsonText& file_;
  const HardwareProfiles& profiles_;
  nlohmann::ordered_json presets_ = nlohmann::ordered_json::object();
};

/// The axes' names: `seed` and the keys of protocol::Cell.
const std::vector<std::string>& axis_names();

/// For the error of an unknown axis or field among `names`: what was meant, also where it was
/// called by a name of the results ("codec") or of other programs ("lr").
std::string unknown_key_hint(const std::string& key, const std::vector<std::string>& names);

/// The sites of a compressor in a grid of `stages`: one spec stands for `tp` and, where there is a
/// pipeline, for `pp`.
nlohmann::json sites_at(nlohmann::json compressor, int stages);

/// For people: the spec at `tp`, with `site=` before any other that is not `none`.
std::string compressor_label(const std::map<std::string, std::string>& compressor);

/// Text of a JSON value, strings without quotes.
std::string plain_text(const nlohmann::json& value);

}  // namespace tersor::harness

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/registry.hpp"
#include "compressors/api/codec.hpp"

namespace tersor::compressors {

/// One row of a codec's parameter table. Parsing, range checks, canonical printing, `tersor list
/// codecs` and the documents all come from it. Order = declared order of METHODS section 2.
struct Parameter {
  enum class Kind : std::uint8_t { kInteger, kReal, kChoice, kBoolean, kCodec };

  std::string name;
  Kind kind = Kind::kInteger;
  std::optional<std::string> default_text;  ///< as in a spec; nullopt: required unless is_optional
  bool is_optional = false;                 ///< may be absent without a default (`k`)
  double low = 0;  ///< kInteger, kReal: allowed range, inclusive unless low_is_open
  double high = 0;
  bool low_is_open = false;
  std::string instead_of{};  ///< parameter that may not be given beside this one (`ratio`, of `k`)
  std::vector<std::string> choices;  ///< kChoice; kCodec: words accepted besides a spec (`float32`)
  std::string meaning;               ///< one line for --help and the tables

  static Parameter integer(std::string name, std::optional<std::int64_t> default_value,
                           std::int64_t low, std::int64_t high, std::string meaning);
  static Parameter real(std::string name, std::string default_text, double low, double high,
                        bool low_is_open, std::string meaning);
  /// The first choice is the default unless `default_text` is given.
  static Parameter choice(std::string name, std::vector<std::string> choices, std::string meaning,
                          std::string default_text = "");
  static Parameter boolean(std::string name, bool default_value, std::string meaning);
  /// A wrapped codec: positional, printed without a key when `name` is "codec", "inner" or "outer".
  static Parameter codec(std::string name, std::string meaning);
  static Parameter optional_integer(std::string name, std::int64_t low, std::int64_t high,
                                    std::string meaning, std::string instead_of = "");
};

/// The checked arguments of one spec, defaults filled in. Getters throw Error(kInternal) on a name
/// or kind that the table does not have.
class Arguments {
 public:
  std::int64_t integer(std::string_view name) const;
  std::optional<std::int64_t> optional_integer(std::string_view name) const;
  double real(std::string_view name) const;
  const std::string& choice(
      std::string_view name) const;  ///< also the word given for a kCodec parameter
  bool boolean(std::string_view name) const;
  /// The wrapped codec; null where a kCodec parameter was given as a word.
  std::shared_ptr<const Codec> codec(std::string_view name) const;
  bool is_given(std::string_view name) const;
  /// Canonical form of the whole spec.
  const std::string& canonical() const { return canonical_; }

 private:
  friend class SpecBuilder;
  struct Value {
    std::string text;
    std::int64_t integer = 0;
    double real = 0;
    bool is_given = false;
    bool is_present = false;
    std::shared_ptr<const Codec> codec;
  };
  std::map<std::string, Value, std::less<>> values_;
  std::string canonical_;
};

/// A limit of speed that tersor-bench-gates holds, with a factor of two and more for noise.
struct SpeedGate {
  std::string operation;  ///< "encode" or "decode"
  std::string spec;
  double ratio = 0;  ///< of memcpy's time to the operation's, float32 [4096,1024], one thread
};

/// The parameter that says how strongly a codec compresses: tables show it where it has its default
/// too.
struct Strength {
  std::string parameter;
  /// Which values compress more; none where they have no order (names of formats).
  enum class Stronger : std::uint8_t { kNone, kLower, kHigher } stronger = Stronger::kLower;
};

/// What a codec's folder registers, by one object at the end of its .cpp.
struct CodecInfo {
  static constexpr std::string_view kKind = "codec";
  std::string name;
  int version = 1;        ///< raised when payload bytes change
  std::string summary{};  ///< one line
  std::string source{};   ///< paper and section, or standard
  std::vector<Parameter> parameters{};
  /// Builds the codec, and checks what the table cannot say (throws Error(kSpec)).
  std::function<std::shared_ptr<const Codec>(const Arguments&)> make{};
  /// Wrappers: why this (already built) inner codec is refused as parameter `parameter`; empty =
  /// allowed. Leaf codecs leave it unset. `inner_name` is the registered name of the inner codec.
  std::function<std::string(std::string_view parameter, std::string_view inner_name,
                            const Codec& inner)>
      refuses{};
  bool is_outermost = false;  ///< never the inner codec of another
  /// A message is the inner codec's, or sent raw (`gate`): at a site the inner codec counts.
  bool is_transparent = false;
  /// Sums the first channels only, and has each rank's own for the others (`partial`): at a tensor
  /// site nothing but transparent codecs may be around it.
  bool sums_part_of_hidden = false;
  /// Specs beyond the defaults that the generic suite runs; the codec's interesting corners.
  std::vector<std::string> examples{};
  std::vector<SpeedGate> gates{};
  std::optional<Strength> strength{};
  /// Canonical spec that tables quote ratios against; one codec of all has one.
  std::string reference{};
  /// File name of the shared object that brought a prototype (plugin.hpp); empty: part of the
  /// build.
  std::string plugin{};
};

using CodecRegistrar = Registrar<CodecInfo>;

/// A name that stands for a spec: `quickreduce4` for the same one always, `T1` for one that follows
/// from the message (expand_presets()).
struct Preset {
  static constexpr std::string_view kKind = "preset";
  std::string name;
  std::string spec;  ///< where it depends on the message: the rule, for people
  std::string meaning;
  std::string source{};
  /// Set where the spec depends on the message.
  std::function<std::string(const Shape&, DType)> spec_for{};
};

using PresetRegistrar = Registrar<Preset>;

/// Whether a codec or preset of this name is registered, plug-ins that are not loaded yet apart.
bool is_registered(std::string_view name);
/// All registered codecs, by name, those of TERSOR_PLUGINS among them; throws Error(kInternal)
/// where one is missing or registered twice.
const Registry<CodecInfo>::Entries& registered_codecs();
/// A spec of every codec: its name, where that is one, and its examples; each canonical form once.
/// What generic tests and measurements go through.
std::vector<std::string> example_specs();
/// All presets, by name.
const Registry<Preset>::Entries& registered_presets();

/// Whether `spec` contains a preset that depends on the message; throws Error(kSpec) where it is
/// no spec.
bool depends_on_message(std::string_view spec);
/// `spec` without presets that depend on the message, for one of this shape and dtype; not yet
/// checked. Everything else that takes a spec refuses such presets.
std::string expand_presets(std::string_view spec, const Shape& shape, DType dtype);

/// Facts for the database: {name, version, variant, spec, params {}, properties {}, inner [..],
/// strength, stronger, is_reference}; properties.prototype names the shared object of a plug-in.
/// `strength` is the parameter in force ("k" where it was given instead of "ratio"), `stronger`
/// "lower", "higher" or null; both are null for a codec that declares none.
nlohmann::json describe(const Codec& codec);
}  // namespace tersor::compressors

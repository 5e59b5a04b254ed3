// SPDX-License-Identifier: Apache-2.0
#include "compressors/spec/check_spec.hpp"

#include <algorithm>

#include "common/error.hpp"
#include "common/nearest.hpp"
#include "common/number.hpp"
#include "compressors/spec/grammar.hpp"

namespace tersor::compressors {
namespace {

using Kind = Parameter::Kind;

bool is_positional(const Parameter& parameter) {
  return parameter.kind == Kind::kCodec && !parameter.default_text;
}

/// The range as messages show it: (0, 1], [1, 8].
std::string range_text(const Parameter& parameter) {
  const std::string low = format_number(parameter.low);
  const std::string high = format_number(parameter.high);
  return (parameter.low_is_open ? "(" : "[") + low + ", " + high + "]";
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

bool is_outermost_only(std::string_view name) {
  const auto& codecs = registered_codecs();
  const auto found = codecs.find(name);
  return found != codecs.end() && found->second.is_outermost;
}

}  // namespace

/// Turns a parsed spec into checked arguments and a codec, by the codec's parameter table.
class SpecBuilder {
 public:
  explicit SpecBuilder(std::string_view text) : text_(text) {}

  CheckedSpec check(const SpecNode& node) const {
    if (const auto preset = registered_presets().find(node.word);
        preset != registered_presets().end() && node.arguments.empty()) {
      if (preset->second.spec_for)
        throw_spec_error("preset '" + node.word +
                             "' depends on the message's shape and dtype, which are not known here",
                         node.column, text_);
      return check_spec(preset->second.spec);
    }
    const CodecInfo& info = find_codec(node);
    CheckedSpec checked{&info, {}};
    assign(info, node, checked.arguments);
    fill_defaults(info, node, checked.arguments);
    checked.arguments.canonical_ = canonical(info, checked.arguments);
    return checked;
  }

  std::shared_ptr<const Codec> build(const SpecNode& node) const {
    const CheckedSpec checked = check(node);
    try {
      return checked.info->make(checked.arguments);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kSpec || error.column() > 0) throw;
      throw_spec_error(error.what(), node.column, text_);
    }
  }

 private:
  using Value = Arguments::Value;

  const CodecInfo& find_codec(const SpecNode& node) const {
    const auto& codecs = registered_codecs();
    if (const auto found = codecs.find(node.word); found != codecs.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [name, info] : codecs) known.push_back(name);
    for (const auto& [name, preset] : registered_presets()) known.push_back(name);
    throw_spec_error("unknown codec '" + node.word + "'" + known_names_hint(node.word, known),
                     node.column, text_);
  }

  void assign(const CodecInfo& info, const SpecNode& node, Arguments& out) const {
    std::vector<const Parameter*> free;
    for (const Parameter& parameter : info.parameters)
      if (is_positional(parameter)) free.push_back(&parameter);
    for (const SpecArgument& argument : node.arguments) {
      const Parameter* parameter = nullptr;
      if (!argument.key.empty()) {
        parameter = &find_parameter(info, argument);
      } else {
        const auto open = std::find_if(free.begin(), free.end(), [&](const Parameter* p) {
          return !out.values_.contains(p->name);
        });
        if (open == free.end())
          throw_spec_error(info.name + ": unexpected argument '" + argument.value.text() +
                               "'; parameters are given as key=value" + hint_for(info),
                           argument.value.column, text_);
        parameter = *open;
      }
      const int column = argument.key.empty() ? argument.value.column : argument.key_column;
      if (out.values_.contains(parameter->name))
        throw_spec_error(info.name + ": " + parameter->name + " is given twice", column, text_);
      for (const Parameter& other : info.parameters) {
        const bool is_instead = other.instead_of == parameter->name && !other.instead_of.empty();
        if (out.values_.contains(other.name) &&
            (is_instead || parameter->instead_of == other.name)) {
          const Parameter& both = is_instead ? other : *parameter;
          throw_spec_error(
              info.name + ": give " + both.instead_of + " or " + both.name + ", not both", column,
              text_);
        }
      }
      Value value = convert(info, *parameter, argument.value);
      value.is_given = value.is_present = true;
      out.values_.emplace(parameter->name, std::move(value));
    }
  }

  static std::string hint_for(const CodecInfo& info) {
    std::vector<std::string> names;
    for (const Parameter& parameter : info.parameters)
      if (!is_positional(parameter)) names.push_back(parameter.name);
    return names.empty() ? " (it has none)" : " (it has " + joined(names) + ")";
  }

  const Parameter& find_parameter(const CodecInfo& info, const SpecArgument& argument) const {
    std::vector<std::string> known;
    for (const Parameter& parameter : info.parameters) {
      if (parameter.name == "codec" && is_positional(parameter)) continue;
      if (parameter.name == argument.key) return parameter;
      known.push_back(parameter.name);
    }
    throw_spec_error(info.name + ": unknown parameter '" + argument.key + "'" +
                         (known.empty() ? " (it has none)" : known_names_hint(argument.key, known)),
                     argument.key_column, text_);
  }

  Value convert(const CodecInfo& info, const Parameter& parameter, const SpecNode& node) const {
    if (parameter.kind == Kind::kCodec) return convert_codec(info, parameter, node);
    if (node.has_parentheses)
      throw_spec_error(info.name + ": " + parameter.name + " is no codec: '" + node.text() + "'",
                       node.column, text_);
    switch (parameter.kind) {
      case Kind::kInteger: return convert_integer(info, parameter, node);
      case Kind::kReal: return convert_real(info, parameter, node);
      default: break;
    }
    const auto& choices = parameter.choices;
    if (std::find(choices.begin(), choices.end(), node.word) == choices.end())
      throw_spec_error(info.name + ": " + parameter.name + " '" + node.word + "' is unknown" +
                           known_names_hint(node.word, choices),
                       node.column, text_);
    Value value;
    value.text = node.word;
    return value;
  }

  Value convert_integer(const CodecInfo& info, const Parameter& parameter,
                        const SpecNode& node) const {
    const auto number = parse_integer(node.word);
    if (!number && !looks_integral(node.word))
      throw_spec_error(info.name + ": " + parameter.name + " '" + node.word + "' is no integer",
                       node.column, text_);
    const double real = number ? static_cast<double>(*number) : 0;
    if (!number || real < parameter.low || real > parameter.high)
      refuse_range(info, parameter, node);
    Value value;
    value.integer = *number;
    value.text = std::to_string(*number);
    return value;
  }

  static bool looks_integral(std::string_view word) {
    if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
    return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
  }

  Value convert_real(const CodecInfo& info, const Parameter& parameter,
                     const SpecNode& node) const {
    const auto number = parse_real(node.word);
    if (!number)
      throw_spec_error(info.name + ": " + parameter.name + " '" + node.word + "' is no number",
                       node.column, text_);
    const bool is_low = parameter.low_is_open ? *number <= parameter.low : *number < parameter.low;
    if (is_low || *number > parameter.high) refuse_range(info, parameter, node);
    Value value;
    value.real = *number;
    value.text = format_number(*number);
    return value;
  }

  [[noreturn]] void refuse_range(const CodecInfo& info, const Parameter& parameter,
                                 const SpecNode& node) const {
    throw_spec_error(
        info.name + ": " + parameter.name + " " + node.word + " not in " + range_text(parameter),
        node.column, text_);
  }

  Value convert_codec(const CodecInfo& info, const Parameter& parameter,
                      const SpecNode& node) const {
    Value value;
    const auto& words = parameter.choices;
    if (!node.has_parentheses && std::find(words.begin(), words.end(), node.word) != words.end()) {
      value.text = node.word;
      return value;
    }
    value.codec = build(node);
    value.text = value.codec->canonical();
    check_composition(info, parameter, *value.codec, node);
    return value;
  }

  /// METHODS section 2, "Compositions": what holds for every wrapper; the rest is its `refuses`.
  void check_composition(const CodecInfo& outer, const Parameter& parameter, const Codec& inner,
                         const SpecNode& node) const {
    const std::string name = codec_name(inner.canonical());
    std::string reason;
    if (is_outermost_only(name))
      reason = name + " must stand outermost";
    else if (inner.properties().learned)
      reason = "it takes no learned codec, and " + name + " is one";
    else if (outer.refuses)
      reason = outer.refuses(parameter.name, name, inner);
    if (!reason.empty()) throw_spec_error(outer.name + ": " + reason, node.column, text_);
  }

  void fill_defaults(const CodecInfo& info, const SpecNode& node, Arguments& out) const {
    for (const Parameter& parameter : info.parameters) {
      if (out.values_.contains(parameter.name)) continue;
      if (!parameter.default_text) {
        if (parameter.is_optional) {
          out.values_.emplace(parameter.name, Value{});
          continue;
        }
        throw_spec_error(info.name + ": " +
                             (parameter.kind == Kind::kCodec ? "a codec (" + parameter.name + ")"
                                                             : parameter.name) +
                             " is missing",
                         node.column + static_cast<int>(node.word.size()), text_);
      }
      SpecNode word;
      word.word = *parameter.default_text;
      word.column = node.column;
      Value value = convert(info, parameter, word);
      value.is_present = true;
      out.values_.emplace(parameter.name, std::move(value));
    }
  }

  static std::string canonical(const CodecInfo& info, const Arguments& arguments) {
    std::string inside;
    for (const Parameter& parameter : info.parameters) {
      const Value& value = arguments.values_.at(parameter.name);
      if (!value.is_present || value.text == parameter.default_text) continue;
      if (!inside.empty()) inside += ',';
      inside += is_positional(parameter) ? value.text : parameter.name + "=" + value.text;
    }
    return inside.empty() ? info.name : info.name + "(" + inside + ")";
  }

  std::string_view text_;
};

CheckedSpec check_spec(std::string_view spec) { return SpecBuilder(spec).check(parse_spec(spec)); }

std::shared_ptr<const Codec> make_codec(std::string_view spec) {
  return SpecBuilder(spec).build(parse_spec(spec));
}

std::string canonical_spec(std::string_view spec) { return make_codec(spec)->canonical(); }

std::string codec_name(std::string_view canonical) {
  return std::string(canonical.substr(0, canonical.find('(')));
}

}  // namespace tersor::compressors

// SPDX-License-Identifier: Apache-2.0
#include "protocol/records.hpp"

#include <cmath>
#include <concepts>
#include <initializer_list>
#include <span>

#include "common/error.hpp"
#include "protocol/fact_types.hpp"
#include "protocol/version.hpp"

namespace tersor::protocol {
namespace {

using nlohmann::ordered_json;

template <typename Given, typename Type>
concept Is = std::same_as<std::remove_const_t<Given>, Type>;

// One list of fields a record, in the order of the spool. `fields` is a Writer or a Reader.

void list(auto& fields, Is<Start> auto& start) {
  fields.format();
  fields.text("cell_key", start.cell_key);
  fields.seed("seed", start.seed);
  fields.integer("attempt", start.attempt, 1);
  fields.integer("rank", start.rank);
  fields.integer("world", start.world, 1);
  fields.optional_integer("pid", start.pid);
  fields.text_or_empty("host", start.host);
  fields.text_or_empty("time", start.time);
  fields.facts("environment", start.environment, kEnvironmentFacts);
  fields.facts("hardware", start.hardware, kHardwareFacts);
  fields.facts("model", start.model, kModelFacts);
  fields.facts("dataset", start.dataset, kDatasetFacts);
  fields.codecs("codecs", start.codecs);
  fields.optional_integer("steps", start.steps);
}

void list(auto& fields, Is<Step> auto& step) {
  fields.integer("step", step.step);
  fields.integer("epoch", step.epoch);
  fields.times("ns", step.ns);
  if (!fields.has_part("loss", step.training)) return;
  fields.number("loss", step.training->loss);
  fields.number("learning_rate", step.training->learning_rate);
  fields.number("gradient_norm", step.training->gradient_norm);
}

void list(auto& fields, Is<Eval> auto& eval) {
  fields.integer("epoch", eval.epoch);
  fields.optional_integer("step", eval.step);
  fields.choice("inference", eval.inference, {"on", "off"});
  fields.text("split", eval.split);
  fields.integer("rows", eval.rows);
  fields.number("loss", eval.loss);
  fields.optional_integer("ns", eval.ns);
  fields.named_numbers("metrics", eval.metrics);
  fields.text("primary", eval.primary);
  fields.numbers("predictions", eval.predictions);
  fields.numbers("labels", eval.labels);
}

void list(auto& fields, Is<MessageError> auto& error) {
  fields.integer("step", error.step);
  fields.integer("site", error.site);
  fields.text("site_name", error.site_name);
  fields.number("message_relative_l2", error.message_relative_l2);
  fields.number("message_cosine", error.message_cosine);
  fields.optional_text("message_reason", error.message_reason);
  fields.number("sum_relative_l2", error.sum_relative_l2);
  fields.number("sum_cosine", error.sum_cosine);
}

void list(auto& fields, Is<Traffic> auto& traffic) {
  for (const auto& [name, member] : kTrafficTexts) {
    if (member == &Traffic::direction)
      fields.choice(name, traffic.direction, {"forward", "backward"});
    else if (member == &Traffic::phase)
      fields.choice(name, traffic.phase, {"train", "eval"});
    else
      fields.text(name, traffic.*member);
  }
  for (const auto& [name, member] : kTrafficSums) fields.integer(name, traffic.*member);
  for (const auto& [name, ranks, member] : kTrafficAt)
    fields.optional_integer(name, traffic.*member);
}

void list(auto& fields, Is<Memory> auto& memory) {
  fields.optional_integer("peak_rss_bytes", memory.peak_rss_bytes);
  fields.optional_integer("codec_state_bytes", memory.codec_state_bytes);
  fields.optional_integer("parameter_bytes", memory.parameter_bytes);
}

void list(auto& fields, Is<End> auto& end) {
  fields.status("status", end.status,
                {Status::kOk, Status::kFailed, Status::kDiverged, Status::kOom});
  fields.cause("cause", end.cause, end.status);
  fields.text_or_empty("reason", end.reason);
  fields.optional_integer("wall_ns", end.wall_ns);
  fields.optional_integer("steps", end.steps);
  fields.optional_text("checksum", end.checksum);
  fields.optional_integer("records", end.records);
}

void list(auto& fields, Is<Progress> auto& progress) {
  fields.integer("step", progress.step);
  fields.integer("steps", progress.steps);
  fields.number("loss", progress.loss);
  fields.integer("epoch", progress.epoch);
}

class Writer {
 public:
  explicit Writer(ordered_json& object) : object_(object) {}

  void format() { object_["format"] = kFormat; }
  void integer(const char* key, std::int64_t value, std::int64_t = 0) { object_[key] = value; }
  void optional_integer(const char* key, const std::optional<std::int64_t>& value) {
    if (value) object_[key] = *value;
  }
  void seed(const char* key, std::uint64_t value) { object_[key] = value; }
  void text(const char* key, const std::string& value) { object_[key] = value; }
  void text_or_empty(const char* key, const std::string& value) { object_[key] = value; }
  void optional_text(const char* key, const std::string& value) {
    if (!value.empty()) object_[key] = value;
  }
  void choice(const char* key, const std::string& value, std::initializer_list<const char*>) {
    object_[key] = value;
  }
  void number(const char* key, const Number& value) { set(object_, key, value); }
  void facts(const char* key, const Facts& value, std::span<const FactField>) {
    if (!value.is_null()) object_[key] = value;
  }
  void codecs(const char* key, const std::map<std::string, CodecFacts>& sites) {
    for (const auto& [site, codec] : sites) {
      ordered_json facts{{"spec", codec.spec}};
      if (codec.added_parameters) facts["added_parameters"] = *codec.added_parameters;
      if (codec.added_flops) facts["added_flops"] = *codec.added_flops;
      object_[key][site] = facts;
    }
  }
  void times(const char* key, const StepTimes& ns) {
    for (const auto& [name, time] : kStepParts) object_[key][name] = ns.*time;
  }
  template <typename Part>
  bool has_part(const char*, const std::optional<Part>& part) {
    return part.has_value();
  }
  void named_numbers(const char* key, const std::vector<std::pair<std::string, Number>>& values) {
    ordered_json& object = object_[key] = ordered_json::object();
    for (const auto& [name, value] : values) set(object, name, value);
  }
  void numbers(const char* key, const std::vector<double>& values) {
    ordered_json& array = object_[key] = ordered_json::array();
    for (const double value : values)
      array.push_back(std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr));
  }
  void status(const char* key, Status value, std::initializer_list<Status>) {
    object_[key] = to_string(value);
  }
  void cause(const char* key, Cause value, Status) { object_[key] = to_string(value); }

 private:
  static void set(ordered_json& object, const std::string& key, const Number& value) {
    object[key] = value ? ordered_json(*value) : ordered_json(nullptr);
    if (!value) object["nonfinite"] = true;
  }

  ordered_json& object_;
};

class Reader {
 public:
  explicit Reader(const LineReader& line) : line_(line) {}

  void format() const {
    const std::string why_not = refuses_format(line_.integer("format"));
    if (!why_not.empty()) line_.fail("format", why_not);
  }
  void integer(const char* key, std::int64_t& value, std::int64_t least = 0) const {
    value = line_.integer(key, least);
  }
  void optional_integer(const char* key, std::optional<std::int64_t>& value) const {
    value = line_.optional_integer(key);
  }
  void seed(const char* key, std::uint64_t& value) const { value = line_.unsigned_integer(key); }
  void text(const char* key, std::string& value) const { value = line_.text(key); }
  void text_or_empty(const char* key, std::string& value) const { value = line_.text_or(key, ""); }
  void optional_text(const char* key, std::string& value) const { value = line_.text_or(key, ""); }
  void choice(const char* key, std::string& value,
              std::initializer_list<const char*> choices) const {
    value = line_.choice(key, choices);
  }
  void number(const char* key, Number& value) const { value = line_.number(key); }
  void facts(const char* key, Facts& value, std::span<const FactField> typed) const {
    if (!line_.has(key)) return;
    value = line_.object(key);
    if (const auto bad = find_bad_fact(nlohmann::json(value), typed))
      line_.fail(bad->first.c_str(), "of '" + std::string(key) + "' " + bad->second);
  }
  void codecs(const char* key, std::map<std::string, CodecFacts>& sites) const {
    for (const auto& [site, facts] : line_.optional_object(key).items()) {
      const auto bad = [&](const char* what) {
        line_.fail(key, "needs " + std::string(what) + " for site '" + site + "'");
      };
      if (!facts.is_object() || !facts.contains("spec") || !facts.at("spec").is_string())
        bad("an object with a spec");
      CodecFacts& codec = sites[site];
      codec.spec = facts.at("spec").get<std::string>();
      if (const auto found = facts.find("added_parameters");
          found != facts.end() && !found->is_null()) {
        if (!found->is_number_integer() || found->get<std::int64_t>() < 0)
          bad("a whole number of added_parameters from 0");
        codec.added_parameters = found->get<std::int64_t>();
      }
      if (const auto found = facts.find("added_flops"); found != facts.end() && !found->is_null()) {
        if (!found->is_number()) bad("a number of added_flops");
        codec.added_flops = found->get<double>();
      }
    }
  }
  void times(const char* key, StepTimes& ns) const {
    for (const auto& [name, time] : kStepParts) ns.*time = line_.member_integer(key, name);
  }
  template <typename Part>
  bool has_part(const char* key, std::optional<Part>& part) const {
    if (line_.contains(key)) part.emplace();
    return part.has_value();
  }
  void named_numbers(const char* key, std::vector<std::pair<std::string, Number>>& values) const {
    values = line_.member_numbers(key);
  }
  void numbers(const char* key, std::vector<double>& values) const { values = line_.numbers(key); }
  void status(const char* key, Status& value, std::initializer_list<Status> choices) const {
    std::vector<std::string_view> names;
    for (const Status choice : choices) names.push_back(to_string(choice));
    value = parse_status(one_of(key, names));
  }
  /// Spools of before there were causes lack it.
  void cause(const char* key, Cause& value, Status status) const {
    value = line_.has(key) ? parse_cause(one_of(key, cause_names())) : usual_cause(status);
  }

 private:
  std::string one_of(const char* key, std::span<const std::string_view> names) const {
    std::string text = line_.text(key);
    std::string list;
    for (const std::string_view name : names) {
      if (name == text) return text;
      list.append(list.empty() ? "" : ", ").append(name);
    }
    line_.fail(key, "must be one of " + list + ", got \"" + text + '"');
  }

  const LineReader& line_;
};

// What a list of fields cannot say: how they go together.

void check(const LineReader&, const auto&) {}

void check(const LineReader& line, const Start& start) {
  if (start.rank >= start.world)
    line.fail("world",
              std::to_string(start.world) + " is too small for rank " + std::to_string(start.rank));
}

void check(const LineReader& line, const Eval& eval) {
  bool is_known = eval.metrics.empty();
  for (const auto& [name, value] : eval.metrics) is_known = is_known || name == eval.primary;
  if (!is_known)
    line.fail("primary", "names '" + eval.primary + "', which is not among the metrics");
  for (const auto& [key, values] :
       {std::pair("predictions", &eval.predictions), std::pair("labels", &eval.labels)})
    if (static_cast<std::int64_t>(values->size()) != eval.rows)
      line.fail(key, "has " + std::to_string(values->size()) + " items for " +
                         std::to_string(eval.rows) + " rows");
}

template <std::size_t... I>
std::string type_names(std::index_sequence<I...>) {
  std::string names;
  (names.append(names.empty() ? "" : ", ").append(std::variant_alternative_t<I, Record>::kType),
   ...);
  return names;
}

/// As the alternative of Record that has this type, from the I-th on.
template <std::size_t I = 0>
Record read_as(const LineReader& line, const std::string& type) {
  constexpr std::size_t kTypes = std::variant_size_v<Record>;
  if constexpr (I == kTypes) {
    line.fail("type", "is unknown (" + type_names(std::make_index_sequence<kTypes>()) + ")");
  } else {
    using Type = std::variant_alternative_t<I, Record>;
    if (type != Type::kType) return read_as<I + 1>(line, type);
    Type record;
    Reader reader(line);
    list(reader, record);
    check(line, record);
    return record;
  }
}

}  // namespace

Number finite_number(double value) { return std::isfinite(value) ? Number(value) : std::nullopt; }

ordered_json to_json(const Record& record) {
  return std::visit(
      [](const auto& one) {
        ordered_json object{{"type", one.kType}};
        Writer writer(object);
        list(writer, one);
        return object;
      },
      record);
}

Record read_record(const LineReader& line) { return read_as(line, line.type()); }

std::optional<Record> find_record(std::string_view line) {
  try {
    return read_record(LineReader(line, "", 1));
  } catch (const Error&) {  // nothing is what the caller asked for
    return std::nullopt;
  }
}

ordered_json to_json(const Progress& progress) {
  ordered_json object = ordered_json::object();
  Writer writer(object);
  list(writer, progress);
  return object;
}

std::optional<Progress> find_progress(std::string_view line) {
  try {
    const LineReader reader(line, "", 1);
    Progress progress;
    Reader fields(reader);
    list(fields, progress);
    return progress;
  } catch (const Error&) {  // nothing is what the caller asked for
    return std::nullopt;
  }
}

}  // namespace tersor::protocol

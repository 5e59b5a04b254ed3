// SPDX-License-Identifier: Apache-2.0
#include "protocol/cell.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "common/hash.hpp"
#include "common/hex.hpp"
#include "common/nearest.hpp"
#include "common/number.hpp"

namespace tersor::protocol {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::int64_t kManyRows = std::int64_t{1} << 40;

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorKind::kUsage, message); }

std::string shown(const json& value) {
  constexpr std::size_t kLongest = 80;
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() > kLongest ? text.substr(0, kLongest) + "..." : text;
}

/// Takes the keys of one JSON object one by one; done() refuses those that nobody took.
class Fields {
 public:
  Fields(const json& object, std::string what) : object_(object), what_(std::move(what)) {
    if (!object.is_object()) fail(what_ + ": expected an object, got " + shown(object));
  }

  void text(const char* key, std::string& value) {
    const json* found = take(key);
    if (!found) return;
    if (!found->is_string()) mistyped(key, "a string", *found);
    value = found->get<std::string>();
  }

  void choice(const char* key, std::string& value, const std::vector<std::string>& choices) {
    text(key, value);
    if (std::find(choices.begin(), choices.end(), value) == choices.end())
      fail(name(key) + " '" + value + "' is unknown" + known_names_hint(value, choices));
  }

  void boolean(const char* key, bool& value) {
    const json* found = take(key);
    if (!found) return;
    if (!found->is_boolean()) mistyped(key, "true or false", *found);
    value = found->get<bool>();
  }

  template <typename Integer>
  void integer(const char* key, Integer& value, std::int64_t low, std::int64_t high) {
    const json* found = take(key);
    if (!found) return;
    if (!found->is_number_integer()) mistyped(key, "a whole number", *found);
    const bool is_huge = found->is_number_unsigned() &&
                         found->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
    const std::int64_t given = is_huge ? INT64_MAX : found->get<std::int64_t>();
    if (is_huge || given < low || given > high)
      fail(name(key) + " " + shown(*found) + " not in [" + std::to_string(low) + ", " +
           std::to_string(high) + "]");
    value = static_cast<Integer>(given);
  }

  /// `range` is what the message says; `high_is_open` leaves `high` out.
  void real(const char* key, double& value, double high, bool high_is_open, const char* range) {
    const json* found = take(key);
    if (!found) return;
    if (!found->is_number()) mistyped(key, "a number", *found);
    const double given = found->get<double>();
    const bool fits = given >= 0 && (high_is_open ? given < high : given <= high);
    if (!fits) fail(name(key) + " " + shown(*found) + " not in " + range);
    value = given + 0.0;  // -0 becomes 0: one value, one key
  }

  const json* take(const char* key) {
    known_.emplace_back(key);
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }

  void done() const {
    for (const auto& [key, value] : object_.items()) {
      if (std::find(known_.begin(), known_.end(), key) == known_.end())
        fail(what_ + ": unknown key '" + key + "'" + known_names_hint(key, known_));
    }
  }

  [[noreturn]] void mistyped(const char* key, const char* expected, const json& found) const {
    fail(name(key) + " must be " + expected + ", got " + shown(found));
  }
  std::string name(const char* key) const { return what_ + ": " + key; }

 private:
  const json& object_;
  std::string what_;
  std::vector<std::string> known_;
};

Hardware hardware_from_json(const json& object) {
  Hardware hardware;
  Fields fields(object, "hardware");
  fields.text("name", hardware.name);
  if (hardware.name.empty()) fail("hardware: name is empty");
  fields.choice("kind", hardware.kind, {"measured", "shaped", "emulated", "modelled"});
  fields.choice("device", hardware.device, {"cpu", "cuda"});
  fields.integer("tp", hardware.tp, 1, 1024);
  fields.integer("pp", hardware.pp, 1, 1024);
  fields.integer("threads", hardware.threads, 1, 4096);
  fields.text("link", hardware.link);
  fields.integer("nodes", hardware.nodes, 1, 1024);
  fields.done();
  return hardware;
}

/// One spec stands for `tp` and `pp`, with the gradients dense (METHODS section 3); an object names
/// its sites.
std::map<std::string, std::string> compressor_from_json(const json& value) {
  static const std::vector<std::string> kSites{"tp", "tp.backward", "pp", "pp.gradient"};
  std::map<std::string, std::string> sites = Cell{}.compression.codecs;
  if (value.is_string()) {
    sites["tp"] = value.get<std::string>();
  } else if (value.is_object()) {
    for (const auto& [site, spec] : value.items()) {
      if (std::find(kSites.begin(), kSites.end(), site) == kSites.end())
        fail("compressor: unknown site '" + site + "'" + known_names_hint(site, kSites));
      if (!spec.is_string())
        fail("compressor: the codec at site '" + site + "' must be a spec, got " + shown(spec));
      sites[site] = spec.get<std::string>();
    }
  } else {
    fail("compressor must be a codec spec or an object of site and spec, got " + shown(value));
  }
  for (const auto& [site, spec] : sites)
    if (spec.empty()) fail("compressor: the spec at site '" + site + "' is empty");
  return sites;
}

/// Checks `all | none | last:N | first:N | A-B`, and gives it without leading zeros.
std::string canonical_layers(const std::string& text) {
  const std::string expected = "layers '" + text + "' is not all, none, last:N, first:N or A-B";
  if (text == "all" || text == "none") return text;
  if (const auto colon = text.find(':'); colon != std::string::npos) {
    const std::string side = text.substr(0, colon);
    const auto count = parse_whole_number(std::string_view(text).substr(colon + 1));
    if ((side != "last" && side != "first") || !count) fail(expected);
    if (*count < 1 || *count > 10000)
      fail("layers '" + text + "': " + std::to_string(*count) + " not in [1, 10000]");
    return side + ":" + std::to_string(*count);
  }
  const auto dash = text.find('-');
  if (dash == std::string::npos) fail(expected);
  const auto from = parse_whole_number(std::string_view(text).substr(0, dash));
  const auto to = parse_whole_number(std::string_view(text).substr(dash + 1));
  if (!from || !to) fail(expected);
  if (*from > *to || *to > 10000)
    fail("layers '" + text + "': needs A <= B <= 10000 (zero-based, inclusive)");
  return std::to_string(*from) + "-" + std::to_string(*to);
}

/// Checks "N" (steps; "N steps" too) and "N epochs"; zero of either is "0".
std::string canonical_warmup(const std::string& text) {
  const auto blank = text.find(' ');
  const auto count = parse_whole_number(std::string_view(text).substr(0, blank));
  const std::string unit = blank == std::string::npos ? "steps" : text.substr(blank + 1);
  const bool is_epochs = unit == "epochs" || unit == "epoch";
  if (!count || (!is_epochs && unit != "steps" && unit != "step"))
    fail("warmup '" + text + "' is not \"N\" (steps) or \"N epochs\"");
  return std::to_string(*count) + (is_epochs && *count > 0 ? " epochs" : "");
}

}  // namespace

nlohmann::ordered_json to_json(const Cell& c) {
  ordered_json hardware{{"name", c.hardware.name},     {"kind", c.hardware.kind},
                        {"device", c.hardware.device}, {"tp", c.hardware.tp},
                        {"pp", c.hardware.pp},         {"threads", c.hardware.threads},
                        {"link", c.hardware.link}};
  if (c.hardware.nodes != 1) hardware["nodes"] = c.hardware.nodes;
  ordered_json compressor = ordered_json::object();
  for (const auto& [site, spec] : c.compression.codecs) compressor[site] = spec;
  return ordered_json{{"compressor", compressor},
                      {"hardware", hardware},
                      {"dataset", c.data.name},
                      {"model", c.model.name},
                      {"stage", c.training.stage},
                      {"layers", c.compression.layers},
                      {"warmup", c.compression.warmup},
                      {"inference", c.compression.inference},
                      {"sum_order", c.parallelism.sum_order},
                      {"loopback", c.compression.loopback},
                      {"overlap", c.parallelism.overlap},
                      {"epochs", c.training.epochs},
                      {"max_steps", c.training.max_steps},
                      {"train_rows", c.data.train_rows},
                      {"eval_rows", c.data.eval_rows},
                      {"micro_batch", c.training.micro_batch},
                      {"sequence", c.data.sequence},
                      {"learning_rate", c.training.learning_rate},
                      {"learning_rate_warmup", c.training.learning_rate_warmup},
                      {"weight_decay", c.training.weight_decay},
                      {"clip", c.training.clip},
                      {"dropout", c.model.dropout},
                      {"pooling", c.model.pooling},
                      {"freeze", c.model.freeze}};
}

Cell cell_from_json(const nlohmann::json& object) {
  Cell c;
  Fields fields(object, "cell");
  if (const json* value = fields.take("compressor"))
    c.compression.codecs = compressor_from_json(*value);
  if (const json* value = fields.take("hardware")) c.hardware = hardware_from_json(*value);
  fields.text("dataset", c.data.name);
  fields.text("model", c.model.name);
  fields.choice("stage", c.training.stage, {"finetune", "pretrain", "pretrain+finetune"});
  fields.text("layers", c.compression.layers);
  c.compression.layers = canonical_layers(c.compression.layers);
  if (const json* value = fields.take("warmup")) {
    if (!value->is_string() && !value->is_number_integer())
      fields.mistyped("warmup", "\"N\" (steps) or \"N epochs\"", *value);
    c.compression.warmup =
        canonical_warmup(value->is_string() ? value->get<std::string>() : value->dump());
  }
  fields.choice("inference", c.compression.inference, {"on", "off", "both"});
  fields.choice("sum_order", c.parallelism.sum_order, {"library", "ranks"});
  fields.boolean("loopback", c.compression.loopback);
  fields.choice("overlap", c.parallelism.overlap, {"on", "off"});
  fields.integer("epochs", c.training.epochs, 1, 1000000);
  fields.integer("max_steps", c.training.max_steps, 0, kManyRows);
  fields.integer("train_rows", c.data.train_rows, 0, kManyRows);
  fields.integer("eval_rows", c.data.eval_rows, 0, kManyRows);
  fields.integer("micro_batch", c.training.micro_batch, 1, 1 << 20);
  fields.integer("sequence", c.data.sequence, 3, 1 << 20);  // [CLS], one token, [SEP]
  fields.real("learning_rate", c.training.learning_rate, 1e3, false, "[0, 1000]");
  fields.real("learning_rate_warmup", c.training.learning_rate_warmup, 1, false, "[0, 1]");
  fields.real("weight_decay", c.training.weight_decay, 1e3, false, "[0, 1000]");
  fields.real("clip", c.training.clip, 1e30, false, "[0, 1e30] (0: off)");
  fields.real("dropout", c.model.dropout, 1, true, "[0, 1)");
  fields.choice("pooling", c.model.pooling, {"mean", "cls"});
  fields.choice("freeze", c.model.freeze, {"none", "embeddings"});
  fields.done();
  if (c.data.name.empty()) fail("cell: dataset is empty");
  if (c.model.name.empty()) fail("cell: model is empty");
  return c;
}

std::string cell_key(const Cell& cell, const std::string& versions) {
  return hex(xxh64(to_json(cell).dump() + "\n" + versions));
}

}  // namespace tersor::protocol

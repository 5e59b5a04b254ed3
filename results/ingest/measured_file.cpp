// SPDX-License-Identifier: Apache-2.0
#include "results/ingest/measured_file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "common/error.hpp"
#include "common/json_parse.hpp"
#include "common/number.hpp"
#include "protocol/fact_types.hpp"

namespace tersor::results {
namespace {

using nlohmann::json;
using protocol::Status;

/// A whole number that 64 bits with a sign hold.
bool is_integer(const json& value) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return value.is_number_integer() &&
         !(value.is_number_unsigned() && value.get<std::uint64_t>() > kMost);
}

/// A position in the file, for error messages: "cases[3]".
class Place {
 public:
  Place(const std::string& file, std::string path, const json& object)
      : file_(file), path_(std::move(path)), object_(object) {
    if (!object.is_object()) fail("", "expected an object");
  }

  [[noreturn]] void fail(const std::string& key, const std::string& message) const {
    const std::string dot = path_.empty() || key.empty() ? "" : ".";
    const std::string where = path_ + dot + key;
    throw Error(ErrorKind::kData, file_ + ": " + (where.empty() ? "" : where + ": ") + message);
  }

  const json& required(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) fail(key, "is missing");
    return *found;
  }
  /// Null where it is missing.
  const json& optional(const char* key) const {
    static const json nothing;
    const auto found = object_.find(key);
    return found == object_.end() ? nothing : *found;
  }

  std::string text(const char* key) const {
    const json& value = required(key);
    if (!value.is_string()) fail(key, "expected a text, got " + value.dump());
    return value.get<std::string>();
  }
  std::optional<std::string> optional_text(const char* key) const {
    return optional(key).is_null() ? std::nullopt : std::optional(text(key));
  }
  std::string choice(const char* key, std::initializer_list<const char*> words) const {
    const std::string word = text(key);
    std::string known;
    for (const char* one : words) {
      if (word == one) return word;
      known += (known.empty() ? "" : ", ") + std::string(one);
    }
    fail(key, "'" + word + "' is none of " + known);
  }
  Status status(const char* key, std::initializer_list<Status> choices) const {
    const std::string word = text(key);
    std::string known;
    for (const Status one : choices) {
      if (word == to_string(one)) return one;
      known.append(known.empty() ? "" : ", ").append(to_string(one));
    }
    fail(key, "'" + word + "' is none of " + known);
  }
  std::optional<std::int64_t> optional_integer(const char* key, std::int64_t least) const {
    const json& value = optional(key);
    if (value.is_null()) return std::nullopt;
    if (!is_integer(value) || value.get<std::int64_t>() < least)
      fail(key, "expected a whole number of at least " + std::to_string(least) + ", got " +
                    value.dump());
    return value.get<std::int64_t>();
  }
  std::optional<bool> optional_boolean(const char* key) const {
    const json& value = optional(key);
    if (value.is_null()) return std::nullopt;
    if (!value.is_boolean()) fail(key, "expected true or false, got " + value.dump());
    return value.get<bool>();
  }
  double number(const char* key) const {
    const json& value = required(key);
    if (!value.is_number()) fail(key, "expected a number, got " + value.dump());
    return value.get<double>();
  }
  /// An array of at least one positive number.
  std::vector<double> times(const char* key) const {
    const json& value = required(key);
    if (!value.is_array() || value.empty()) fail(key, "expected an array of times");
    std::vector<double> out;
    for (const json& one : value) {
      if (!one.is_number() || !(one.get<double>() > 0))
        fail(key, "expected a time above 0 as element " + std::to_string(out.size()) + ", got " +
                      one.dump());
      out.push_back(one.get<double>());
    }
    return out;
  }
  /// The facts that have columns, by their types.
  void facts(std::span<const protocol::FactField> typed) const {
    if (const auto bad = protocol::find_bad_fact(object_, typed)) fail(bad->first, bad->second);
  }
  void shape(MeasuredCase& out) const {
    const json& value = required("shape");
    const auto is_size = [](const json& one) {
      return is_integer(one) && one.get<std::int64_t>() >= 0;
    };
    if (!value.is_array() || value.size() != 3 || !std::all_of(value.begin(), value.end(), is_size))
      fail("shape", "expected [samples, tokens, hidden], got " + value.dump());
    out.samples = value[0].get<std::int64_t>();
    out.tokens = value[1].get<std::int64_t>();
    out.hidden = value[2].get<std::int64_t>();
  }

 private:
  const std::string& file_;
  std::string path_;
  const json& object_;
};

void add_bytes(const Place& at, const char* key, MeasuredCase& out) {
  if (const auto bytes = at.optional_integer(key, 0))
    out.quantities.push_back({key, "B", {static_cast<double>(*bytes)}});
}

MeasuredCase gpu_case(const Place& at, const json& object) {
  MeasuredCase one;
  one.facts = object;
  one.operation = at.choice("operation", {"encode", "decode", "decode_accumulate", "copy"});
  one.spec = one.operation == "copy" ? at.optional_text("spec") : std::optional(at.text("spec"));
  one.dtype = at.choice("dtype", {"float32", "float16", "bfloat16"});
  at.shape(one);
  one.device = "cuda";
  one.ranks = at.optional_integer("ranks", 1);
  const std::string kind = at.choice("kind", {"equality", "speed"});
  one.status = at.status("status", {Status::kOk, Status::kFailed, Status::kSkipped});
  const bool is_ok = one.status == Status::kOk;
  one.reason = at.optional_text("reason").value_or("");
  if (!is_ok && one.reason.empty())
    at.fail("reason", "is missing: why " + std::string(to_string(one.status)));
  one.is_equal = at.optional_boolean("equal");
  if (kind == "equality" && is_ok && !one.is_equal) at.fail("equal", "is missing");
  if (is_ok && one.is_equal == false) at.fail("equal", "is false where status is ok");
  if (kind == "speed") one.mode = at.choice("mode", {"cold", "hot"});
  if (kind == "speed" && is_ok) {
    one.quantities.push_back({"time", "ns", at.times("times_ns")});
    if (!at.optional("copy_times_ns").is_null())
      one.quantities.push_back({"copy_time", "ns", at.times("copy_times_ns")});
  }
  add_bytes(at, "raw_bytes", one);
  add_bytes(at, "payload_bytes", one);
  one.name = kind + "/" + one.operation + "/" + one.spec.value_or("");
  return one;
}

MeasuredFile gpu_check(const json& root, const std::string& name) {
  const Place top(name, "", root);
  if (top.required("version") != 1)
    top.fail("version", "this tersor reads version 1, got " + root["version"].dump());
  MeasuredFile file;
  file.kind = "gpu-check";
  file.is_synthetic = top.optional_boolean("synthetic").value_or(false);
  file.measured_at = top.text("measured_at");
  file.program = top.optional_text("program");
  file.hardware = top.required("hardware");
  file.environment = top.required("environment");
  const Place hardware(name, "hardware", file.hardware);
  hardware.facts(protocol::kHardwareFacts);
  hardware.text("gpu");
  const Place environment(name, "environment", file.environment);
  environment.facts(protocol::kEnvironmentFacts);
  environment.text("cuda");
  const json& cases = top.required("cases");
  if (!cases.is_array() || cases.empty()) top.fail("cases", "expected an array of cases");
  for (std::size_t i = 0; i < cases.size(); ++i)
    file.cases.push_back(
        gpu_case(Place(name, "cases[" + std::to_string(i) + "]", cases[i]), cases[i]));
  file.context = root;
  file.context.erase("cases");
  return file;
}

/// Of Google Benchmark's time_unit.
double nanoseconds_of(const Place& at) {
  const std::string unit = at.choice("time_unit", {"ns", "us", "ms", "s"});
  return unit == "ns" ? 1 : unit == "us" ? 1e3 : unit == "ms" ? 1e6 : 1e9;
}

double nanoseconds(const Place& at, const char* key) {
  const double ns = at.number(key) * nanoseconds_of(at);
  if (!std::isfinite(ns)) at.fail(key, "is out of range in nanoseconds");
  return ns;
}

/// "32x128x1024".
void take_shape(const std::string& part, MeasuredCase& one) {
  std::vector<std::int64_t> sizes;
  for (std::size_t begin = 0; begin <= part.size();) {
    const std::size_t end = std::min(part.find('x', begin), part.size());
    const auto size = parse_whole_number(std::string_view(part).substr(begin, end - begin));
    if (!size) return;
    sizes.push_back(*size);
    begin = end + 1;
  }
  if (sizes.size() != 3) return;
  one.samples = sizes[0];
  one.tokens = sizes[1];
  one.hidden = sizes[2];
}

/// "encode/topk(ratio=0.1)/float16/32x128x1024/.." of tersor-bench; other names are an operation.
void split_name(MeasuredCase& one) {
  std::vector<std::string> parts{""};
  for (const char mark : one.name)
    if (mark == '/')
      parts.emplace_back();
    else
      parts.back() += mark;
  one.operation = parts[0];
  if (parts.size() < 3) return;
  one.spec = parts[1];
  for (std::size_t i = 2; i < parts.size(); ++i) {
    if (parts[i] == "float32" || parts[i] == "float16" || parts[i] == "bfloat16")
      one.dtype = parts[i];
    take_shape(parts[i], one);
  }
}

/// Of a counter, by the names that Google Benchmark and tersor-bench give.
std::string unit_of(const std::string& counter) {
  if (counter == "bytes_per_second") return "B/s";
  if (counter.ends_with("_per_second")) return "1/s";
  const bool is_bytes =
      counter.ends_with("_bytes") || counter == "max_bytes_used" || counter == "net_heap_growth";
  return is_bytes ? "B" : counter.ends_with("_ns") ? "ns" : "1";
}

/// A curve that was fitted to other rows (BigO), or how well (RMS): nothing was measured.
bool is_fit(const Place& at) {
  const std::string aggregate = at.optional_text("aggregate_name").value_or("");
  return aggregate == "BigO" || aggregate == "RMS" || !at.optional("big_o").is_null() ||
         !at.optional("rms").is_null();
}

/// Why the row has no value, or nothing: what Google Benchmark wrote of a failure, a skip, or a
/// benchmark that never ran its loop.
void take_status(const Place& at, MeasuredCase& one) {
  const auto end_as = [&](Status status, const char* message) {
    one.status = status;
    one.reason = at.optional_text(message).value_or("");
    if (one.reason.empty()) one.reason = "no reason given";
  };
  if (at.optional_boolean("error_occurred").value_or(false))
    end_as(Status::kFailed, "error_message");
  else if (at.optional_boolean("skipped").value_or(false))
    end_as(Status::kSkipped, "skip_message");
  else if (at.optional_integer("iterations", 0) == 0)
    end_as(Status::kSkipped, "skip_message");
  if (one.status == Status::kSkipped && at.optional("skipped").is_null())
    one.reason = "no iteration was run";
}

MeasuredCase benchmark_case(const Place& at, const json& object) {
  constexpr const char* kStructure[] = {"family_index", "per_family_instance_index",
                                        "repetitions",  "repetition_index",
                                        "threads",      "iterations",
                                        "real_time",    "cpu_time"};
  MeasuredCase one;
  one.facts = object;
  one.name = at.text("name");
  one.device = "cpu";
  split_name(one);
  const bool is_aggregate = at.optional_text("run_type").value_or("iteration") == "aggregate";
  if (is_aggregate) one.mode = at.optional_text("aggregate_name");
  take_status(at, one);
  if (one.status != Status::kOk) return one;
  // A coefficient of variation: times and counters alike are ratios.
  const bool is_ratio = is_aggregate && at.optional_text("aggregate_unit") == "percentage";
  for (const char* key : {"real_time", "cpu_time"})
    one.quantities.push_back(
        {key, is_ratio ? "1" : "ns", {is_ratio ? at.number(key) : nanoseconds(at, key)}});
  for (const auto& [key, value] : object.items()) {
    const bool is_structure =
        std::find(std::begin(kStructure), std::end(kStructure), key) != std::end(kStructure);
    if (value.is_number() && !is_structure)
      one.quantities.push_back({key, is_ratio ? "1" : unit_of(key), {value.get<double>()}});
  }
  return one;
}

MeasuredFile google_benchmark(const json& root, const std::string& name) {
  const Place top(name, "", root);
  MeasuredFile file;
  file.kind = "google-benchmark";
  file.context = root;
  file.context.erase("benchmarks");
  const json& facts = top.required("context");
  const Place context(name, "context", facts);
  file.measured_at = context.optional_text("date");
  file.program = context.optional_text("executable");
  file.hardware = json::object();
  for (const auto& [from, to] : {std::pair{"num_cpus", "cores"},
                                 {"mhz_per_cpu", "mhz"},
                                 {"host_name", "host"},
                                 {"caches", "caches"},
                                 {"cpu", "cpu"}})
    if (!context.optional(from).is_null()) file.hardware[to] = facts[from];
  context.optional_integer("num_cpus", 0);
  context.optional_text("cpu");
  file.environment = json::object();
  for (const char* key : {"compiler", "library_build_type", "threads", "cpu_scaling_enabled"})
    if (!context.optional(key).is_null()) file.environment[key] = facts[key];
  if (file.environment.contains("threads")) file.environment.erase("threads");  // a text there
  Place(name, "context", file.environment).facts(protocol::kEnvironmentFacts);
  file.is_synthetic = top.optional_boolean("synthetic").value_or(false);
  const json& rows = top.required("benchmarks");
  if (!rows.is_array() || rows.empty()) top.fail("benchmarks", "expected an array of rows");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Place at(name, "benchmarks[" + std::to_string(i) + "]", rows[i]);
    if (is_fit(at))
      ++file.fits;
    else
      file.cases.push_back(benchmark_case(at, rows[i]));
  }
  return file;
}

}  // namespace

MeasuredFile parse_measured_file(std::string_view text, const std::string& name) {
  const json root = parse_json<json>(text, name);
  const Place top(name, "", root);
  if (top.optional("format") == "tersor-gpu-check") return gpu_check(root, name);
  if (root.contains("context") && root.contains("benchmarks")) return google_benchmark(root, name);
  top.fail("format", "expected \"tersor-gpu-check\", or Google Benchmark's context and benchmarks");
}

}  // namespace tersor::results

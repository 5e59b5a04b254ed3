// SPDX-License-Identifier: Apache-2.0
#include "protocol/job_file.hpp"

#include <concepts>
#include <span>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "common/files.hpp"
#include "common/json_parse.hpp"
#include "protocol/version.hpp"

namespace tersor::protocol {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// The keys, once, in the order of the file. `fields` is a Writer or a Reader.
template <typename Job>
requires std::same_as<std::remove_const_t<Job>, JobFile>
void list(auto& fields, Job& job) {
  fields("cell_key", job.cell_key);
  fields("seed", job.seed);
  fields("attempt", job.attempt);
  fields("config", job.config);
  fields.path("data_root", job.data_root);
  fields.path("weights", job.weights);
  fields.path("vocab", job.vocabulary);
  fields("progress", job.has_progress);
  fields("error_every", job.error_every);
  fields("messages_every", job.messages_every);
}

struct Writer {
  ordered_json object;

  void operator()(const char* key, const auto& value) { object[key] = value; }
  void operator()(const char* key, const Cell& cell) { object[key] = to_json(cell); }

  /// JSON is UTF-8, and a path is any bytes: one that is not stands as its bytes.
  void path(const char* key, const std::string& value) {
    const std::string shown = json(value).dump(-1, ' ', false, json::error_handler_t::replace);
    if (json::parse(shown) == value)
      object[key] = value;
    else
      object[key] = {{"bytes", std::vector<std::uint8_t>(value.begin(), value.end())}};
  }
};

/// A missing key keeps its default.
class Reader {
 public:
  Reader(const json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object.is_object()) refuse("expected an object, got " + object.dump());
    std::int64_t format = 0;
    (*this)("format", format);
    if (const std::string why_not = refuses_format(format); !why_not.empty())
      fail("format", why_not);
    if (!object.contains("config")) fail("config", "is missing");
  }

  template <typename Value>
  void operator()(const char* key, Value& value) const {
    const auto found = object_.find(key);
    if (found == object_.end()) return;
    if (!is<Value>(*found)) fail(key, "has the wrong type: " + found->dump());
    value = found->get<Value>();
  }
  void operator()(const char* key, Cell& cell) const { cell = cell_from_json(object_.at(key)); }

  void path(const char* key, std::string& value) const {
    const auto found = object_.find(key);
    if (found == object_.end() || !found->is_object()) return (*this)(key, value);
    const json& bytes = found->value("bytes", json());
    if (!bytes.is_array()) fail(key, "has no array 'bytes': " + found->dump());
    value.clear();
    for (const json& byte : bytes) {
      if (!byte.is_number_unsigned() || byte > 255) fail(key, "has no byte " + byte.dump());
      value += static_cast<char>(byte.get<std::uint8_t>());
    }
  }

 private:
  template <typename Value>
  static bool is(const json& value) {
    if constexpr (std::same_as<Value, bool>) return value.is_boolean();
    if constexpr (std::same_as<Value, std::uint64_t>) return value.is_number_unsigned();
    if constexpr (std::same_as<Value, std::int64_t>) return value.is_number_integer();
    if constexpr (std::same_as<Value, std::string>) return value.is_string();
  }
  [[noreturn]] void fail(const char* key, const std::string& message) const {
    refuse(std::string("'").append(key).append("' ").append(message));
  }
  [[noreturn]] void refuse(const std::string& message) const {
    throw Error(ErrorKind::kData, "job file " + path_ + ": " + message);
  }

  const json& object_;
  std::string path_;
};

}  // namespace

ordered_json to_json(const JobFile& job) {
  Writer writer;
  writer("format", kFormat);
  list(writer, job);
  return writer.object;
}

JobFile read_job_file(const std::filesystem::path& path) {
  const std::vector<std::byte> data = read_file(path);
  const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
  const json object = parse_json<json>(text, "job file " + path.string());
  JobFile job;
  const Reader reader(object, path.string());
  list(reader, job);
  return job;
}

void write_job_file(const std::filesystem::path& path, const JobFile& job) {
  const std::string text = to_json(job).dump(2) + "\n";
  create_file(path, std::as_bytes(std::span(text)));
}

}  // namespace tersor::protocol

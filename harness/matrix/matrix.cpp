// SPDX-License-Identifier: Apache-2.0
#include "harness/matrix/matrix.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/error.hpp"
#include "common/nearest.hpp"
#include "compressors/spec/sweep.hpp"
#include "harness/input/embedded.hpp"
#include "harness/matrix/cell_identity.hpp"
#include "harness/matrix/message_spec.hpp"
#include "protocol/fields.hpp"

namespace tersor::harness {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// The object at `key` of the root, or null where it is absent.
const ordered_json* section(const JsonText& file, const char* key, bool wants_array) {
  const auto found = file.root().find(key);
  if (found == file.root().end()) return nullptr;
  const std::string pointer = JsonText::child("", key);
  if (wants_array) {
    if (!found->is_array()) file.fail(pointer, std::string(key) + " must be a list of objects");
    for (std::size_t i = 0; i < found->size(); ++i)
      if (!(*found)[i].is_object())
        file.fail(JsonText::child(pointer, i), std::string(key) + " must be a list of objects");
  } else if (!found->is_object()) {
    file.fail(pointer, std::string(key) + " must be an object");
  }
  return &*found;
}

void check_root(const JsonText& file) {
  static const std::vector<std::string> kKeys{"name",   "description", "presets", "defaults",
                                              "matrix", "exclude",     "include"};
  if (!file.root().is_object())
    file.fail("", "a matrix file is a JSON object (matrices/README.md)");
  for (const auto& [key, value] : file.root().items())
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end())
      file.fail_at_key(JsonText::child("", key),
                       "unknown key '" + key + "'" + known_names_hint(key, kKeys));
  const auto name = file.root().find("name");
  if (name == file.root().end() || !name->is_string() || name->get<std::string>().empty())
    file.fail("/name", "a matrix file needs a \"name\"");
  if (name->get<std::string>().find_first_of("\n\t") != std::string::npos)
    file.fail("/name", "the name of a matrix is one line without tabs");
  if (const auto text = file.root().find("description");
      text != file.root().end() && !text->is_string())
    file.fail("/description", "description must be a string");
}

}  // namespace

JsonText Matrix::open(const std::filesystem::path& file) {
  std::error_code ignored;
  const bool is_bare = !file.has_parent_path() && !file.has_extension();
  if (is_bare && !std::filesystem::exists(file, ignored)) {
    if (const EmbeddedFile* found = find_embedded("matrices", file.string()))
      return JsonText(std::string(found->text), std::string(found->path));
    throw Error(ErrorKind::kMissing,
                "there is no matrix file '" + file.string() + "' and no matrix of that name" +
                    known_names_hint(file.string(), embedded_names("matrices")));
  }
  return JsonText::read(file);
}

Matrix::Matrix(const JsonText& file, const HardwareProfiles& profiles, bool allow_many) {
  check_root(file);
  name_ = file.root().at("name").get<std::string>();
  AxisReader reader(file, profiles);
  if (const auto* presets = section(file, "presets", false))
    for (const auto& [name, value] : presets->items())
      reader.add_preset(name, JsonText::child("/presets", name));
  read_defaults(file, reader);
  refuse_many(file, reader, allow_many);
  read_axes(file, reader);
  read_exclusions(file, reader);
  read_includes(file, reader);
  choose_runs();
  if (runs_.empty())
    file.fail(file.root().contains("exclude") ? "/exclude" : "",
              file.root().contains("exclude")
                  ? "exclude leaves no run"
                  : "no run: neither \"matrix\" nor \"include\" has any");
}

void Matrix::read_defaults(const JsonText& file, const AxisReader& reader) {
  const protocol::Cell built_in;
  base_.cell = protocol::all_values(built_in);
  const auto* defaults = section(file, "defaults", false);
  if (!defaults) return;
  for (const auto& [key, value] : defaults->items()) {
    const std::string pointer = JsonText::child("/defaults", key);
    reader.check_key(key, pointer);
    if (value.is_array() || reader.count(key, pointer) != 1)
      file.fail(pointer, "a default is one value; write several in \"matrix\"");
    const AxisValue only = reader.read(key, pointer).values.at(0);
    if (key == "seed") {
      base_.seed = only.value.get<std::uint64_t>();
    } else {
      base_.cell[key] = only.value;
    }
  }
}

void Matrix::refuse_many(const JsonText& file, const AxisReader& reader, bool allow_many) const {
  std::uint64_t total = 0;
  std::string factors;
  const auto* matrix = section(file, "matrix", false);
  if (matrix && !matrix->empty()) {
    total = 1;
    for (const auto& [key, value] : matrix->items()) {
      const std::uint64_t count = reader.count(key, JsonText::child("/matrix", key));
      total = compressors::saturating_product(total, count);
      factors += (factors.empty() ? "" : " x ") + key + " " + std::to_string(count);
    }
  }
  if (const auto* includes = section(file, "include", true)) {
    for (std::size_t i = 0; i < includes->size(); ++i) {
      std::uint64_t product = 1;
      const std::string at = JsonText::child("/include", i);
      for (const auto& [key, value] : (*includes)[i].items())
        product =
            compressors::saturating_product(product, reader.count(key, JsonText::child(at, key)));
      total = std::max(total, total + product);
    }
  }
  const std::string counted = std::to_string(total) + " runs" +
                              (factors.empty() ? "" : " (" + factors + ")") + " before excludes";
  if (total > kMostRuns)
    file.fail("/matrix", counted + ": more than " + std::to_string(kMostRuns) +
                             " cannot be planned; split the matrix");
  if (total > kManyRuns && !allow_many)
    file.fail("/matrix", counted + ": more than " + std::to_string(kManyRuns) +
                             " are refused; give --yes if you mean it");
}

void Matrix::read_axes(const JsonText& file, const AxisReader& reader) {
  const auto* matrix = section(file, "matrix", false);
  if (!matrix) return;
  for (const auto& [key, value] : matrix->items()) {
    const std::string pointer = JsonText::child("/matrix", key);
    reader.check_key(key, pointer);
    Axis axis = reader.read(key, pointer);
    axes_.insert(key == "seed" ? axes_.begin() : axes_.end(), std::move(axis));
  }
}

void Matrix::read_exclusions(const JsonText& file, const AxisReader& reader) {
  const auto* excludes = section(file, "exclude", true);
  if (!excludes) return;
  for (std::size_t i = 0; i < excludes->size(); ++i) {
    const std::string at = JsonText::child("/exclude", i);
    if ((*excludes)[i].empty()) file.fail(at, "an empty exclude takes every run away");
    Exclusion exclusion;
    for (const auto& [key, value] : (*excludes)[i].items()) {
      const std::string pointer = JsonText::child(at, key);
      reader.check_key(key, pointer);
      Axis axis = reader.read(key, pointer);
      const Axis* known = find_axis(key);
      const json base = key == "seed" ? json(base_.seed) : value_at(key, base_.cell.at(key), base_);
      for (const AxisValue& unwanted : axis.values) {
        const bool is_there = known
                                  ? std::any_of(known->values.begin(), known->values.end(),
                                                [&](const AxisValue& v) {
                                                  return value_at(key, v.value, base_) ==
                                                         value_at(key, unwanted.value, base_);
                                                })
                                  : !axes_.empty() && base == value_at(key, unwanted.value, base_);
        if (!is_there)
          file.fail(pointer, "contradictory exclude: no run of the matrix has " + key + " '" +
                                 unwanted.label + "', so this takes nothing away");
      }
      exclusion.push_back(std::move(axis));
    }
    exclusions_.push_back(std::move(exclusion));
  }
}

void Matrix::read_includes(const JsonText& file, const AxisReader& reader) {
  const auto* includes = section(file, "include", true);
  if (!includes) return;
  for (std::size_t i = 0; i < includes->size(); ++i) {
    const std::string at = JsonText::child("/include", i);
    std::vector<Run> runs{base_};
    for (const auto& [key, value] : (*includes)[i].items()) {
      const std::string pointer = JsonText::child(at, key);
      reader.check_key(key, pointer);
      const Axis axis = reader.read(key, pointer);
      std::vector<Run> next;
      for (const Run& run : runs) {
        for (const AxisValue& one : axis.values) {
          next.push_back(run);
          if (key == "seed") {
            next.back().seed = one.value.get<std::uint64_t>();
          } else {
            next.back().cell[key] = one.value;
          }
        }
      }
      runs = std::move(next);
    }
    for (Run& run : runs) settle(run);
    for (Run& run : runs) include(file, at, std::move(run));
  }
}

void Matrix::include(const JsonText& file, const std::string& pointer, Run run) {
  for (std::size_t i = 0; i < exclusions_.size(); ++i)
    if (is_excluded(run, exclusions_[i]))
      file.fail(pointer, "contradictory exclude: this include (" + label(run) +
                             ") is taken away by exclude " + std::to_string(i + 1) + " at line " +
                             std::to_string(file.position(JsonText::child("/exclude", i)).line));
  if (is_product(run))
    file.fail(pointer, "this include (" + label(run) + ") is in the matrix already");
  for (const Run& other : included_)
    if (other.seed == run.seed && other.cell == run.cell)
      file.fail(pointer, "this include (" + label(run) + ") is given twice");
  included_.push_back(std::move(run));
}

void Matrix::choose_runs() {
  if (const Axis* seeds = find_axis("seed")) {
    for (const AxisValue& seed : seeds->values) seeds_.push_back(seed.value.get<std::uint64_t>());
  } else if (!axes_.empty()) {
    seeds_.push_back(base_.seed);
  }
  const std::uint64_t products = product_count();
  for (std::uint64_t index = 0; index < products; ++index) {
    const bool is_out = !exclusions_.empty() && [&, run = product(index)] {
      return std::any_of(exclusions_.begin(), exclusions_.end(),
                         [&](const Exclusion& one) { return is_excluded(run, one); });
    }();
    if (!is_out) runs_.push_back(index);
  }
  if (included_.empty()) return;  // products are in order: the seed is the slowest axis
  std::vector<std::size_t> block_of(included_.size());
  for (std::size_t i = 0; i < included_.size(); ++i) {
    const auto found = std::find(seeds_.begin(), seeds_.end(), included_[i].seed);
    block_of[i] = static_cast<std::size_t>(found - seeds_.begin());
    if (found == seeds_.end()) seeds_.push_back(included_[i].seed);
    runs_.push_back(products + i);
  }
  const std::uint64_t in_block = runs_per_seed();
  const auto block = [&](std::uint64_t run) {
    return run < products ? static_cast<std::size_t>(run / in_block) : block_of[run - products];
  };
  std::sort(runs_.begin(), runs_.end(), [&](std::uint64_t a, std::uint64_t b) {
    return std::pair(block(a), a) < std::pair(block(b), b);
  });
}

RunSpec Matrix::at(std::size_t index) const {
  const std::uint64_t handle = runs_.at(index);
  const std::uint64_t products = product_count();
  if (handle < products) {
    const Run run = product(handle);
    return run_spec(run, static_cast<int>(handle / runs_per_seed()));
  }
  const Run& run = included_.at(handle - products);
  const auto block = std::find(seeds_.begin(), seeds_.end(), run.seed) - seeds_.begin();
  return run_spec(run, static_cast<int>(block));
}

RunSpec Matrix::run_spec(const Run& run, int block) const {
  const protocol::Cell cell = cell_of(run);
  return {cell, key_of(cell), run.seed, label(run), block};
}

const Axis* Matrix::find_axis(const std::string& key) const {
  for (const Axis& axis : axes_)
    if (axis.key == key) return &axis;
  return nullptr;
}

std::uint64_t Matrix::product_count() const {
  if (axes_.empty()) return 0;
  std::uint64_t count = 1;
  for (const Axis& axis : axes_) count *= axis.values.size();
  return count;
}

std::uint64_t Matrix::runs_per_seed() const {
  const Axis* seeds = find_axis("seed");
  return std::max<std::uint64_t>(1, product_count() / (seeds ? seeds->values.size() : 1));
}

Matrix::Run Matrix::product(std::uint64_t index) const {
  Run run = base_;
  for (auto axis = axes_.rbegin(); axis != axes_.rend(); ++axis) {
    const AxisValue& value = axis->values[index % axis->values.size()];
    index /= axis->values.size();
    if (axis->key == "seed") {
      run.seed = value.value.get<std::uint64_t>();
    } else {
      run.cell[axis->key] = value.value;
    }
  }
  settle(run);
  return run;
}

void Matrix::settle(Run& run) {
  json& sites = run.cell.at("compressor");
  sites = sites_at(std::move(sites), run.cell.at("hardware").at("pp").get<int>());
}

json Matrix::value_at(const std::string& key, const json& value, const Run& run) {
  return key == "compressor" ? sites_at(value, run.cell.at("hardware").at("pp").get<int>()) : value;
}

bool Matrix::is_product(const Run& run) const {
  if (axes_.empty()) return false;
  const Axis* seeds = find_axis("seed");
  if (!seeds && run.seed != base_.seed) return false;
  for (const auto& [key, value] : base_.cell.items())
    if (!find_axis(key) && run.cell.at(key) != value_at(key, value, run)) return false;
  return std::all_of(axes_.begin(), axes_.end(), [&](const Axis& axis) {
    const json value = axis.key == "seed" ? json(run.seed) : run.cell.at(axis.key);
    return std::any_of(axis.values.begin(), axis.values.end(), [&](const AxisValue& one) {
      return value_at(axis.key, one.value, run) == value;
    });
  });
}

bool Matrix::is_excluded(const Run& run, const Exclusion& exclusion) const {
  return std::all_of(exclusion.begin(), exclusion.end(), [&](const Axis& axis) {
    const json value = axis.key == "seed" ? json(run.seed) : run.cell.at(axis.key);
    return std::any_of(axis.values.begin(), axis.values.end(), [&](const AxisValue& one) {
      return value_at(axis.key, one.value, run) == value;
    });
  });
}

protocol::Cell Matrix::cell_of(const Run& run) {
  protocol::Cell cell = protocol::cell_from_json(run.cell);
  for (auto& [site, spec] : cell.compression.codecs) spec = spec_in(cell, spec);
  return cell;
}

std::string Matrix::label(const Run& run) const {
  const protocol::Cell cell = protocol::cell_from_json(run.cell);
  std::string text = compressor_label(cell.compression.codecs) + "  " + cell.data.name + "  " +
                     cell.hardware.name + "  seed " + std::to_string(run.seed);
  static const std::set<std::string> kSaid{"compressor", "dataset", "hardware"};
  for (const auto& [key, value] : run.cell.items()) {
    const Axis* axis = find_axis(key);
    const bool is_special =
        axis ? axis->values.size() > 1 : value != value_at(key, base_.cell.at(key), run);
    if (is_special && !kSaid.count(key))
      text.append("  ").append(key).append("=").append(plain_text(value));
  }
  return text;
}

}  // namespace tersor::harness

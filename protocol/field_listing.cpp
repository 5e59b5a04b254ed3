// SPDX-License-Identifier: Apache-2.0
#include "protocol/field_listing.hpp"

#include <nlohmann/json.hpp>

#include "protocol/fields.hpp"

namespace tersor::protocol {
namespace {

constexpr const char* kHead =
    R"(# The fields of a cell
A cell is everything that decides a run but the seed. `tersor list fields --markdown` writes this page from the table
`protocol/cell_fields.def` (a test compares); [adding-a-field.md](adding-a-field.md) adds a line to it.

- *field*: the name in `--filter`. In a matrix file (its [format](../matrices/README.md)) the axes are `seed`,
  `compressor` (a spec, or an object of sites), `hardware` (the name of a profile, which has the `hardware.` fields) and
  every field without a dot.
- *column*: in the table `cell` of the database, and at the end of most views ([results-schema.md](results-schema.md)).
- *absent*: what cells had before the field existed. A cell that has this value has the key that it had then, and its
  JSON leaves the field out. `-`: the field is in every key.

| field | values | default | unit | absent | since | column | meaning |
| --- | --- | --- | --- | --- | --- | --- | --- |
)";

std::string plain(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// In backquotes; "empty" for the empty text, which has nothing to quote.
std::string quoted(const nlohmann::json& value) {
  const std::string text = plain(value);
  return text.empty() ? "empty" : "`" + text + "`";
}

bool is_site(const Field& field) { return field.object == "compressor"; }

std::string allowed(const Field& field) {
  return is_site(field) ? "a codec spec" : values_text(field.type, field.values);
}

std::string without_backquotes(std::string text) {
  std::erase(text, '`');
  return text;
}

}  // namespace

std::string fields_text() {
  std::string text;
  for (const Field& field : fields()) {
    const std::string initial = plain(field.initial);
    text += field.path + ": " + without_backquotes(allowed(field));
    if (!initial.empty()) text += "; default " + initial;
    if (!field.unit.empty()) text += " " + field.unit;
    text += "\n    " + field.meaning + "\n";
  }
  return text;
}

std::string fields_page() {
  std::string page = kHead;
  for (const Field& field : fields())
    page += "| `" + field.path + "` | " + allowed(field) + " | " + quoted(field.initial) + " | " +
            field.unit + " | " + (field.absent ? quoted(*field.absent) : "-") + " | " +
            field.since + " | `" + field.column + "` | " + field.meaning + " |\n";
  return page;
}

nlohmann::ordered_json fields_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Field& field : fields())
    all.push_back({{"field", field.path},
                   {"values", without_backquotes(allowed(field))},
                   {"default", field.initial},
                   {"unit", field.unit},
                   {"absent", field.absent.value_or(nlohmann::json())},
                   {"since", field.since},
                   {"column", field.column},
                   {"meaning", field.meaning}});
  return all;
}

}  // namespace tersor::protocol

// SPDX-License-Identifier: Apache-2.0
#include "protocol/fields.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "common/error.hpp"
#include "protocol/field_listing.hpp"

using namespace tersor::protocol;
using nlohmann::json;

namespace {

/// Another value that the field may have.
json another(const Field& field) {
  const Values& values = field.values;
  switch (field.type) {
    case FieldType::kFlag: return !field.initial.get<bool>();
    case FieldType::kWhole: return static_cast<std::int64_t>(values.low) + 7;
    case FieldType::kReal: return values.low + 0.5;
    case FieldType::kText: break;
  }
  if (field.key == "layers") return "last:1";
  if (field.key == "warmup") return "3";
  if (field.key == "partition") return "4+2";
  const auto other =
      std::find_if(values.choices.begin(), values.choices.end(),
                   [&](const std::string& choice) { return choice != field.initial; });
  return other == values.choices.end() ? json("something") : json(*other);
}

json with(const Field& field, const json& value) {
  return field.object.empty() ? json{{field.key, value}}
                              : json{{field.object, {{field.key, value}}}};
}

}  // namespace

TEST_CASE("every field is read, written, hashed and told from every other") {
  const Cell defaults;
  std::set<std::string> keys{cell_key(defaults, "")};
  for (const Field& field : fields()) {
    INFO(field.path);
    CHECK_FALSE(field.meaning.empty());
    CHECK_FALSE(field.since.empty());
    CHECK(field.check(field.initial) == field.initial);
    if (field.absent) CHECK(field.check(*field.absent) == *field.absent);
    const json value = another(field);
    const Cell cell = cell_from_json(with(field, value));
    CHECK(field.get(cell) == value);
    // Nothing else changed, and nothing is lost on the way to a worker and back.
    json expected = all_values(defaults);
    (field.object.empty() ? expected : expected[field.object])[field.key] = value;
    CHECK(all_values(cell) == expected);
    CHECK(all_values(cell_from_json(json(to_json(cell)))) == expected);
    CHECK(keys.insert(cell_key(cell, "")).second);
  }
}

TEST_CASE("every field refuses another type, naming itself") {
  for (const Field& field : fields()) {
    INFO(field.path);
    for (const json& wrong : {json(json::array()), json()})
      CHECK_THROWS_WITH(field.check(wrong), Catch::Contains(field.key + " must be "));
  }
}

TEST_CASE("the listings name every field") {
  const std::string page = fields_page();
  const std::string text = fields_text();
  const auto listed = json(fields_json());
  REQUIRE(listed.size() == fields().size());
  for (std::size_t i = 0; i < fields().size(); ++i) {
    CHECK_THAT(page, Catch::Contains("\n| `" + fields()[i].path + "` | "));
    CHECK_THAT(text, Catch::Contains(fields()[i].path + ": "));
    CHECK(listed[i]["field"] == fields()[i].path);
  }
}

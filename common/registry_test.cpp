// SPDX-License-Identifier: Apache-2.0
#include "common/registry.hpp"

#include <catch2/catch.hpp>

namespace tersor {
namespace {

struct Fruit {
  static constexpr std::string_view kKind = "fruit";
  std::string name;
  int seeds = 0;
  std::string mistake() const { return seeds < 0 ? "has a negative number of seeds" : ""; }
};

const Registrar<Fruit> kPear({"pear", 10});
const Registrar<Fruit> kApple({"apple", 5});

TEST_CASE("static objects register themselves, and are found by name") {
  const auto& fruit = Registry<Fruit>::instance();
  CHECK(fruit.names() == std::vector<std::string>{"apple", "pear"});
  CHECK(fruit.find("pear").seeds == 10);
  CHECK(fruit.contains("apple"));
  CHECK_FALSE(fruit.contains("plum"));
  CHECK_THROWS_WITH(fruit.find("aple"),
                    "unknown fruit 'aple'; did you mean 'apple'? (known: apple, pear)");
}

TEST_CASE("a name registered twice is an error at the first use, with both places") {
  Registry<Fruit> fruit;
  const auto first = std::source_location::current();
  fruit.add({"plum", 1}, first);
  CHECK(fruit.entries().size() == 1);
  const auto second = std::source_location::current();
  CHECK_NOTHROW(fruit.add({"plum", 2}, second));  // before main, this would end the program
  const auto line = [](const std::source_location& where) {
    return std::string("registry_test.cpp:") + std::to_string(where.line());
  };
  const auto says = [&](const std::string& text) { return Catch::Contains(text); };
  CHECK_THROWS_WITH(fruit.entries(), says("fruit 'plum' is registered twice: in ") &&
                                         says(line(first)) && says(line(second)));
  CHECK_THROWS_AS(fruit.find("plum"), Error);
  CHECK_THROWS_AS(fruit.names(), Error);
}

TEST_CASE("an entry that cannot be used is an error at the first use, with its place") {
  Registry<Fruit> fruit;
  CHECK_NOTHROW(fruit.add({"kiwi", -1}, std::source_location::current()));
  CHECK_THROWS_WITH(fruit.entries(), Catch::Contains("fruit 'kiwi' (") &&
                                         Catch::Contains("registry_test.cpp:") &&
                                         Catch::Contains(") has a negative number of seeds"));
}

}  // namespace
}  // namespace tersor

// SPDX-License-Identifier: Apache-2.0
#include "common/cache_folder.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <optional>
#include <string>

namespace {

/// Sets a variable, and restores it.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("the cache is where XDG_CACHE_HOME says, else in the home folder") {
  const Variable home("HOME", "/nowhere/someone");
  {
    const Variable cache("XDG_CACHE_HOME", "/somewhere");
    CHECK(tersor::cache_folder() == "/somewhere/tersor");
  }
  for (const char* unset : {static_cast<const char*>(nullptr), ""}) {
    const Variable cache("XDG_CACHE_HOME", unset);
    CHECK(tersor::cache_folder() == "/nowhere/someone/.cache/tersor");
  }
}

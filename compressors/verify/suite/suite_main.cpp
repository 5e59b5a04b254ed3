// SPDX-License-Identifier: Apache-2.0
// Catch2 2.13 has no run-time parameters: one test case per codec spec and property group is
// registered here, from trials(), before the session starts.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "compressors/verify/suite/subject.hpp"

namespace tersor::compressors::suite {
namespace {

struct Check {
  const char* name;
  void (*run)(const Subject&);
};

constexpr Check kChecks[] = {{"spec", check_spec},
                             {"bytes", check_bytes},
                             {"values", check_values},
                             {"special values", check_special_values},
                             {"sums", check_sums},
                             {"unbiased", check_unbiased},
                             {"contraction", check_contraction},
                             {"expansion", check_expansion},
                             {"locality", check_locality},
                             {"determinism", check_determinism},
                             {"damaged payloads", check_damaged_payloads},
                             {"state", check_state},
                             {"large", check_large}};

class Invoker : public Catch::ITestInvoker {
 public:
  Invoker(Subject subject, const Check& check) : subject_(std::move(subject)), check_(check) {}
  void invoke() const override {
    INFO(subject_.spec);
    check_.run(subject_);
  }

 private:
  Subject subject_;
  const Check& check_;
};

bool applies(const Check& check, const Trial& trial) {
  return trial.check.empty() || trial.check == check.name;
}

void register_all() {
  for (const Trial& trial : trials()) {
    int checks = 0;
    for (const Check& check : kChecks) {
      if (!applies(check, trial)) continue;
      ++checks;
      const std::string tags =
          std::string("[") + check.name + "]" + (trial.must_fail ? "[!shouldfail]" : "");
      Catch::getMutableRegistryHub().registerTest(
          Catch::makeTestCase(new Invoker(trial.subject, check), "",
                              Catch::NameAndTags(trial.subject.spec + ": " + check.name, tags),
                              CATCH_INTERNAL_LINEINFO));
    }
    if (checks == 0) throw std::runtime_error("there is no check '" + trial.check + "'");
  }
}

}  // namespace
}  // namespace tersor::compressors::suite

int main(int argc, char** argv) {
  Catch::Session session;
  try {
    tersor::compressors::suite::register_all();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "codec suite: %s\n", error.what());
    return 1;
  }
  return session.run(argc, argv);
}

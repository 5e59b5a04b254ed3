// SPDX-License-Identifier: Apache-2.0
#include "compressors/bench/reporter.hpp"

#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace tersor::compressors::bench {
namespace {

class Reporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override {
    std::ostringstream remarks;
    chosen_->SetErrorStream(&remarks);
    const bool goes_on = chosen_->ReportContext(context);
    chosen_->SetErrorStream(&GetErrorStream());
    std::istringstream lines(remarks.str());
    for (std::string line; std::getline(lines, line);)
      if (line.find("Library was built as DEBUG") == std::string::npos)
        GetErrorStream() << line << '\n';
    return goes_on;
  }
  void ReportRuns(const std::vector<Run>& runs) override { chosen_->ReportRuns(runs); }
  void Finalize() override { chosen_->Finalize(); }

 private:
  std::unique_ptr<benchmark::BenchmarkReporter> chosen_{benchmark::CreateDefaultDisplayReporter()};
};

}  // namespace

std::size_t run_rows() {
  Reporter reporter;
  return benchmark::RunSpecifiedBenchmarks(&reporter);
}

}  // namespace tersor::compressors::bench

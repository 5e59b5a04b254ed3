// SPDX-License-Identifier: Apache-2.0
#include "compressors/verify/suite/subject.hpp"

namespace tersor::compressors::suite {

std::vector<Trial> trials() {
  std::vector<Trial> all;
  for (Subject& subject : all_subjects()) all.push_back({.subject = std::move(subject)});
  return all;
}

}  // namespace tersor::compressors::suite

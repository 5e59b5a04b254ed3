// SPDX-License-Identifier: Apache-2.0
// The generic codec suite on the emulated kernels: every codec that has some.
#include "compressors/verify/suite/subject.hpp"
#include "tests/cuda_emulator/emulated_memory.hpp"

namespace tersor::compressors::suite {

std::vector<Trial> trials() {
  static emulator::EmulatedMemory memory;
  emulator::options() = emulator::schedule(0);
  std::vector<Trial> trials;
  for (Subject& subject : all_subjects()) {
    if (!subject.codec->supports(Device::kCuda)) continue;
    subject.codec = on_device(subject.codec, memory);
    trials.push_back({std::move(subject)});
  }
  return trials;
}

}  // namespace tersor::compressors::suite

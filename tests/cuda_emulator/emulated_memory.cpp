// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_emulator/emulated_memory.hpp"

namespace tersor::emulator {

std::byte* EmulatedMemory::allocate(std::size_t bytes) {
  return static_cast<std::byte*>(emulator::allocate(bytes));
}
void EmulatedMemory::release(std::byte* memory) { emulator::release(memory); }
void EmulatedMemory::copy_in(std::byte* to, const void* from, std::size_t bytes) {
  emulator::copy_in(to, from, bytes);
}
void EmulatedMemory::copy_out(void* to, const std::byte* from, std::size_t bytes) {
  emulator::copy_out(to, from, bytes);
}

Options schedule(unsigned number) {
  Options options;
  options.only_device_memory = true;
  options.seed = number + 1;
  if (number == 1) {
    options.order = Order::kReverse;
    options.resident_blocks = 3;
  } else if (number > 1) {
    options.order = Order::kRandom;
    options.resident_blocks = 1 + number % 3;
    options.preempt_one_in = 16;
  }
  return options;
}

}  // namespace tersor::emulator

// SPDX-License-Identifier: Apache-2.0
// Runs a target on every file of a folder and on mutations of each, the same ones every time: what
// builds without libFuzzer test.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "common/error.hpp"
#include "common/files.hpp"
#include "compressors/verify/fuzz/target.hpp"

namespace {

using Bytes = std::vector<std::byte>;

/// xorshift64; below(n) for n > 0.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
  std::uint64_t below(std::uint64_t n) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return (state_ >> 11) % n;
  }

 private:
  std::uint64_t state_;
};

/// One to four changes: a flipped bit, a byte set, a cut, bytes removed, doubled or inserted.
Bytes mutate(Bytes bytes, Draws& draws) {
  constexpr unsigned char kTelling[] = {0x00, 0x01, 0x7F, 0x80, 0xFF, ',', '(', ')', '='};
  for (std::uint64_t left = 1 + draws.below(4); left > 0; --left) {
    if (bytes.empty()) return bytes;
    const std::size_t at = draws.below(bytes.size());
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t count = 1 + draws.below(std::min<std::size_t>(8, bytes.size() - at));
    const auto end = place + static_cast<std::ptrdiff_t>(count);
    switch (draws.below(6)) {
      case 0: bytes[at] ^= static_cast<std::byte>(1u << draws.below(8)); break;
      case 1: bytes[at] = static_cast<std::byte>(kTelling[draws.below(sizeof kTelling)]); break;
      case 2: bytes.resize(at); break;
      case 3: bytes.erase(place, end); break;
      case 4: {
        const Bytes twice(place, end);
        bytes.insert(end, twice.begin(), twice.end());
        break;
      }
      default: bytes.insert(place, static_cast<std::byte>(draws.below(256))); break;
    }
  }
  return bytes;
}

int replay(const std::filesystem::path& folder, int mutations) {
  int inputs = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const Bytes seed = tersor::read_file(file.path());
    std::fprintf(stderr, "%s\n", file.path().c_str());  // the last line names what broke
    tersor::fuzz::run_target(seed);
    Draws draws(seed.size() + 1);
    for (int i = 0; i < mutations; ++i) tersor::fuzz::run_target(mutate(seed, draws));
    inputs += 1 + mutations;
  }
  return inputs;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s FOLDER MUTATIONS\n", argv[0]);
    return 2;
  }
  try {
    const int inputs = replay(argv[1], std::atoi(argv[2]));
    std::printf("%d inputs\n", inputs);
    return inputs > 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "unexpected: %s\n", error.what());
    return 1;
  }
}

// SPDX-License-Identifier: Apache-2.0
// Any bytes are a safetensors file whose tensors are inside it, or are refused as malformed data.
#include "common/safetensors.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "common/error.hpp"
#include "compressors/verify/fuzz/target.hpp"

namespace tersor::fuzz {
namespace {

/// A file in memory; the reader maps files.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::byte> bytes) : handle_(::memfd_create("input", 0)) {
    require(handle_ >= 0, "memfd_create");
    require(::write(handle_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
            "write");
  }
  ~MemoryFile() { ::close(handle_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(handle_); }

 private:
  int handle_;
};

}  // namespace

void run_target(std::span<const std::byte> input) {
  const MemoryFile memory(input);
  const AllocationMeter meter;
  try {
    const SafeTensors file(memory.path());
    std::size_t bytes = 0;
    for (const auto& [name, tensor] : file.tensors()) {
      bytes += tensor.bytes.size();
      if (tensor.dtype == "F32" || tensor.dtype == "F16" || tensor.dtype == "BF16")
        require(file.floats(name).size() == static_cast<std::size_t>(tensor.elements()),
                "a value per element");
    }
    require(bytes <= input.size(), "the tensors are no longer than the file");
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::kData,
            std::string("another kind of error: ") + error.what());
  }
  require(
      meter.peak_bytes() <= 65536 + 256 * input.size(),
      std::to_string(meter.peak_bytes()) + " bytes for a file of " + std::to_string(input.size()));
}

}  // namespace tersor::fuzz

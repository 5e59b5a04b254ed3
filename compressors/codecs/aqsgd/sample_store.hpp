// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "compressors/device/device_memory.hpp"

namespace tersor::compressors {

/// Byte strings by sample id, in memory or in an unnamed temporary file (in TMPDIR) that vanishes
/// with the store.
class SampleStore {
 public:
  explicit SampleStore(bool is_in_file);

  bool contains(std::int64_t id) const { return places_.contains(id); }
  bool empty() const { return places_.empty(); }
  /// Replaces the stored value; throws Error(kIo) where the file cannot be written.
  void put(std::int64_t id, std::span<const std::byte> data);
  /// The stored bytes; `buffer` may be used to hold them. The id must be there.
  std::span<const std::byte> get(std::int64_t id, std::vector<std::byte>& buffer) const;
  /// From now on values are stored in `memory`, which must outlive the store; throws
  /// Error(kUnsupported) where they are in a file.
  void move_to(DeviceMemory& memory);
  /// After move_to: the memory of the value of `id`, with room for `bytes`; allocated where it is
  /// new or of another size, which no capture into a graph can hold.
  std::span<std::byte> place(std::int64_t id, std::size_t bytes);
  /// After move_to: the value stored there.
  std::span<std::byte> on_device(std::int64_t id) const;
  std::vector<std::int64_t> ids() const;
  /// Bytes of memory (or file) that the values take.
  std::size_t bytes() const;
  void clear();

 private:
  struct Place {
    std::vector<std::byte> data;  // in memory
    DeviceArray on_device;
    std::int64_t offset = 0;  // in the file
    std::size_t size = 0;
    std::size_t room = 0;
  };
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::map<std::int64_t, Place> places_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::int64_t file_end_ = 0;
  DeviceMemory* memory_ = nullptr;
};

}  // namespace tersor::compressors

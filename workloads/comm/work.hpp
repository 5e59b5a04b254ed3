// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

namespace tersor::workloads {

enum class CollectiveKind : std::uint8_t {
  kAllReduce,
  kAllGather,
  kAllToAll,
  kBroadcast,
  kSend,
  kReceive
};
std::string_view to_string(CollectiveKind collective);

/// What one collective moved, as the first local rank sees it; of a message: its sender or its
/// receiver.
struct Volume {
  CollectiveKind collective = CollectiveKind::kAllReduce;
  std::uint64_t input_bytes = 0;  ///< given to the process group
  std::uint64_t wire_bytes = 0;   ///< on the wire, by the algorithm (METHODS section 1, "Volume")
};

/// A collective that was started. Until wait() returns its buffers belong to it, and the group that
/// started it outlives it; several may be in flight at once. One that is dropped without wait()
/// ends first.
class Work {
 public:
  /// One that is done already.
  explicit Work(const Volume& volume) : volume_(volume) {}
  virtual ~Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  /// Returns when the buffers may be used again; once more it returns at once. Throws Error(kIo)
  /// when a peer is lost or a timeout passes.
  Volume wait() {
    if (!is_done_) finish();
    is_done_ = true;
    return volume_;
  }

 protected:
  virtual void finish() {}
  bool is_done() const { return is_done_; }

 private:
  Volume volume_;
  bool is_done_ = false;
};

}  // namespace tersor::workloads

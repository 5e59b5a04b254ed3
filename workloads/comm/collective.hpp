// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/tensor.hpp"

namespace tersor::workloads {

enum class SumOrder : std::uint8_t {
  kLibrary,  ///< whatever order the process group adds in
  kRanks     ///< all-gather, then a float32 sum in rank order, rounded once
};

enum class CollectiveKind : std::uint8_t { kAllReduce, kAllGather, kAllToAll, kBroadcast };
std::string_view to_string(CollectiveKind collective);

/// What one collective cost the (first local) rank.
struct Volume {
  CollectiveKind collective = CollectiveKind::kAllReduce;
  std::uint64_t input_bytes = 0;  ///< given to the process group
  std::uint64_t wire_bytes = 0;   ///< on the wire, by the algorithm (METHODS section 1, "Volume")
};

/// A collective under way. wait() once, before its buffers are touched; throws as the collective
/// does.
class Work {
 public:
  virtual ~Work() = default;
  virtual Volume wait() = 0;
};

/// The ranks of one tensor-parallel group. A process hosts `local_ranks()` of them: one, or all of
/// them where shards are emulated; every call takes one buffer per local rank, in rank order, and
/// all processes make the same calls in the same order. Buffers are host memory and belong to the
/// caller (an NCCL group would take device memory and its stream at construction; the calls stay).
/// Throws Error(kIo) when a peer is lost or a timeout passes.
class Collective {
 public:
  using Buffer = std::span<std::byte>;
  using Bytes = std::span<const std::byte>;

  explicit Collective(SumOrder order) : order_(order) {}
  virtual ~Collective() = default;

  virtual std::string backend() const = 0;  ///< "gloo", "emulated", "none"
  virtual int ranks() const = 0;
  virtual int first_rank() const = 0;
  virtual int local_ranks() const = 0;
  SumOrder sum_order() const { return order_; }

  /// Sums `count` elements; the sum is left in buffers[0], the others are scratch afterwards.
  Volume all_reduce(std::span<const Buffer> buffers, std::size_t count, DType dtype);
  /// The same without waiting where the backend can; otherwise done on return.
  virtual std::unique_ptr<Work> start_all_reduce(std::span<const Buffer> buffers, std::size_t count,
                                                 DType dtype);
  /// `out` receives the payloads of all ranks, one after the other; `sizes` has every rank's bytes
  /// (equal on all ranks).
  Volume all_gather(std::span<const Bytes> payloads, std::span<const std::size_t> sizes,
                    Buffer out);
  /// Payload bytes of every rank, where only the sender knows them.
  std::vector<std::size_t> exchange_sizes(std::span<const std::size_t> locals);
  /// payloads[l] is `ranks()` parts of send_sizes[l][to] bytes; outs[l] receives the part for that
  /// rank from every rank, receive_sizes[l][from] bytes each.
  Volume all_to_all(std::span<const Bytes> payloads,
                    std::span<const std::vector<std::size_t>> send_sizes,
                    std::span<const std::vector<std::size_t>> receive_sizes,
                    std::span<const Buffer> outs);
  /// The bytes of rank 0 to all, one message to each. Emulated shards share them already.
  Volume broadcast(Buffer buffer);
  void barrier();

  /// A group of the same kind of some of the ranks, in ascending order, with this group's order of
  /// sums; null where this process hosts none of them. Every process makes the same calls in the
  /// same order, and hosts all or one of the ranks.
  virtual std::unique_ptr<Collective> subgroup(std::span<const int> ranks) const = 0;

  /// Every byte that the group was handed so far, control messages included.
  std::uint64_t input_bytes() const { return input_bytes_; }

 protected:
  virtual void do_all_reduce(std::span<const Buffer> buffers, std::size_t count, DType dtype) = 0;
  virtual void do_all_gather(std::span<const Bytes> payloads, std::span<const std::size_t> sizes,
                             Buffer out) = 0;
  virtual void do_all_to_all(std::span<const Bytes> payloads,
                             std::span<const std::vector<std::size_t>> send_sizes,
                             std::span<const std::vector<std::size_t>> receive_sizes,
                             std::span<const Buffer> outs) = 0;
  virtual void do_broadcast(Buffer buffer) = 0;
  virtual void do_barrier() = 0;
  void count_input(std::uint64_t bytes) { input_bytes_ += bytes; }

 private:
  SumOrder order_;
  std::uint64_t input_bytes_ = 0;
  std::vector<std::byte> gathered_;
};

/// All `ranks` shards in this process and thread; 1 is a job without parallelism. Sums are in rank
/// order: with kLibrary in the element type itself, which equals Gloo at two ranks.
std::unique_ptr<Collective> make_emulated_collective(int ranks, SumOrder order);

struct Rendezvous {
  std::string address = "127.0.0.1";
  int port = 29500;
  int rank = 0;
  int ranks = 1;
  std::chrono::seconds timeout{300};  ///< for the meeting and for every collective
};
/// c10d's Gloo process group over a TCPStore.
std::unique_ptr<Collective> make_gloo_collective(const Rendezvous& rendezvous, SumOrder order);

}  // namespace tersor::workloads

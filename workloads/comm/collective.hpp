// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/tensor.hpp"
#include "workloads/comm/buffer.hpp"
#include "workloads/comm/scratch.hpp"
#include "workloads/comm/work.hpp"

namespace tersor::workloads {

enum class SumOrder : std::uint8_t {
  kLibrary,  ///< whatever order the process group adds in
  kRanks     ///< all-gather, then a float32 sum in rank order, rounded once
};

/// The ranks of one group: tensor-parallel, pipeline, or all of a job. A process hosts
/// `local_ranks()` of them: one, or all of them where shards are emulated; every collective takes
/// one buffer per local rank, in rank order, and all processes start the same collectives in the
/// same order. Buffers belong to the caller and stay untouched until the Work is waited for; the
/// blocking forms start and wait. Throws Error(kIo) when a peer is lost or a timeout passes,
/// Error(kUnsupported) on a buffer whose device the backend cannot take. Not thread-safe.
class Collective {
 public:
  using Sizes = std::vector<std::size_t>;

  explicit Collective(SumOrder order) : order_(order) {}
  virtual ~Collective() = default;

  virtual std::string backend() const = 0;  ///< "gloo", "emulated", "none"
  virtual int ranks() const = 0;
  virtual int first_rank() const = 0;
  virtual int local_ranks() const = 0;
  bool is_local(int rank) const {
    return rank >= first_rank() && rank < first_rank() + local_ranks();
  }
  SumOrder sum_order() const { return order_; }

  /// Sums `count` elements; the sum is left in buffers[0], the others are scratch afterwards.
  std::unique_ptr<Work> start_all_reduce(std::span<const Buffer> buffers, std::size_t count,
                                         DType dtype);
  /// `out` receives the payloads of all ranks, one after the other; `sizes` has every rank's bytes
  /// (equal on all ranks).
  std::unique_ptr<Work> start_all_gather(std::span<const ConstBuffer> payloads,
                                         std::span<const std::size_t> sizes, Buffer out);
  /// payloads[l] is `ranks()` parts of send_sizes[l][to] bytes; outs[l] receives the part for that
  /// rank from every rank, receive_sizes[l][from] bytes each.
  std::unique_ptr<Work> start_all_to_all(std::span<const ConstBuffer> payloads,
                                         std::span<const Sizes> send_sizes,
                                         std::span<const Sizes> receive_sizes,
                                         std::span<const Buffer> outs);
  /// The bytes of rank 0 to all, one message to each. Emulated shards share them already.
  std::unique_ptr<Work> start_broadcast(Buffer buffer);

  /// One message from rank `from`, which is local, to rank `to`. The receiver asks for the same
  /// number of bytes; messages of one pair and tag arrive in the order in which they were sent.
  /// Real ranks meet: a send may end only once its receive has started.
  std::unique_ptr<Work> start_send(ConstBuffer payload, int from, int to, int tag = 0);
  /// The other end, `to` being local. Emulated, its wait() comes after the send has started.
  std::unique_ptr<Work> start_receive(Buffer out, int from, int to, int tag = 0);

  Volume all_reduce(std::span<const Buffer> buffers, std::size_t count, DType dtype) {
    return start_all_reduce(buffers, count, dtype)->wait();
  }
  Volume all_gather(std::span<const ConstBuffer> payloads, std::span<const std::size_t> sizes,
                    Buffer out) {
    return start_all_gather(payloads, sizes, out)->wait();
  }
  Volume all_to_all(std::span<const ConstBuffer> payloads, std::span<const Sizes> send_sizes,
                    std::span<const Sizes> receive_sizes, std::span<const Buffer> outs) {
    return start_all_to_all(payloads, send_sizes, receive_sizes, outs)->wait();
  }
  Volume broadcast(Buffer buffer) { return start_broadcast(buffer)->wait(); }
  Volume send(ConstBuffer payload, int from, int to, int tag = 0) {
    return start_send(payload, from, to, tag)->wait();
  }
  Volume receive(Buffer out, int from, int to, int tag = 0) {
    return start_receive(out, from, to, tag)->wait();
  }

  // The same for callers that hold spans of host memory.
  using HostBuffers = std::span<const std::span<std::byte>>;
  using HostPayloads = std::span<const std::span<const std::byte>>;
  std::unique_ptr<Work> start_all_reduce(HostBuffers buffers, std::size_t count, DType dtype) {
    return start_all_reduce(std::vector<Buffer>(buffers.begin(), buffers.end()), count, dtype);
  }
  Volume all_reduce(HostBuffers buffers, std::size_t count, DType dtype) {
    return start_all_reduce(buffers, count, dtype)->wait();
  }
  Volume all_gather(HostPayloads payloads, std::span<const std::size_t> sizes, Buffer out) {
    return all_gather(std::vector<ConstBuffer>(payloads.begin(), payloads.end()), sizes, out);
  }
  Volume all_to_all(HostPayloads payloads, std::span<const Sizes> send_sizes,
                    std::span<const Sizes> receive_sizes, HostBuffers outs) {
    return all_to_all(std::vector<ConstBuffer>(payloads.begin(), payloads.end()), send_sizes,
                      receive_sizes, std::vector<Buffer>(outs.begin(), outs.end()));
  }

  /// Payload bytes of every rank, where only the sender knows them.
  Sizes exchange_sizes(std::span<const std::size_t> locals);
  void barrier() { do_barrier(); }

  /// A group of the same kind of some of the ranks, in ascending order, with this group's order of
  /// sums; null where this process hosts none of them. Every process makes the same calls in the
  /// same order, and hosts all or one of the ranks.
  virtual std::unique_ptr<Collective> subgroup(std::span<const int> ranks) = 0;

  /// Every byte that the first local rank gave to the group so far, control messages included.
  std::uint64_t input_bytes() const { return input_bytes_; }

 protected:
  /// Of a buffer that a caller may pass.
  virtual bool takes(const Device& device) const { return device.is_host(); }
  // What a backend does; all have a peer, and nothing is empty. `volume` is what the work returns.
  virtual std::unique_ptr<Work> do_all_reduce(std::span<const Buffer> buffers, std::size_t count,
                                              DType dtype, const Volume& volume) = 0;
  virtual std::unique_ptr<Work> do_all_gather(std::span<const ConstBuffer> payloads,
                                              std::span<const std::size_t> sizes, Buffer out,
                                              const Volume& volume) = 0;
  virtual std::unique_ptr<Work> do_all_to_all(std::span<const ConstBuffer> payloads,
                                              std::span<const Sizes> send_sizes,
                                              std::span<const Sizes> receive_sizes,
                                              std::span<const Buffer> outs,
                                              const Volume& volume) = 0;
  virtual std::unique_ptr<Work> do_broadcast(Buffer buffer, const Volume& volume) = 0;
  virtual std::unique_ptr<Work> do_send(ConstBuffer payload, int from, int to, int tag,
                                        const Volume& volume) = 0;
  virtual std::unique_ptr<Work> do_receive(Buffer out, int from, int to, int tag,
                                           const Volume& volume) = 0;
  virtual void do_barrier() = 0;

  ScratchPool& scratch() { return scratch_; }

 private:
  class RankOrderSum;

  void check_device(const ConstBuffer& buffer) const;
  template <typename Buffers>
  void check_locals(const Buffers& buffers) const;
  void check_pair(int from, int to, int local) const;

  SumOrder order_;
  std::uint64_t input_bytes_ = 0;
  ScratchPool scratch_;
};

/// All `ranks` shards in this process and thread; 1 is a job without parallelism. Everything but a
/// receive is done when it has started. Sums are in rank order: with kLibrary in the element type
/// itself, which equals Gloo at two ranks.
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

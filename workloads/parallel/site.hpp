// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/tensor.hpp"
#include "compressors/api/codec.hpp"
#include "workloads/comm/collective.hpp"
#include "workloads/parallel/durations.hpp"
#include "workloads/parallel/messenger.hpp"

namespace tersor::compressors {
class Hierarchical;
}

namespace tersor::workloads {

/// The forward or backward pass that is under way; what every message of it has in common.
struct Pass {
  compressors::Phase phase = compressors::Phase::kTrain;
  std::uint32_t step = 0;
  std::uint16_t call = 0;  ///< micro-batch of the step; batch of an evaluation
  bool compress = true;    ///< false: warm-up, or evaluation with compression off
  bool sample_error = false;
  bool keep_messages = false;  ///< copy what rank 0 hands over into TensorParallel::messages
  std::span<const std::int64_t> sample_ids{};  ///< one per sample
};

/// Which ranks a collective joined: all, those of a node, or the nodes' first ranks.
enum class Level : std::uint8_t { kAll, kNode, kNodes };

/// Sums over calls at one site, direction, phase, collective and codec.
struct TrafficRow {
  std::string site;       ///< "tp" or "tp.backward"
  std::string site_name;  ///< e.g. "layer3.attention"
  compressors::Direction direction = compressors::Direction::kForward;
  compressors::Phase phase = compressors::Phase::kTrain;
  Level level = Level::kAll;
  CollectiveKind collective = CollectiveKind::kAllReduce;
  DType dtype = DType::kFloat32;
  std::string spec;
  std::uint64_t calls = 0;
  std::uint64_t raw_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t metadata_bytes = 0;
  std::uint64_t wire_bytes = 0;
  std::uint64_t input_bytes = 0;
  Durations ns;
};

/// One message of rank 0 and the sum at the site against their uncompressed values; NaN where
/// undefined.
struct ErrorSample {
  std::uint32_t step = 0;
  std::uint16_t site = 0;
  std::string site_name;
  double message_relative_l2 = 0;
  double message_cosine = 0;
  double sum_relative_l2 = 0;
  double sum_cosine = 0;
};

/// What rank 0 handed over at a site.
struct KeptMessage {
  std::string site_name;  ///< gradients end in `.backward`
  Shape shape;
  DType dtype = DType::kFloat32;
  std::vector<std::byte> bits;
};

class Site;

/// The ranks of a group by node: neighbouring ranks, the first of them leads.
struct NodeGroups {
  std::vector<std::unique_ptr<Collective>> nodes;  ///< those with a rank in this process
  std::unique_ptr<Collective> leaders;             ///< null in a process without one
};

/// The tensor-parallel group of a job: its collective, the pass under way, and what its sites
/// record. Not thread-safe; one per process.
class TensorParallel {
 public:
  /// `nodes` divides the ranks.
  TensorParallel(std::unique_ptr<Collective> collective, std::uint64_t seed, bool has_loopback,
                 int threads, int nodes = 1);
  ~TensorParallel();

  Collective& collective() { return *collective_; }
  int ranks() const { return collective_->ranks(); }
  int first_rank() const { return collective_->first_rank(); }
  std::size_t locals() const { return static_cast<std::size_t>(collective_->local_ranks()); }
  NodeGroups& node_groups() { return node_groups_; }
  /// What the process groups of the first local rank were handed.
  std::uint64_t input_bytes() const;
  std::uint64_t seed() const { return seed_; }
  int threads() const { return threads_; }
  /// Codecs work between ranks, or at one rank where the cell asks for loopback.
  bool has_codecs() const { return ranks() > 1 || has_loopback_; }

  /// `codec` null: dense. The site lives as long as the group.
  Site& add_site(std::string kind, std::string name, std::uint16_t id,
                 compressors::Direction direction, std::shared_ptr<const compressors::Codec> codec);
  const std::vector<std::unique_ptr<Site>>& sites() const { return sites_; }

  Pass pass;                          ///< set before each forward
  Durations step;                     ///< since the caller last cleared it
  std::int64_t excluded_ns = 0;       ///< spent on samples and copies that are not part of the job
  std::vector<ErrorSample> errors;    ///< taken away by the caller
  std::vector<KeptMessage> messages;  ///< likewise; only in the process of rank 0

  std::vector<TrafficRow> traffic() const;
  std::uint64_t codec_state_bytes() const;

 private:
  std::unique_ptr<Collective> collective_;
  NodeGroups node_groups_;
  std::uint64_t seed_;
  bool has_loopback_;
  int threads_;
  std::vector<std::unique_ptr<Site>> sites_;
};

/// One place where ranks' partial sums are added: a row-parallel output (forward) or the conjugate
/// all-reduce of a column-parallel input (backward). METHODS sections 1 ("Sum at a site") and 3.
class Site {
 public:
  using Buffer = std::span<std::byte>;

  Site(TensorParallel& group, std::string kind, std::string name, std::uint16_t id,
       compressors::Direction direction, std::shared_ptr<const compressors::Codec> codec);
  ~Site();

  const std::string& name() const { return name_; }
  const compressors::Codec* codec() const { return codec_.get(); }
  /// A message of this shape is not encoded in the pass under way: sum() then works in place.
  bool is_dense(const Shape& shape, DType dtype) const { return active(shape, dtype) == nullptr; }
  /// A learned codec is on in the pass under way; the caller then runs it and calls sum_codes().
  bool is_learned() const;
  /// Channels of a message of this shape that are added in the pass under way; the rest stays each
  /// rank's own.
  std::int64_t summed_hidden(const Shape& shape, DType dtype) const;

  /// Adds the local ranks' contributions (one per local rank, `shape` elements of `dtype`) over all
  /// ranks into `outs`: one buffer for all, or one per local rank where they keep channels of their
  /// own. Dense: outs[l] must be contributions[l], those without an out are scratch afterwards.
  void sum(std::span<const std::span<std::byte>> contributions, const Shape& shape, DType dtype,
           std::span<const std::span<std::byte>> outs);
  void sum(std::span<const std::span<std::byte>> contributions, const Shape& shape, DType dtype,
           std::span<std::byte> out) {
    sum(contributions, shape, dtype, std::span(&out, 1));
  }
  /// Dense and without waiting; `contributions` as above. wait() through finish().
  std::unique_ptr<Work> start_sum(std::span<const std::span<std::byte>> contributions,
                                  const Shape& shape, DType dtype);
  void finish(Work& work, const Shape& shape, DType dtype);

  /// Learned codecs: the codes of the local ranks are added into codes[0]; `shape` is the
  /// message's.
  void sum_codes(std::span<const std::span<std::byte>> codes, std::size_t count, const Shape& shape,
                 DType dtype);
  /// After a learned codec's decoder: its times, and the error sample if the pass asks for one.
  void finish_codes(const Durations& spent, std::span<const std::span<std::byte>> contributions,
                    const Shape& shape, DType dtype, std::span<const std::byte> out);

  std::vector<TrafficRow> traffic() const;
  std::uint64_t state_bytes() const;

 private:
  struct Tree;
  /// States of one codec for messages of one number of samples: a last, short batch of an
  /// evaluation has its own.
  struct StateKey {
    std::int64_t samples;
    Level level;
    auto operator<=>(const StateKey&) const = default;
  };
  struct Key {
    compressors::Phase phase;
    Level level;
    CollectiveKind collective;
    bool is_compressed;
    auto operator<=>(const Key&) const = default;
  };

  /// The codec that encodes a message of this shape in the pass under way; null: dense.
  const compressors::Codec* active(const Shape& shape, DType dtype) const;
  compressors::Context context() const;
  /// `count` states of `codec`, made where there are none yet.
  std::vector<compressors::State*> states(const compressors::Codec& codec, const Message& message,
                                          Level level, std::size_t count, int ranks);
  void sum_dense(const Message& message, std::span<const std::span<std::byte>> outs);
  void sum_by_nodes(const compressors::Hierarchical& codec, const Message& message,
                    std::span<std::byte> out);
  std::string full_name() const;
  void keep(std::span<const std::span<std::byte>> contributions, const Shape& shape, DType dtype);
  void sample_message(const compressors::Codec& codec, const Message& message, ErrorSample& sample);
  /// Compares `out` with the sum of the contributions (kept as they are); all ranks must call it.
  void sample_sum_error(std::span<const std::span<std::byte>> contributions, const Shape& shape,
                        DType dtype, std::span<const std::byte> out, ErrorSample sample);

  void add_durations(const Durations& spent, TrafficRow& row);
  TrafficRow& row(Level level, CollectiveKind collective, bool is_compressed, DType dtype);
  void record(Level level, const Round& round, std::uint64_t raw_bytes, bool is_compressed,
              DType dtype);
  void record_dense(const Volume& volume, const Durations& spent, std::uint64_t raw_bytes,
                    DType dtype);

  TensorParallel& group_;
  std::string kind_;
  std::string name_;
  std::uint16_t id_;
  compressors::Direction direction_;
  std::shared_ptr<const compressors::Codec> codec_;
  Messenger messenger_;
  std::unique_ptr<Tree> tree_;  ///< only where the codec is hierarchical
  std::map<Key, TrafficRow> rows_;
  std::map<StateKey, std::vector<std::unique_ptr<compressors::State>>> states_;
};

}  // namespace tersor::workloads

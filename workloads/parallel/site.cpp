// SPDX-License-Identifier: Apache-2.0
#include "workloads/parallel/site.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "common/error.hpp"
#include "compressors/wrappers/hierarchical/hierarchical.hpp"

namespace tersor::workloads {
namespace {

using compressors::Exchange;
using compressors::Hierarchical;
using Bytes = std::span<const std::byte>;
using Buffer = std::span<std::byte>;

/// Whether the codec's payload is the message itself, added by one all-reduce: the plain collective
/// then does the same without a copy.
bool sends_raw(const compressors::Codec& codec) {
  const compressors::Properties properties = codec.properties();
  return properties.lossless && properties.state == compressors::StateKind::kNone &&
         !properties.learned && codec.rounds() == 1 && codec.exchange(0) == Exchange::kAllReduce;
}

struct Distance {
  double relative_l2 = std::numeric_limits<double>::quiet_NaN();
  double cosine = std::numeric_limits<double>::quiet_NaN();
};

Distance distance(std::span<const float> value, std::span<const float> reference) {
  double error = 0, dot = 0, value_square = 0, reference_square = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const double v = value[i], r = reference[i];
    error += (v - r) * (v - r);
    dot += v * r;
    value_square += v * v;
    reference_square += r * r;
  }
  Distance result;
  if (reference_square > 0) result.relative_l2 = std::sqrt(error / reference_square);
  if (value_square > 0 && reference_square > 0)
    result.cosine = dot / std::sqrt(value_square * reference_square);
  return result;
}

}  // namespace

TensorParallel::TensorParallel(std::unique_ptr<Collective> collective, std::uint64_t seed,
                               bool has_loopback, int threads, int nodes)
    : collective_(std::move(collective)),
      seed_(seed),
      has_loopback_(has_loopback),
      threads_(threads) {
  TERSOR_CHECK(nodes >= 1 && ranks() % nodes == 0, "nodes do not divide the ranks");
  if (nodes == 1) return;
  const int size = ranks() / nodes;
  std::vector<int> leaders;
  for (int first = 0; first < ranks(); first += size) {
    std::vector<int> node(static_cast<std::size_t>(size));
    std::iota(node.begin(), node.end(), first);
    if (auto joined = collective_->subgroup(node)) node_groups_.nodes.push_back(std::move(joined));
    leaders.push_back(first);
  }
  node_groups_.leaders = collective_->subgroup(leaders);
}
TensorParallel::~TensorParallel() = default;

Site& TensorParallel::add_site(std::string kind, std::string name, std::uint16_t id,
                               compressors::Direction direction,
                               std::shared_ptr<const compressors::Codec> codec) {
  sites_.push_back(std::make_unique<Site>(*this, std::move(kind), std::move(name), id, direction,
                                          std::move(codec)));
  return *sites_.back();
}

std::vector<TrafficRow> TensorParallel::traffic() const {
  std::vector<TrafficRow> rows;
  for (const auto& site : sites_)
    for (TrafficRow& row : site->traffic()) rows.push_back(std::move(row));
  return rows;
}

std::uint64_t TensorParallel::codec_state_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& site : sites_) bytes += site->state_bytes();
  return bytes;
}

std::uint64_t TensorParallel::input_bytes() const {
  std::uint64_t bytes = collective_->input_bytes();
  if (!node_groups_.nodes.empty()) bytes += node_groups_.nodes[0]->input_bytes();
  if (node_groups_.leaders) bytes += node_groups_.leaders->input_bytes();
  return bytes;
}

/// What a hierarchical codec needs besides the groups: a messenger each, and the nodes' sums.
struct Site::Tree {
  std::vector<Messenger> nodes;
  std::unique_ptr<Messenger> leaders;
  std::vector<std::vector<std::byte>> sums;  ///< per node with a rank here
};

Site::Site(TensorParallel& group, std::string kind, std::string name, std::uint16_t id,
           compressors::Direction direction, std::shared_ptr<const compressors::Codec> codec)
    : group_(group),
      kind_(std::move(kind)),
      name_(std::move(name)),
      id_(id),
      direction_(direction),
      codec_(std::move(codec)),
      messenger_(group.collective()) {
  if (!dynamic_cast<const Hierarchical*>(codec_.get()) || !group_.has_codecs()) return;
  NodeGroups& groups = group_.node_groups();
  TERSOR_CHECK(!groups.nodes.empty(), codec_->canonical() + " needs several nodes");
  tree_ = std::make_unique<Tree>();
  for (const auto& node : groups.nodes) tree_->nodes.emplace_back(*node);
  if (groups.leaders) tree_->leaders = std::make_unique<Messenger>(*groups.leaders);
  tree_->sums.resize(groups.nodes.size());
}
Site::~Site() = default;

const compressors::Codec* Site::active(const Shape& shape, DType dtype) const {
  if (!codec_ || !group_.pass.compress || !group_.has_codecs()) return nullptr;
  const compressors::Codec& codec = codec_->effective(shape, dtype);
  return sends_raw(codec) ? nullptr : &codec;
}

bool Site::is_learned() const {
  return codec_ && codec_->learned() && group_.pass.compress && group_.has_codecs();
}

std::int64_t Site::summed_hidden(const Shape& shape, DType dtype) const {
  const compressors::Codec* codec = active(shape, dtype);
  return codec ? codec->summed_hidden(shape) : shape.hidden;
}

compressors::Context Site::context() const {
  compressors::Context context;
  context.seed = group_.seed();
  context.step = group_.pass.step;
  context.call = group_.pass.call;
  context.site = id_;
  context.direction = direction_;
  context.phase = group_.pass.phase;
  context.sample_ids = group_.pass.sample_ids;
  context.threads = group_.threads();
  return context;
}

std::vector<compressors::State*> Site::states(const compressors::Codec& codec,
                                              const Message& message, Level level,
                                              std::size_t count, int ranks) {
  auto& kept = states_[{message.shape.samples, level}];
  while (kept.size() < count)
    kept.push_back(
        codec.make_state(message.shape, message.dtype, static_cast<std::uint32_t>(ranks)));
  std::vector<compressors::State*> found;
  for (std::size_t i = 0; i < count; ++i) found.push_back(kept[i].get());
  return found;
}

void Site::sum(std::span<const Buffer> contributions, const Shape& shape, DType dtype,
               std::span<const Buffer> outs) {
  const Message message{contributions, shape, dtype};
  keep(contributions, shape, dtype);
  const compressors::Codec* codec = active(shape, dtype);
  if (!codec) return sum_dense(message, outs);
  if (tree_) {
    sum_by_nodes(dynamic_cast<const Hierarchical&>(*codec), message, outs[0]);
  } else {
    const auto own = states(*codec, message, Level::kAll, group_.locals(), group_.ranks());
    for (const Round& round : messenger_.sum(*codec, message, context(), own, outs))
      record(Level::kAll, round, round.number == 0 ? outs[0].size() : 0, true, dtype);
  }
  // Without channels of their own, all ranks have the same sum.
  if (codec->summed_hidden(shape) == shape.hidden)
    for (std::size_t l = 1; l < outs.size(); ++l)
      std::memcpy(outs[l].data(), outs[0].data(), outs[0].size());
  if (!group_.pass.sample_error) return;
  Timer timer(group_.excluded_ns);
  ErrorSample sample;
  sample_message(*codec, message, sample);
  sample_sum_error(contributions, shape, dtype, outs[0], std::move(sample));
}

void Site::sum_dense(const Message& message, std::span<const Buffer> outs) {
  for (std::size_t l = 0; l < outs.size(); ++l)
    TERSOR_CHECK(outs[l].data() == message.contributions[l].data(), "a dense sum works in place");
  if (group_.ranks() == 1) return;
  Durations spent;
  Volume volume;
  {
    Timer timer(spent.transfer);
    volume = group_.collective().all_reduce(
        message.contributions, static_cast<std::size_t>(message.shape.elements()), message.dtype);
  }
  for (std::size_t l = 1; l < outs.size(); ++l)
    std::memcpy(outs[l].data(), outs[0].data(), outs[0].size());
  record_dense(volume, spent, outs[0].size(), message.dtype);
}

/// The ranks of a node count from 0 in its codec, the nodes in the outer one.
void Site::sum_by_nodes(const Hierarchical& codec, const Message& message, Buffer out) {
  NodeGroups& groups = group_.node_groups();
  std::vector<Buffer> sums;
  std::size_t first = 0;
  for (std::size_t i = 0; i < groups.nodes.size(); ++i) {
    const auto locals = static_cast<std::size_t>(groups.nodes[i]->local_ranks());
    const Message part{message.contributions.subspan(first, locals), message.shape, message.dtype};
    const auto all =
        states(codec.inner(), message, Level::kNode, first + locals, groups.nodes[i]->ranks());
    tree_->sums[i].resize(out.size());
    sums.push_back(tree_->sums[i]);
    for (const Round& round : tree_->nodes[i].sum(codec.inner(), part, context(),
                                                  std::span(all).subspan(first), {&sums[i], 1})) {
      if (i == 0)
        record(Level::kNode, round, round.number == 0 ? out.size() : 0, true, message.dtype);
      else
        add_durations(round.spent, row(Level::kNode, round.volume.collective, true, message.dtype));
    }
    first += locals;
  }
  if (tree_->leaders) {
    compressors::Context at = context();
    at.second_round = true;
    const auto own =
        states(codec.outer(), message, Level::kNodes, sums.size(), groups.leaders->ranks());
    const Message top{sums, message.shape, message.dtype};
    for (const Round& round : tree_->leaders->sum(codec.outer(), top, at, own, std::span(&out, 1)))
      record(Level::kNodes, round, 0, true, message.dtype);
  }
  Round round;
  {
    Timer timer(round.spent.transfer);
    round.volume = groups.nodes[0]->broadcast(out);
  }
  round.payload_bytes = out.size();
  record(Level::kNode, round, 0, true, message.dtype);
}

std::unique_ptr<Work> Site::start_sum(std::span<const Buffer> contributions, const Shape& shape,
                                      DType dtype) {
  keep(contributions, shape, dtype);
  return group_.collective().start_all_reduce(contributions,
                                              static_cast<std::size_t>(shape.elements()), dtype);
}

void Site::finish(Work& work, const Shape& shape, DType dtype) {
  Durations spent;
  Volume volume;
  {
    Timer timer(spent.transfer);
    volume = work.wait();
  }
  record_dense(volume, spent, static_cast<std::uint64_t>(shape.elements()) * item_bytes(dtype),
               dtype);
}

void Site::sum_codes(std::span<const Buffer> codes, std::size_t count, const Shape& shape,
                     DType dtype) {
  Durations spent;
  Volume volume;
  {
    Timer timer(spent.transfer);
    volume = group_.collective().all_reduce(codes, count, dtype);
  }
  const Round round{0, volume, spent, count * item_bytes(dtype), 0};
  record(Level::kAll, round, static_cast<std::uint64_t>(shape.elements()) * item_bytes(dtype), true,
         dtype);
}

std::string Site::full_name() const {
  return direction_ == compressors::Direction::kForward ? name_ : name_ + ".backward";
}

void Site::keep(std::span<const Buffer> contributions, const Shape& shape, DType dtype) {
  if (!group_.pass.keep_messages || group_.first_rank() != 0) return;
  Timer timer(group_.excluded_ns);
  group_.messages.push_back(
      {full_name(), shape, dtype, {contributions[0].begin(), contributions[0].end()}});
}

void Site::sample_message(const compressors::Codec& codec, const Message& message,
                          ErrorSample& sample) {
  sample.message_relative_l2 = sample.message_cosine = std::numeric_limits<double>::quiet_NaN();
  const bool is_single =
      codec.rounds() == 1 && !tree_ && codec.properties().state == compressors::StateKind::kNone;
  if (group_.first_rank() != 0 || !is_single) return;
  const auto count = static_cast<std::size_t>(message.shape.elements());
  std::vector<float> decoded(count), input(count);
  compressors::widen(message.dtype, message.contributions[0].data(), input);
  compressors::Context at = context();
  at.ranks = static_cast<std::uint32_t>(group_.ranks());
  at.local_input = {message.contributions[0].data(), message.shape, message.dtype};
  // A reduced payload overwrote the message: encode again, which draws the same numbers.
  std::vector<std::byte> payload(codec.payload_bytes(message.shape, message.dtype, at));
  const std::size_t bytes = codec.encode(0, at.local_input, payload, nullptr, at);
  codec.decode(Bytes(payload).first(bytes), message.shape, message.dtype, decoded, nullptr, at);
  const Distance found = distance(decoded, input);
  sample.message_relative_l2 = found.relative_l2;
  sample.message_cosine = found.cosine;
}

void Site::sample_sum_error(std::span<const Buffer> contributions, const Shape& shape, DType dtype,
                            Bytes out, ErrorSample sample) {
  const auto count = static_cast<std::size_t>(shape.elements());
  std::vector<std::vector<float>> exact(contributions.size(), std::vector<float>(count));
  std::vector<Buffer> buffers;
  for (std::size_t l = 0; l < contributions.size(); ++l) {
    compressors::widen(dtype, contributions[l].data(), exact[l]);
    buffers.push_back(std::as_writable_bytes(std::span(exact[l])));
  }
  if (group_.ranks() > 1) group_.collective().all_reduce(buffers, count, DType::kFloat32);
  std::vector<float> value(count);
  compressors::widen(dtype, out.data(), value);
  const Distance found = distance(value, exact[0]);
  sample.step = group_.pass.step;
  sample.site = id_;
  sample.site_name = full_name();
  sample.sum_relative_l2 = found.relative_l2;
  sample.sum_cosine = found.cosine;
  group_.errors.push_back(std::move(sample));
}

TrafficRow& Site::row(Level level, CollectiveKind collective, bool is_compressed, DType dtype) {
  TrafficRow& row = rows_[{group_.pass.phase, level, collective, is_compressed}];
  if (row.calls == 0) {
    row.site = kind_;
    row.site_name = name_;
    row.direction = direction_;
    row.phase = group_.pass.phase;
    row.level = level;
    row.collective = collective;
    row.dtype = dtype;
    row.spec = is_compressed ? codec_->canonical() : "none";
  }
  return row;
}

void Site::record(Level level, const Round& round, std::uint64_t raw_bytes, bool is_compressed,
                  DType dtype) {
  TrafficRow& at = row(level, round.volume.collective, is_compressed, dtype);
  ++at.calls;
  at.raw_bytes += raw_bytes;
  at.payload_bytes += round.payload_bytes;
  at.metadata_bytes += round.metadata_bytes;
  at.wire_bytes += round.volume.wire_bytes;
  at.input_bytes += round.volume.input_bytes;
  add_durations(round.spent, at);
}

void Site::record_dense(const Volume& volume, const Durations& spent, std::uint64_t raw_bytes,
                        DType dtype) {
  record(Level::kAll, {0, volume, spent, raw_bytes, 0}, raw_bytes, false, dtype);
}

void Site::add_durations(const Durations& spent, TrafficRow& row) {
  row.ns += spent;
  group_.step += spent;
}

void Site::finish_codes(const Durations& spent, std::span<const Buffer> contributions,
                        const Shape& shape, DType dtype, Bytes out) {
  const CollectiveKind collective = group_.collective().sum_order() == SumOrder::kRanks
                                        ? CollectiveKind::kAllGather
                                        : CollectiveKind::kAllReduce;
  add_durations(spent, row(Level::kAll, collective, true, dtype));
  keep(contributions, shape, dtype);
  if (!group_.pass.sample_error) return;
  Timer timer(group_.excluded_ns);
  ErrorSample sample;
  sample.message_relative_l2 = sample.message_cosine = std::numeric_limits<double>::quiet_NaN();
  sample_sum_error(contributions, shape, dtype, out, std::move(sample));
}

std::vector<TrafficRow> Site::traffic() const {
  std::vector<TrafficRow> rows;
  for (const auto& [key, row] : rows_) rows.push_back(row);
  return rows;
}

std::uint64_t Site::state_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [key, states] : states_)
    for (const auto& state : states)
      if (state) bytes += state->bytes();
  return bytes;
}

}  // namespace tersor::workloads

// SPDX-License-Identifier: Apache-2.0
#include "workloads/messages/site.hpp"

#include <cstring>

#include "common/error.hpp"
#include "compressors/tools/volume.hpp"

namespace tersor::workloads {
namespace {

using compressors::Codec;
using compressors::GroupLevel;

/// Whether the codec's payload is the message itself, added by one all-reduce: the plain collective
/// then does the same without a copy.
bool sends_raw(const Codec& codec) {
  const compressors::Properties properties = codec.properties();
  return properties.lossless && properties.state == compressors::StateKind::kNone &&
         !properties.learned && codec.rounds() == 1 &&
         codec.exchange(0) == compressors::Exchange::kAllReduce;
}

std::uint64_t raw_bytes_of(const Shape& shape, DType dtype) {
  return static_cast<std::uint64_t>(shape.elements()) * item_bytes(dtype);
}

}  // namespace

Site::Site(const SiteHost& host, SiteIdentity identity, std::shared_ptr<const Codec> codec)
    : host_(host),
      identity_(std::move(identity)),
      codec_(std::move(codec)),
      account_(host_.ledger.open(identity_, codec_ ? codec_->canonical() : "none")),
      sampler_(host_.ranks.all(), host_.ledger) {
  if (!codec_ || !host_.has_codecs) return;
  for (const compressors::TopologyStage& stage : codec_->topology()) route(stage.level);
}

const Codec* Site::active(const PassContext& pass, const Shape& shape, DType dtype) const {
  if (!codec_ || !pass.compress || !host_.has_codecs) return nullptr;
  const Codec& codec = codec_->effective(shape, dtype);
  return sends_raw(codec) ? nullptr : &codec;
}

bool Site::is_learned(const PassContext& pass) const {
  return codec_ && codec_->learned() && pass.compress && host_.has_codecs;
}

std::int64_t Site::summed_hidden(const PassContext& pass, const Shape& shape, DType dtype) const {
  const Codec* codec = active(pass, shape, dtype);
  return codec ? codec->summed_hidden(shape) : shape.hidden;
}

compressors::Context Site::context(const PassContext& pass) const {
  compressors::Context context;
  context.seed = host_.seed;
  context.step = pass.step;
  context.call = pass.call;
  context.site = identity_.number;
  context.direction = identity_.direction;
  context.phase = pass.phase;
  context.sample_ids = pass.sample_ids;
  context.threads = host_.threads;
  return context;
}

std::vector<compressors::State*> Site::states(const Codec& codec, const Message& message,
                                              GroupLevel level, std::size_t count, int ranks) {
  auto& stored = states_[{message.shape.samples, level}];
  while (stored.size() < count)
    stored.push_back(
        codec.make_state(message.shape, message.dtype, static_cast<std::uint32_t>(ranks)));
  std::vector<compressors::State*> found;
  for (std::size_t i = 0; i < count; ++i) found.push_back(stored[i].get());
  return found;
}

Site::Route& Site::route(GroupLevel level) {
  const auto [found, is_new] = routes_.try_emplace(level);
  if (is_new)
    for (Collective* group : host_.ranks.at(level))
      found->second.messengers.emplace_back(
          *group, host_.ranks.places(level, found->second.messengers.size()));
  found->second.sums.resize(found->second.messengers.size());
  return found->second;
}

void Site::sum(const PassContext& pass, const Message& message, std::span<const Buffer> outs) {
  store(pass, message);
  const Codec* codec = active(pass, message.shape, message.dtype);
  if (!codec) return sum_dense(pass, message, outs);
  const ErrorSampler::Before before = remember(pass, *codec, message);
  sum_by_stages(pass, *codec, message, outs);
  // Without channels of their own, all ranks have the same sum.
  if (codec->summed_hidden(message.shape) == message.shape.hidden)
    for (std::size_t l = 1; l < outs.size(); ++l)
      std::memcpy(outs[l].data(), outs[0].data(), outs[0].size());
  sampler_.sample(pass, identity_, message, outs[0], before);
}

ErrorSampler::Before Site::remember(const PassContext& pass, const Codec& codec,
                                    const Message& message) {
  const Collective& all = host_.ranks.all();
  const bool has_one_stage = codec.topology().size() == 1;
  const auto stored = has_one_stage ? states(codec, message, GroupLevel::kAll,
                                             message.contributions.size(), all.ranks())
                                    : std::vector<compressors::State*>{nullptr};
  return sampler_.remember(pass, codec, context(pass), stored[0]);
}

void Site::sum_dense(const PassContext& pass, const Message& message,
                     std::span<const Buffer> outs) {
  for (std::size_t l = 0; l < outs.size(); ++l)
    TERSOR_CHECK(outs[l].data() == message.contributions[l].data(), "a dense sum works in place");
  if (host_.ranks.all().ranks() == 1) return;
  Round round;
  {
    Timer timer(round.spent.transfer);
    round.volume = host_.ranks.all().all_reduce(
        message.contributions, static_cast<std::size_t>(message.shape.elements()), message.dtype);
  }
  for (std::size_t l = 1; l < outs.size(); ++l)
    std::memcpy(outs[l].data(), outs[0].data(), outs[0].size());
  round.payload_bytes = outs[0].size();
  round.wire_bytes_at = WireBytesAt::all_reduce(round.payload_bytes, host_.ranks.all().sum_order());
  account_.add({pass.phase, GroupLevel::kAll, round.volume.collective, false, message.dtype}, round,
               round.payload_bytes);
}

/// What the groups of one stage sum is what the first ranks of these groups hand to the next stage.
void Site::sum_by_stages(const PassContext& pass, const Codec& codec, const Message& message,
                         std::span<const Buffer> outs) {
  const std::vector<compressors::TopologyStage> stages = codec.topology();
  const GroupLevel last = stages.back().level;
  TERSOR_CHECK(last != GroupLevel::kNode, codec.canonical() + " never leaves the nodes");
  Message part = message;
  std::vector<Buffer> sums;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    compressors::Context at = context(pass);
    at.second_round = i > 0;
    const bool is_last = i + 1 == stages.size();
    sums = run_stage(stages[i], part, at, i == 0 ? outs[0].size() : 0,
                     is_last ? outs : std::span<const Buffer>{});
    part.contributions = sums;
  }
  if (last == GroupLevel::kNodes) broadcast_in_nodes(pass, message.dtype, outs[0]);
}

/// Sums in each group of the stage: the only one's sum goes to `outs`, where given, else each
/// group has a buffer of its own.
std::vector<Site::Buffer> Site::run_stage(const compressors::TopologyStage& stage,
                                          const Message& message,
                                          const compressors::Context& context,
                                          std::uint64_t raw_bytes, std::span<const Buffer> outs) {
  const std::span<Collective* const> groups = host_.ranks.at(stage.level);
  Route& at = route(stage.level);
  std::vector<Buffer> sums;
  std::size_t first = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto locals = static_cast<std::size_t>(groups[g]->local_ranks());
    const Message own{message.contributions.subspan(first, locals), message.shape, message.dtype};
    const auto stored =
        states(*stage.codec, message, stage.level, first + locals, groups[g]->ranks());
    if (outs.empty()) at.sums[g].resize(raw_bytes_of(message.shape, message.dtype));
    sums.push_back(outs.empty() ? Buffer(at.sums[g]) : outs[0]);
    const std::span<const Buffer> to = outs.empty() ? std::span<const Buffer>(&sums[g], 1) : outs;
    for (Round& round :
         at.messengers[g].sum(*stage.codec, own, context, std::span(stored).subspan(first), to)) {
      // How many nodes there would be is not known.
      if (stage.level == GroupLevel::kAll)
        round.wire_bytes_at = wire_bytes_at(*stage.codec, own, context, round.number);
      const Entry entry{context.phase, stage.level, round.volume.collective, true, message.dtype};
      if (g == 0)
        account_.add(entry, round, round.number == 0 ? raw_bytes : 0);
      else
        account_.add(entry, round.spent);
    }
    first += locals;
  }
  return sums;
}

const WireBytesAt& Site::wire_bytes_at(const Codec& codec, const Message& message,
                                       const compressors::Context& context, int round) {
  const Shape& shape = message.shape;
  const auto [found, is_new] = wire_bytes_at_.try_emplace(
      {&codec, shape.samples, shape.tokens, shape.hidden, message.dtype, round});
  if (!is_new) return found->second;
  compressors::Context at = context;
  at.rank = 0;
  for (std::size_t i = 0; i < kOtherRanks.size(); ++i) {
    at.ranks = static_cast<std::uint32_t>(kOtherRanks[i]);
    found->second.bytes[i] = compressors::round_wire_bytes(
        codec, shape, message.dtype, at, round, host_.ranks.all().sum_order() == SumOrder::kRanks);
  }
  return found->second;
}

void Site::broadcast_in_nodes(const PassContext& pass, DType dtype, Buffer out) {
  Round round;
  {
    Timer timer(round.spent.transfer);
    round.volume = host_.ranks.at(GroupLevel::kNode)[0]->broadcast(out);
  }
  round.payload_bytes = out.size();
  account_.add({pass.phase, GroupLevel::kNode, round.volume.collective, true, dtype}, round, 0);
}

std::unique_ptr<Work> Site::start_sum(const PassContext& pass, const Message& message) {
  store(pass, message);
  return host_.ranks.all().start_all_reduce(
      message.contributions, static_cast<std::size_t>(message.shape.elements()), message.dtype);
}

void Site::finish(const PassContext& pass, Work& work, const Message& message) {
  Round round;
  {
    Timer timer(round.spent.transfer);
    round.volume = work.wait();
  }
  round.payload_bytes = raw_bytes_of(message.shape, message.dtype);
  round.wire_bytes_at = WireBytesAt::all_reduce(round.payload_bytes, host_.ranks.all().sum_order());
  account_.add({pass.phase, GroupLevel::kAll, round.volume.collective, false, message.dtype}, round,
               round.payload_bytes);
}

void Site::sum_codes(const PassContext& pass, std::span<const Buffer> codes, std::size_t count,
                     const Shape& shape, DType dtype) {
  Round round;
  {
    Timer timer(round.spent.transfer);
    round.volume = host_.ranks.all().all_reduce(codes, count, dtype);
  }
  round.payload_bytes = count * item_bytes(dtype);
  round.wire_bytes_at = WireBytesAt::all_reduce(round.payload_bytes, host_.ranks.all().sum_order());
  account_.add({pass.phase, GroupLevel::kAll, round.volume.collective, true, dtype}, round,
               raw_bytes_of(shape, dtype));
}

void Site::finish_codes(const PassContext& pass, const Durations& spent, const Message& message,
                        Bytes out) {
  const CollectiveKind collective = host_.ranks.all().sum_order() == SumOrder::kRanks
                                        ? CollectiveKind::kAllGather
                                        : CollectiveKind::kAllReduce;
  account_.add({pass.phase, GroupLevel::kAll, collective, true, message.dtype}, spent);
  store(pass, message);
  sampler_.sample(pass, identity_, message, out,
                  {.no_message = "the codec is learned, and a part of the model"});
}

void Site::store(const PassContext& pass, const Message& message) {
  if (!pass.stores_messages || host_.ranks.all().first_rank() != 0) return;
  const Timer timer = host_.ledger.exclude();
  const Buffer& own = message.contributions[0];
  pass.recorder->record(
      StoredMessage{identity_.full_name(), message.shape, message.dtype, {own.begin(), own.end()}});
}

std::uint64_t Site::state_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [key, stored] : states_)
    for (const auto& state : stored)
      if (state) bytes += state->bytes();
  return bytes;
}

}  // namespace tersor::workloads

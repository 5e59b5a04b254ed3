// SPDX-License-Identifier: Apache-2.0
#include "workloads/parallel/site.hpp"

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include "common/error.hpp"

namespace tersor::workloads {
namespace {

using compressors::Exchange;
using Bytes = std::span<const std::byte>;
using Buffer = std::span<std::byte>;

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

/// Adds the time of its scope.
class Timer {
 public:
  explicit Timer(std::int64_t& total) : total_(total), start_(now_ns()) {}
  ~Timer() { total_ += now_ns() - start_; }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  std::int64_t& total_;
  std::int64_t start_;
};

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
                               bool has_loopback, int threads)
    : collective_(std::move(collective)),
      seed_(seed),
      has_loopback_(has_loopback),
      threads_(threads) {}
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

struct Site::Message {
  std::span<const Buffer> contributions;
  Shape shape;
  DType dtype;
};

/// Kept from message to message, so that a step allocates nothing here.
struct Site::Buffers {
  std::vector<std::vector<std::byte>> payloads;  ///< per local rank: what it hands over
  std::vector<Buffer> encoded;                   ///< the used part of payloads
  std::vector<std::byte> received;               ///< what the last exchange brought to all ranks
  std::vector<std::vector<std::byte>> parts;     ///< kAllToAll: what it brought to each local rank
  std::vector<std::vector<Bytes>> arrived;       ///< per local rank: views of the above
  std::vector<std::byte> workspace;
  std::vector<float> scratch;
};

Site::Site(TensorParallel& group, std::string kind, std::string name, std::uint16_t id,
           compressors::Direction direction, std::shared_ptr<const compressors::Codec> codec)
    : group_(group),
      kind_(std::move(kind)),
      name_(std::move(name)),
      id_(id),
      direction_(direction),
      codec_(std::move(codec)),
      sends_raw_(!codec_ || sends_raw(*codec_)),
      buffers_(std::make_unique<Buffers>()) {
  buffers_->payloads.resize(group_.locals());
  buffers_->encoded.resize(group_.locals());
  buffers_->parts.resize(group_.locals());
  buffers_->arrived.resize(group_.locals());
}
Site::~Site() = default;

bool Site::is_dense() const { return sends_raw_ || !group_.pass.compress || !group_.has_codecs(); }

bool Site::is_learned() const { return !is_dense() && codec_->learned().has_value(); }

compressors::Context Site::context(std::size_t local) const {
  compressors::Context context;
  context.seed = group_.seed();
  context.step = group_.pass.step;
  context.call = group_.pass.call;
  context.site = id_;
  context.direction = direction_;
  context.phase = group_.pass.phase;
  context.rank =
      static_cast<std::uint32_t>(group_.first_rank()) + static_cast<std::uint32_t>(local);
  context.ranks = static_cast<std::uint32_t>(group_.ranks());
  context.sample_ids = group_.pass.sample_ids;
  context.workspace = buffers_->workspace;
  context.threads = group_.threads();
  return context;
}

/// States are kept by number of samples: a last, short batch of an evaluation has its own.
compressors::State* Site::state(const Message& message, std::size_t local) {
  if (codec_->properties().state == compressors::StateKind::kNone && codec_->rounds() == 1)
    return nullptr;
  auto& states = states_[message.shape.samples];
  if (states.empty())
    for (std::size_t l = 0; l < group_.locals(); ++l)
      states.push_back(codec_->make_state(message.shape, message.dtype,
                                          static_cast<std::uint32_t>(group_.ranks())));
  return states[local].get();
}

void Site::sum(std::span<const Buffer> contributions, const Shape& shape, DType dtype, Buffer out) {
  if (!is_dense()) {
    const Message message{contributions, shape, dtype};
    sum_encoded(message, out);
    if (group_.pass.sample_error) {
      Timer timer(group_.excluded_ns);
      ErrorSample sample;
      sample_message(message, sample);
      sample_sum_error(contributions, shape, dtype, out, std::move(sample));
    }
    return;
  }
  TERSOR_CHECK(out.data() == contributions[0].data(), "a dense sum works in place");
  if (group_.ranks() == 1) return;
  Durations spent;
  Crossing crossing;
  {
    Timer timer(spent.transfer);
    crossing = group_.collective().all_reduce(contributions,
                                              static_cast<std::size_t>(shape.elements()), dtype);
  }
  record(crossing, spent, out.size(), out.size(), 0, false, dtype);
}

std::unique_ptr<Pending> Site::start_sum(std::span<const Buffer> contributions, const Shape& shape,
                                         DType dtype) {
  return group_.collective().start_all_reduce(contributions,
                                              static_cast<std::size_t>(shape.elements()), dtype);
}

void Site::finish(Pending& pending, const Shape& shape, DType dtype) {
  Durations spent;
  Crossing crossing;
  {
    Timer timer(spent.transfer);
    crossing = pending.wait();
  }
  const std::uint64_t bytes = static_cast<std::uint64_t>(shape.elements()) * item_bytes(dtype);
  record(crossing, spent, bytes, bytes, 0, false, dtype);
}

void Site::sum_codes(std::span<const Buffer> codes, std::size_t count, const Shape& shape,
                     DType dtype) {
  Durations spent;
  Crossing crossing;
  {
    Timer timer(spent.transfer);
    crossing = group_.collective().all_reduce(codes, count, dtype);
  }
  record(crossing, spent, static_cast<std::uint64_t>(shape.elements()) * item_bytes(dtype),
         count * item_bytes(dtype), 0, true, dtype);
}

void Site::sum_encoded(const Message& message, Buffer out) {
  const int rounds = codec_->rounds();
  buffers_->workspace.resize(codec_->workspace_bytes(message.shape, message.dtype, context(0)));
  for (int round = 0; round < rounds; ++round) {
    Durations spent;
    Exchanged exchanged;
    {
      Timer timer(spent.encode);
      encode_round(message, round);
    }
    {
      Timer timer(spent.transfer);
      exchanged = exchange_round(message, round);
    }
    {
      Timer timer(spent.decode);
      if (round + 1 == rounds)
        combine(message, out);
      else
        for (std::size_t l = 0; l < group_.locals(); ++l)
          codec_->absorb(round, buffers_->arrived[l], message.shape, message.dtype,
                         state(message, l), context(l));
    }
    const std::size_t size_bytes = exchanged.size_bytes;
    record(
        exchanged.crossing, spent, round == 0 ? out.size() : 0,
        buffers_->encoded[0].size() + size_bytes,
        codec_->metadata_bytes(message.shape, message.dtype, context(0), round, state(message, 0)) +
            size_bytes,
        true, message.dtype);
  }
}

void Site::encode_round(const Message& message, int round) {
  for (std::size_t l = 0; l < group_.locals(); ++l) {
    const compressors::Context own = context(l);
    std::vector<std::byte>& payload = buffers_->payloads[l];
    payload.resize(
        codec_->payload_bytes(message.shape, message.dtype, own, round, state(message, l)));
    const TensorView in{message.contributions[l].data(), message.shape, message.dtype};
    const std::size_t bytes = codec_->encode(round, in, payload, state(message, l), own);
    buffers_->encoded[l] = Buffer(payload).first(bytes);
  }
}

Site::Exchanged Site::exchange_round(const Message& message, int round) {
  switch (codec_->exchange(round)) {
    case Exchange::kAllReduce:
      if (codec_->rounds() > 1 || group_.collective().sum_order() == SumOrder::kLibrary)
        return exchange_sum(message, round);
      return exchange_gather(message, round);
    case Exchange::kGather: return exchange_gather(message, round);
    case Exchange::kAllToAll: return exchange_parts(message, round);
  }
  throw Error(ErrorKind::kInternal, "unknown exchange");
}

Site::Exchanged Site::exchange_sum(const Message& message, int round) {
  const DType dtype = codec_->reduce_dtype(round, message.dtype);
  const std::size_t count = buffers_->encoded[0].size() / item_bytes(dtype);
  const Crossing crossing = group_.collective().all_reduce(buffers_->encoded, count, dtype);
  for (auto& arrived : buffers_->arrived) arrived.assign(1, buffers_->encoded[0]);
  return {crossing, 0};
}

Site::Exchanged Site::exchange_gather(const Message& message, int round) {
  const auto ranks = static_cast<std::uint32_t>(group_.ranks());
  Exchanged result;
  std::vector<std::size_t> sizes(ranks);
  if (codec_->properties().fixed_size) {
    for (std::uint32_t r = 0; r < ranks; ++r)
      sizes[r] =
          codec_->part_bytes(message.shape, message.dtype, context(0), round, r, state(message, 0));
  } else {
    std::vector<std::size_t> locals;
    for (const Buffer& payload : buffers_->encoded) locals.push_back(payload.size());
    const std::uint64_t before = group_.collective().handed_bytes();
    sizes = group_.collective().exchange_sizes(locals);
    result.size_bytes = group_.collective().handed_bytes() - before;
  }
  std::size_t total = 0;
  for (const std::size_t bytes : sizes) total += bytes;
  buffers_->received.resize(total);
  const std::vector<Bytes> payloads(buffers_->encoded.begin(), buffers_->encoded.end());
  result.crossing = group_.collective().all_gather(payloads, sizes, buffers_->received);
  result.crossing.handed_bytes += result.size_bytes;
  result.crossing.sent_bytes += all_gather_sent_bytes(result.size_bytes, group_.ranks());
  std::vector<Bytes> arrived;
  for (std::size_t r = 0, at = 0; r < ranks; at += sizes[r++])
    arrived.push_back(Bytes(buffers_->received).subspan(at, sizes[r]));
  for (auto& view : buffers_->arrived) view = arrived;
  return result;
}

Site::Exchanged Site::exchange_parts(const Message& message, int round) {
  const auto ranks = static_cast<std::uint32_t>(group_.ranks());
  std::vector<std::vector<std::size_t>> sent(group_.locals()), received(group_.locals());
  std::vector<Buffer> outs;
  for (std::size_t l = 0; l < group_.locals(); ++l) {
    std::size_t total = 0;
    for (std::uint32_t r = 0; r < ranks; ++r) {
      sent[l].push_back(codec_->part_bytes(message.shape, message.dtype, context(l), round, r,
                                           state(message, l)));
      compressors::Context sender = context(l);
      const std::uint32_t own = sender.rank;
      sender.rank = r;
      received[l].push_back(
          codec_->part_bytes(message.shape, message.dtype, sender, round, own, state(message, l)));
      total += received[l].back();
    }
    buffers_->parts[l].resize(total);
    outs.push_back(buffers_->parts[l]);
  }
  const std::vector<Bytes> payloads(buffers_->encoded.begin(), buffers_->encoded.end());
  Exchanged result;
  result.crossing = group_.collective().all_to_all(payloads, sent, received, outs);
  for (std::size_t l = 0; l < group_.locals(); ++l) {
    buffers_->arrived[l].clear();
    for (std::size_t r = 0, at = 0; r < ranks; at += received[l][r++])
      buffers_->arrived[l].push_back(Bytes(buffers_->parts[l]).subspan(at, received[l][r]));
  }
  return result;
}

/// Ranks with a state combine too, so that their receivers' halves stay equal; the sum is the same.
void Site::combine(const Message& message, Buffer out) {
  const auto count = static_cast<std::size_t>(message.shape.elements());
  for (std::size_t l = group_.locals(); l-- > 0;) {
    compressors::State* const own = state(message, l);
    if (l > 0 && !own) continue;
    compressors::Context at = context(l);
    at.local_input = {message.contributions[l].data(), message.shape, message.dtype};
    const bool is_direct = l == 0 && message.dtype == DType::kFloat32;
    if (!is_direct) buffers_->scratch.resize(count);
    const std::span<float> sum =
        is_direct ? std::span(reinterpret_cast<float*>(out.data()), count) : buffers_->scratch;
    codec_->combine(buffers_->arrived[l], message.shape, message.dtype, sum, own, at);
    if (l == 0 && !is_direct) compressors::round_to(message.dtype, sum, out.data());
  }
}

void Site::sample_message(const Message& message, ErrorSample& sample) {
  sample.message_relative_l2 = sample.message_cosine = std::numeric_limits<double>::quiet_NaN();
  const bool is_plain =
      codec_->rounds() == 1 && !state(message, 0) && codec_->exchange(0) == Exchange::kGather;
  if (group_.first_rank() != 0) return;
  const auto count = static_cast<std::size_t>(message.shape.elements());
  std::vector<float> decoded(count), input(count);
  compressors::widen(message.dtype, message.contributions[0].data(), input);
  compressors::Context at = context(0);
  at.local_input = {message.contributions[0].data(), message.shape, message.dtype};
  if (is_plain) {
    codec_->decode(buffers_->encoded[0], message.shape, message.dtype, decoded, nullptr, at);
  } else if (codec_->rounds() == 1 && !state(message, 0)) {
    // The reduced payload overwrote the message: encode it again, which draws the same numbers.
    std::vector<std::byte> payload(buffers_->payloads[0].size());
    const std::size_t bytes = codec_->encode(
        0, {message.contributions[0].data(), message.shape, message.dtype}, payload, nullptr, at);
    codec_->decode(Bytes(payload).first(bytes), message.shape, message.dtype, decoded, nullptr, at);
  } else {
    return;
  }
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
  sample.site_name = direction_ == compressors::Direction::kForward ? name_ : name_ + ".backward";
  sample.sum_relative_l2 = found.relative_l2;
  sample.sum_cosine = found.cosine;
  group_.errors.push_back(std::move(sample));
}

TrafficRow& Site::row(Operation operation, bool is_compressed, DType dtype) {
  TrafficRow& row = rows_[{group_.pass.phase, operation, is_compressed}];
  if (row.calls == 0) {
    row.site = kind_;
    row.site_name = name_;
    row.direction = direction_;
    row.phase = group_.pass.phase;
    row.operation = operation;
    row.dtype = dtype;
    row.spec = is_compressed ? codec_->canonical() : "none";
  }
  return row;
}

void Site::record(const Crossing& crossing, const Durations& spent, std::uint64_t raw_bytes,
                  std::uint64_t payload_bytes, std::uint64_t metadata_bytes, bool is_compressed,
                  DType dtype) {
  TrafficRow& at = row(crossing.operation, is_compressed, dtype);
  ++at.calls;
  at.raw_bytes += raw_bytes;
  at.payload_bytes += payload_bytes;
  at.metadata_bytes += metadata_bytes;
  at.sent_bytes += crossing.sent_bytes;
  at.handed_bytes += crossing.handed_bytes;
  add_durations(spent, at);
}

void Site::add_durations(const Durations& spent, TrafficRow& row) {
  for (Durations* total : {&row.ns, &group_.step}) {
    total->encode += spent.encode;
    total->transfer += spent.transfer;
    total->decode += spent.decode;
  }
}

void Site::finish_codes(const Durations& spent, std::span<const Buffer> contributions,
                        const Shape& shape, DType dtype, Bytes out) {
  const Operation operation = group_.collective().sum_order() == SumOrder::kRanks
                                  ? Operation::kAllGather
                                  : Operation::kAllReduce;
  add_durations(spent, row(operation, true, dtype));
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
  for (const auto& [samples, states] : states_)
    for (const auto& state : states)
      if (state) bytes += state->bytes();
  return bytes;
}

}  // namespace tersor::workloads

// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/powersgd/powersgd.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "common/error.hpp"
#include "compressors/api/workspace.hpp"
#include "compressors/base/dense.hpp"
#include "compressors/host/blocks.hpp"
#include "compressors/host/kernels.hpp"
#include "compressors/host/shares.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/wire/bits.hpp"

namespace tersor::compressors {
namespace {

CodecInfo powersgd_info() {
  CodecInfo info;
  info.name = "powersgd";
  info.summary = "low-rank factors by warm-started power iteration";
  info.source = "Vogels et al., PowerSGD, NeurIPS 2019";
  info.parameters = {
      Parameter::integer("rank", 4, 1, 2147483647, "columns of the factors"),
      Parameter::integer("iterations", 1, 1, 1024, "power iterations per message"),
      Parameter::choice("reduction", {"sum", "mean"}, "mean: as published at tensor sites"),
  };
  info.strength = Strength{"rank"};
  info.make = [](const Arguments& a) {
    return std::make_shared<PowerSgd>(a.integer("rank"), static_cast<int>(a.integer("iterations")),
                                      a.choice("reduction") == "mean", a.canonical());
  };
  info.examples = {"powersgd(rank=1)", "powersgd(rank=2,iterations=2)", "powersgd(reduction=mean)"};
  info.gates = {{"encode", "powersgd", 0.20}, {"encode", "powersgd(rank=8)", 0.12}};
  return info;
}

const CodecRegistrar kRegistrar(powersgd_info());

class FactorState final : public State {
 public:
  explicit FactorState(std::int64_t rank) : rank_(rank) {}

  std::size_t bytes() const override { return last_q.size() * sizeof(float); }

  std::vector<std::byte> save() const override {
    const auto head = std::as_bytes(std::span(&shape, 1));
    const auto values = std::as_bytes(std::span(last_q));
    std::vector<std::byte> out(head.begin(), head.end());
    out.insert(out.end(), values.begin(), values.end());
    return out;
  }

  void restore(std::span<const std::byte> saved) override {
    PayloadReader reader(saved, "state");
    const Shape s = load<Shape>(reader.take(sizeof shape));
    const std::size_t bytes = reader.remaining();
    if (bytes % sizeof(float) != 0 || !fits(s, static_cast<std::int64_t>(bytes / sizeof(float))))
      throw Error(ErrorKind::kPayload, "state: " + std::to_string(bytes) +
                                           " bytes are not the vectors that powersgd of " +
                                           "rank " + std::to_string(rank_) +
                                           " keeps of a message of {" + std::to_string(s.samples) +
                                           ", " + std::to_string(s.tokens) + ", " +
                                           std::to_string(s.hidden) + "}");
    shape = s;
    last_q.resize(bytes / sizeof(float));
    if (bytes > 0) std::memcpy(last_q.data(), reader.take(bytes), bytes);
  }

  Shape shape;                ///< of the message that `last_q` is from
  std::vector<float> last_q;  ///< Q of the last message, {samples, rank, hidden}
  // Between the rounds of one message:
  std::vector<float> p;
  std::vector<float> q;

 private:
  // Divides, since the product of sizes that nobody checked may overflow.
  bool fits(const Shape& s, std::int64_t values) const {
    if (values == 0) return s == Shape{};
    if (s.samples <= 0 || s.tokens <= 0 || s.hidden <= 0) return false;
    const std::int64_t rank = std::min({rank_, s.tokens, s.hidden});
    const std::int64_t vectors = values / s.hidden;
    return values % s.hidden == 0 && vectors % rank == 0 && vectors / rank == s.samples;
  }

  std::int64_t rank_;  ///< of the spec
};

FactorState& factor_state(State* state) {
  auto* own = dynamic_cast<FactorState*>(state);
  TERSOR_CHECK(own != nullptr, "powersgd needs the state that make_state gave");
  return *own;
}

// Uniform in [-1, 1), the same on all ranks; element (s, h, r) of {samples, hidden, rank} is draw
// (s*hidden + h)*rank + r.
void draw_first(const Context& context, const Shape& shape, std::int64_t rank,
                std::vector<float>& q) {
  const Stream stream = context.fixed_random(Purpose::kMatrix);
  const std::int64_t vectors = shape.samples * shape.hidden;
  std::vector<std::uint32_t> draws(static_cast<std::size_t>(vectors * rank));
  kernels::fill_draw32(stream, 0, std::ssize(draws), draws.data());
  q.resize(draws.size());
  for (std::int64_t s = 0; s < shape.samples; ++s)
    for (std::int64_t h = 0; h < shape.hidden; ++h)
      for (std::int64_t r = 0; r < rank; ++r)
        q[static_cast<std::size_t>((s * rank + r) * shape.hidden + h)] = static_cast<float>(
            draws[static_cast<std::size_t>((s * shape.hidden + h) * rank + r)] / 2147483648.0 -
            1.0);
}

constexpr std::int64_t kRowsAtOnce = 8;

// Calls visit(first token, rows, values) with up to kRowsAtOnce rows of a sample in float32, for
// its tokens first .. last-1. `buffer` has room for them where the message is not float32.
template <class Visit>
void for_each_rows(const TensorView& in, std::int64_t sample, std::int64_t first, std::int64_t last,
                   float* buffer, Visit&& visit) {
  const std::int64_t hidden = in.shape.hidden;
  for (; first < last; first += kRowsAtOnce) {
    const std::int64_t rows = std::min(kRowsAtOnce, last - first);
    const std::int64_t begin = (sample * in.shape.tokens + first) * hidden;
    if (in.dtype == DType::kFloat32) {
      visit(first, rows, static_cast<const float*>(in.data) + begin);
      continue;
    }
    widen_values(static_cast<const std::byte*>(in.data) + 2 * begin, in.dtype, rows * hidden,
                 buffer);
    visit(first, rows, static_cast<const float*>(buffer));
  }
}

std::int64_t buffer_elements(const Shape& shape, DType dtype) {
  return dtype == DType::kFloat32 ? 0 : kRowsAtOnce * shape.hidden;
}

// Most shares that the work on a message of this shape has.
std::int64_t most_shares(const Shape& shape, const Context& context) {
  return share_count(kMostShares, shape.elements(), context.threads);
}

void read_factor(std::span<const std::byte> payload, std::size_t bytes, float share,
                 std::vector<float>& out) {
  expect_payload_bytes(payload, bytes, "powersgd");
  out.resize(bytes / 4);
  std::memcpy(out.data(), payload.data(), bytes);
  for (float& x : out) x *= share;
}

}  // namespace

void orthonormalise(std::span<float> vectors, std::int64_t columns, std::int64_t rows,
                    std::span<double> scratch) {
  const auto n = static_cast<std::size_t>(rows);
  // Eight sums side by side, which do not wait for each other.
  const auto dot = [&](const double* a, const double* b) {
    std::array<double, 8> sums{};
    std::size_t i = 0;
    for (; i + sums.size() <= n; i += sums.size())
      for (std::size_t lane = 0; lane < sums.size(); ++lane)
        sums[lane] += a[i + lane] * b[i + lane];
    for (; i < n; ++i) sums[0] += a[i] * b[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  };
  double longest = 0;
  for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c) {
    double* v = scratch.data() + c * n;
    std::copy_n(vectors.data() + c * n, n, v);
    longest = std::max(longest, std::sqrt(dot(v, v)));
  }
  for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c) {
    double* v = scratch.data() + c * n;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t d = 0; d < c; ++d) {
        const double* u = scratch.data() + d * n;
        const double along = dot(u, v);
        for (std::size_t i = 0; i < n; ++i) v[i] -= along * u[i];
      }
    }
    const double norm = std::sqrt(dot(v, v));
    for (std::size_t i = 0; i < n; ++i) {
      v[i] = norm > 1e-6 * longest ? v[i] / norm : 0.0;
      vectors[c * n + i] = static_cast<float>(v[i]);
    }
  }
}

PowerSgd::PowerSgd(std::int64_t rank, int iterations, bool is_mean, std::string canonical)
    : rank_(rank), iterations_(iterations), is_mean_(is_mean), canonical_(std::move(canonical)) {}

Properties PowerSgd::properties() const {
  Properties p;
  p.bit_exact = false;
  p.tolerance = 1e-4;
  p.state = StateKind::kSite;
  p.sample_local = true;
  p.nonfinite_spread = Spread::kTensor;
  return p;
}

std::int64_t PowerSgd::rank_of(const Shape& shape) const {
  return std::min({rank_, shape.tokens, shape.hidden});
}

std::size_t PowerSgd::factor_bytes(const Shape& shape, int round) const {
  if (shape.elements() == 0) return 0;
  const std::int64_t length = round % 2 == 0 ? shape.tokens : shape.hidden;
  return static_cast<std::size_t>(shape.samples * rank_of(shape) * length) * 4;
}

std::size_t PowerSgd::payload_bytes(const Shape& shape, DType, const Context&, int round,
                                    const State*) const {
  return factor_bytes(shape, round);
}

std::size_t PowerSgd::workspace_bytes(const Shape& shape, DType dtype,
                                      const Context& context) const {
  const std::int64_t rank = rank_of(shape);
  const std::int64_t each = std::max(buffer_elements(shape, dtype), rank);
  return Scratch::bytes_for<float>(most_shares(shape, context) * each) +
         Scratch::bytes_for<double>(rank * shape.tokens);
}

std::unique_ptr<State> PowerSgd::make_state(const Shape&, DType, std::uint32_t) const {
  return std::make_unique<FactorState>(rank_);
}

double PowerSgd::added_flops(const Shape& shape, std::uint32_t) const {
  if (shape.elements() == 0) return 0;
  const auto rank = static_cast<double>(rank_of(shape));
  return static_cast<double>(shape.elements()) * rank * (4.0 * iterations_ + 2.0);
}

std::size_t PowerSgd::encode(int round, const TensorView& in, std::span<std::byte> out,
                             State* state, const Context& context) const {
  const std::size_t size = factor_bytes(in.shape, round);
  expect_room(out, size, "powersgd");
  if (size == 0) return 0;
  FactorState& own = factor_state(state);
  const std::int64_t rank = rank_of(in.shape);
  const Shape& shape = in.shape;
  Scratch scratch(context);
  const std::int64_t room = buffer_elements(shape, in.dtype);
  const auto buffers = scratch.take<float>(most_shares(shape, context) * room);
  if (round == 0) {
    if (own.shape == shape && !own.last_q.empty())
      own.q = own.last_q;
    else
      draw_first(context, shape, rank, own.q);
  }
  if (round % 2 == 0) {
    own.p.resize(size / 4);
    for (std::int64_t s = 0; s < shape.samples; ++s) {
      const float* const q = own.q.data() + s * rank * shape.hidden;
      float* const p = own.p.data() + s * rank * shape.tokens;
      for_each_share(shape.tokens, shape.elements(), context.threads,
                     [&](std::int64_t first, std::int64_t last, std::int64_t slot) {
                       for_each_rows(in, s, first, last, buffers.data() + slot * room,
                                     [&](std::int64_t t, std::int64_t rows, const float* x) {
                                       dense::dot_rows(x, rows, q, rank, shape.hidden, shape.tokens,
                                                       p + t);
                                     });
                     });
    }
    std::memcpy(out.data(), own.p.data(), size);
    return size;
  }
  // An element of Q adds up all tokens in their order: shares are of columns of X.
  constexpr std::int64_t kUnit = 64;
  own.q.assign(size / 4, 0.0f);
  for (std::int64_t s = 0; s < shape.samples; ++s) {
    const float* const p = own.p.data() + s * rank * shape.tokens;
    float* const q = own.q.data() + s * rank * shape.hidden;
    for_each_share((shape.hidden - 1) / kUnit + 1, shape.elements(), context.threads,
                   [&](std::int64_t first, std::int64_t last, std::int64_t slot) {
                     const std::int64_t begin = first * kUnit;
                     const std::int64_t width = std::min(last * kUnit, shape.hidden) - begin;
                     for_each_rows(in, s, 0, shape.tokens, buffers.data() + slot * room,
                                   [&](std::int64_t t, std::int64_t rows, const float* x) {
                                     dense::add_outer(x + begin, rows, p + t, shape.tokens, rank,
                                                      shape.hidden, width, q + begin);
                                   });
                   });
  }
  std::memcpy(out.data(), own.q.data(), size);
  return size;
}

void PowerSgd::absorb(int round, std::span<const std::span<const std::byte>> received,
                      const Shape& shape, DType, State* state, const Context& context) const {
  if (shape.elements() == 0) return;
  TERSOR_CHECK(received.size() == 1 && round + 1 < rounds(), "powersgd: one reduced array a round");
  FactorState& own = factor_state(state);
  const float share = is_mean_ ? 1.0f / static_cast<float>(std::max(1u, context.ranks)) : 1.0f;
  std::vector<float>& factor = round % 2 == 0 ? own.p : own.q;
  read_factor(received[0], factor_bytes(shape, round), share, factor);
  if (round % 2 != 0) return;
  const std::int64_t rank = rank_of(shape);
  const auto per_sample = static_cast<std::size_t>(rank * shape.tokens);
  Scratch scratch(context);
  const auto columns = scratch.take<double>(rank * shape.tokens);
  for (std::int64_t s = 0; s < shape.samples; ++s)
    orthonormalise(std::span(own.p).subspan(static_cast<std::size_t>(s) * per_sample, per_sample),
                   rank, shape.tokens, columns);
}

void PowerSgd::decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                      std::span<float> out, State* state, const Context& context) const {
  const auto* own = dynamic_cast<const FactorState*>(state);
  if (shape.elements() > 0 && (own == nullptr || own->p.size() * 4 != factor_bytes(shape, 0)))
    throw Error(ErrorKind::kUnsupported,
                "powersgd: its rounds need a site; a single message cannot show it");
  const std::array one{payload};
  combine(one, shape, dtype, out, state, context);
}

void PowerSgd::combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
                       DType, std::span<float> out, State* state, const Context& context) const {
  TERSOR_CHECK(received.size() == 1, "powersgd: one reduced array a round");
  if (shape.elements() == 0) return expect_payload_bytes(received[0], 0, "powersgd");
  FactorState& own = factor_state(state);
  const std::int64_t rank = rank_of(shape);
  const float share = is_mean_ ? 1.0f / static_cast<float>(std::max(1u, context.ranks)) : 1.0f;
  read_factor(received[0], factor_bytes(shape, rounds() - 1), share, own.q);
  TERSOR_CHECK(own.p.size() * 4 == factor_bytes(shape, 0), "powersgd: combine follows absorb");
  Scratch scratch(context);
  const auto columns = scratch.take<float>(most_shares(shape, context) * rank);
  const std::int64_t tokens = shape.tokens;
  for_each_share(shape.rows(), shape.elements(), context.threads,
                 [&](std::int64_t first, std::int64_t last, std::int64_t slot) {
                   float* const column = columns.data() + slot * rank;
                   for (std::int64_t row = first; row < last; ++row) {
                     const std::int64_t s = row / tokens;
                     const float* const p = own.p.data() + s * rank * tokens + row % tokens;
                     for (std::int64_t r = 0; r < rank; ++r) column[r] = p[r * tokens];
                     dense::multiply_row(column, own.q.data() + s * rank * shape.hidden, rank,
                                         shape.hidden, out.data() + row * shape.hidden);
                   }
                 });
  if (context.phase == Phase::kEval) return;
  own.last_q = own.q;
  own.shape = shape;
}

}  // namespace tersor::compressors

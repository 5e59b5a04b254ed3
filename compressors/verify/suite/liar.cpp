// SPDX-License-Identifier: Apache-2.0
// The suite's own test: a codec that breaks one promise at a time, and the check that must see it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "common/error.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/verify/suite/subject.hpp"

namespace tersor::compressors::suite {
namespace {

struct Lie {
  const char* about;
  const char* check;  ///< the one that must fail; empty: the truth, and all must pass
};

constexpr Lie kLies[] = {
    {"nothing", ""},
    {"nothing_with_state", ""},
    {"space_in_spec", "spec"},             // the canonical spec has a space
    {"unbiased_range", "spec"},            // unbiased, nobody says where
    {"tolerance", "spec"},                 // bit-exact, and with a tolerance
    {"learned", "spec"},                   // learned, without a bottleneck to learn
    {"metadata", "bytes"},                 // more metadata than payload
    {"empty", "bytes"},                    // an empty tensor costs bytes
    {"threads", "bytes"},                  // the payload depends on the threads
    {"workspace", "bytes"},                // the payload depends on the scratch given
    {"encode_overrun", "bytes"},           // encode writes past its buffer
    {"fixed_size", "bytes"},               // fewer bytes than promised
    {"array", "bytes"},                    // all-reduce of what is no array
    {"error_bound", "values"},             // loses more than declared
    {"finite", "values"},                  // a finite value becomes infinite
    {"bit_exact", "values"},               // the second call differs
    {"decode_overrun", "values"},          // decode writes past its buffer
    {"lossless", "special values"},        // NaN payloads are lost
    {"spread_element", "special values"},  // one NaN reaches the tensor; declared: its element
    {"spread_row", "special values"},      // one NaN reaches the tensor; declared: its row
    {"combine", "sums"},                   // adds in another order than the ranks'
    {"accumulate", "sums"},                // decode_accumulate is not decode and add
    {"summable", "sums"},                  // the decoded sum is not the sum of the decodes
    {"not_summable", "sums"},              // exchanged by all-reduce, not declared summable
    {"unbiased", "unbiased"},              // the mean is 1 % short
    {"contraction", "contraction"},        // nothing arrives, delta is declared 1
    {"expansive", "expansion"},            // nothing but gains, and yet a contraction
    {"token_local", "locality"},           // a row depends on the row before
    {"sample_local", "locality"},          // a sample depends on the sample before
    {"step", "determinism"},               // the payload depends on the step
    {"call", "determinism"},               // ... on the micro-batch
    {"rank", "determinism"},               // ... on the rank
    {"cut", "damaged payloads"},           // decodes a payload that is cut short
    {"long", "damaged payloads"},          // decodes a payload with a byte too many
    {"kind", "damaged payloads"},          // blames itself for a damaged payload
    {"state_missing", "state"},            // declares state, has none
    {"state_undeclared", "state"},         // has state, declares none
    {"evaluation", "state"},               // an evaluation changes the state
    {"save", "state"},                     // saves half of its state
    {"restore", "state"},                  // restores nothing
    {"restore_damaged", "state"},          // restores from damaged bytes
    {"large_finite", "large"},             // fails on more than 100,000 elements only
    {"large_bound", "large"},
};

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool has_state(std::string_view about) {
  for (const char* name : {"nothing_with_state", "state_undeclared", "evaluation", "save"})
    if (about == name) return true;
  return starts_with(about, "restore");
}

/// Counts the messages twice over; both counts go into every payload.
class Counts : public State {
 public:
  explicit Counts(std::string_view about) : about_(about) {}
  std::size_t bytes() const override { return sizeof counts_; }
  std::vector<std::byte> save() const override {
    std::vector<std::byte> saved(sizeof counts_);
    std::memcpy(saved.data(), counts_, about_ == "save" ? sizeof counts_ / 2 : sizeof counts_);
    return saved;
  }
  void restore(std::span<const std::byte> saved) override {
    if (saved.size() != sizeof counts_ && about_ != "restore_damaged")
      throw Error(ErrorKind::kPayload, "liar: damaged state");
    if (about_ != "restore" && !saved.empty()) std::memcpy(counts_, saved.data(), saved.size());
  }
  void count() {
    for (std::uint16_t& value : counts_) ++value;
  }
  std::uint32_t both() const { return counts_[0] + 65536u * counts_[1]; }

 private:
  std::string about_;
  std::uint16_t counts_[2] = {0, 0};
};

/// The truth: float32 values, and four bytes of counts where there is state.
class Liar : public Codec {
 public:
  Liar(std::string about, std::string canonical)
      : about_(std::move(about)), canonical_(std::move(canonical)) {}

  std::string canonical() const override {
    return is("space_in_spec") ? "liar(about= space_in_spec)" : canonical_;
  }

  Properties properties() const override {
    Properties p;
    p.summable = !counts() && !is("not_summable");
    p.summable_tolerance = 1e-6;
    p.unbiased = true;
    p.unbiased_range = is("unbiased_range") ? "" : "everywhere";
    p.contraction = [](const Shape&) { return std::optional<double>(1.0); };
    p.error_bound_of_absmax = 0.0;
    p.tolerance = is("tolerance") ? 0.1 : 0.0;
    p.lossless = is("lossless");
    p.learned = is("learned");
    p.token_local = !is("sample_local");
    p.sample_local = true;
    p.deterministic = true;
    p.is_expansive = is("expansive");
    p.nonfinite_spread = is("spread_row") ? Spread::kRow : Spread::kElement;
    const bool is_declared = (counts() && !is("state_undeclared")) || is("state_missing");
    p.state = is_declared ? StateKind::kSite : StateKind::kNone;
    return p;
  }

  Exchange exchange(int) const override {
    return counts() ? Exchange::kGather : Exchange::kAllReduce;
  }
  DType reduce_dtype(int, DType) const override { return DType::kFloat32; }

  std::size_t payload_bytes(const Shape& shape, DType, const Context&, int,
                            const State*) const override {
    if (shape.elements() == 0) return is("empty") ? 4 : 0;
    return values_bytes(shape) + (counts() ? 4 : 0) + (is("array") ? 1 : 0);
  }
  std::size_t metadata_bytes(const Shape& shape, DType, const Context&, int,
                             const State*) const override {
    if (is("metadata")) return values_bytes(shape) + 1;
    return counts() && shape.elements() > 0 ? 4 : 0;
  }
  std::size_t workspace_bytes(const Shape& shape, DType, const Context&) const override {
    return is("workspace") ? values_bytes(shape) : 0;
  }

  std::unique_ptr<State> make_state(const Shape&, DType, std::uint32_t) const override {
    return counts() ? std::make_unique<Counts>(about_) : nullptr;
  }

  std::size_t encode(int, const TensorView& in, std::span<std::byte> out, State* state,
                     const Context& context) const override {
    std::fill(out.begin(), out.end(), std::byte{0});
    const auto n = static_cast<std::size_t>(in.shape.elements());
    if (n == 0) return out.size();
    std::vector<float> values(n);
    widen(in.dtype, in.data, values);
    if (!values.empty()) std::memcpy(out.data(), values.data(), values_bytes(in.shape));
    if (depends_on(context)) out[0] ^= std::byte{1};
    if (auto* counted = dynamic_cast<Counts*>(state)) {
      if (context.phase == Phase::kTrain || is("evaluation")) counted->count();
      const std::uint32_t both = counted->both();
      std::memcpy(out.data() + values_bytes(in.shape), &both, sizeof both);
    }
    if (is("encode_overrun")) *(out.data() + out.size()) = std::byte{0};
    return out.size() - (is("fixed_size") ? 1 : 0);
  }

  void decode(std::span<const std::byte> payload, const Shape& shape, DType, std::span<float> out,
              State*, const Context& context) const override {
    const std::size_t expected = payload_bytes(shape, DType::kFloat32, context, 0, nullptr);
    const bool is_taken =
        (is("cut") && payload.size() < expected) || (is("long") && payload.size() > expected);
    if (payload.size() != expected && !is_taken)
      throw Error(is("kind") ? ErrorKind::kInternal : ErrorKind::kPayload, "liar: wrong size");
    if (out.empty()) return;
    std::fill(out.begin(), out.end(), 0.0f);
    const auto values = payload.first(std::min(payload.size(), values_bytes(shape)));
    std::copy(values.begin(), values.end(), std::as_writable_bytes(out).begin());
    distort(out, shape);
  }

  void decode_accumulate(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                         std::span<float> out, State* state,
                         const Context& context) const override {
    if (!is("accumulate"))
      return Codec::decode_accumulate(payload, shape, dtype, out, state, context);
    decode(payload, shape, dtype, out, state, context);
  }

  void combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
               DType dtype, std::span<float> out, State* state,
               const Context& context) const override {
    std::vector<std::span<const std::byte>> order(received.begin(), received.end());
    if (is("combine")) std::reverse(order.begin(), order.end());
    Codec::combine(order, shape, dtype, out, state, context);
  }

 private:
  bool is(const char* about) const { return about_ == about; }
  bool counts() const { return has_state(about_); }
  static std::size_t values_bytes(const Shape& shape) {
    return static_cast<std::size_t>(shape.elements()) * sizeof(float);
  }

  bool depends_on(const Context& context) const {
    return (is("threads") && context.threads > 1) ||
           (is("workspace") && !context.workspace.empty()) || (is("step") && context.step % 2) ||
           (is("call") && context.call % 2) || (is("rank") && context.rank % 2);
  }

  void distort(std::span<float> y, const Shape& shape) const {
    const std::vector<float> x(y.begin(), y.end());
    const auto shift = [&](std::int64_t distance) {
      for (std::size_t i = static_cast<std::size_t>(distance); i < y.size(); ++i)
        y[i] += x[i - static_cast<std::size_t>(distance)];
    };
    const auto scale = [&](float factor) {
      for (float& value : y) value *= factor;
    };
    const auto is_bad = [](float value) { return !std::isfinite(value); };
    if (is("error_bound")) scale(0.9f);
    if (is("unbiased")) scale(0.99f);
    if (is("contraction")) scale(0.0f);
    if (is("finite") && x[0] == 1.7f) y[0] = std::numeric_limits<float>::infinity();
    if (is("bit_exact")) y[0] += static_cast<float>(calls_++);
    if (is("summable")) y[0] += 0.25f;
    if (is("token_local")) shift(shape.hidden);
    if (is("sample_local")) shift(shape.tokens * shape.hidden);
    if (starts_with(about_, "spread_") && std::any_of(x.begin(), x.end(), is_bad)) scale(NAN);
    if (is("large_finite") && x.size() > 100'000) y[0] = NAN;
    if (is("large_bound") && x.size() > 100'000) y[0] += 1.0f;
    if (is("decode_overrun")) *(y.data() + y.size()) = 0.0f;
  }

  std::string about_;
  std::string canonical_;
  mutable int calls_ = 0;
};

CodecInfo liar_info() {
  CodecInfo info;
  info.name = "liar";
  info.summary = "float32 values, and one broken promise";
  info.source = "this test";
  std::vector<std::string> names;
  for (const Lie& lie : kLies) names.emplace_back(lie.about);
  info.parameters = {Parameter::choice("about", names, "the promise that is broken")};
  info.make = [](const Arguments& a) {
    return std::make_shared<Liar>(a.choice("about"), a.canonical());
  };
  return info;
}

const CodecRegistrar kRegistrar(liar_info());

}  // namespace

std::vector<Trial> trials() {
  std::vector<Trial> all;
  for (const Lie& lie : kLies) {
    const std::string spec = std::string("liar(about=") + lie.about + ")";
    const auto codec = make_codec(spec);
    const std::string check = lie.check;
    all.push_back({{spec, codec, codec->properties()}, check, !check.empty()});
  }
  return all;
}

}  // namespace tersor::compressors::suite

// SPDX-License-Identifier: Apache-2.0
#include <compare>
#include <cstring>
#include <map>

#include "common/error.hpp"
#include "workloads/comm/collective.hpp"

namespace tersor::workloads {
namespace {

/// Messages between the ranks of one process. A receive takes its place in line when it starts, so
/// that works may be waited for in any order.
class Mailbox {
 public:
  struct Line {
    int from, to, tag;
    auto operator<=>(const Line&) const = default;
  };

  void post(const Line& line, std::span<const std::byte> bytes) {
    messages_[{line, sent_[line]++}].assign(bytes.begin(), bytes.end());
  }
  std::uint64_t take_number(const Line& line) { return expected_[line]++; }
  void collect(const Line& line, std::uint64_t number, std::span<std::byte> out) {
    const auto found = messages_.find({line, number});
    const std::string pair =
        "message from rank " + std::to_string(line.from) + " to rank " + std::to_string(line.to);
    TERSOR_CHECK(found != messages_.end(), "emulated: no " + pair +
                                               " was sent; in one process sends start before "
                                               "receives are waited for");
    TERSOR_CHECK(found->second.size() == out.size(),
                 "emulated: a " + pair + " has " + std::to_string(found->second.size()) +
                     " bytes, its receiver expects " + std::to_string(out.size()));
    std::memcpy(out.data(), found->second.data(), out.size());
    messages_.erase(found);
  }

 private:
  std::map<Line, std::uint64_t> sent_, expected_;
  std::map<std::pair<Line, std::uint64_t>, std::vector<std::byte>> messages_;
};

class Receive : public Work {
 public:
  Receive(Mailbox& mailbox, const Mailbox::Line& line, Buffer out, const Volume& volume)
      : Work(volume),
        mailbox_(mailbox),
        line_(line),
        number_(mailbox.take_number(line)),
        out_(out) {}

 private:
  void finish() override { mailbox_.collect(line_, number_, out_.host()); }

  Mailbox& mailbox_;
  Mailbox::Line line_;
  std::uint64_t number_;
  Buffer out_;
};

class EmulatedCollective : public Collective {
 public:
  EmulatedCollective(int ranks, SumOrder order) : Collective(order), ranks_(ranks) {
    TERSOR_CHECK(ranks >= 1, "emulated ranks: " + std::to_string(ranks));
  }
  std::string backend() const override { return ranks_ == 1 ? "none" : "emulated"; }
  int ranks() const override { return ranks_; }
  int first_rank() const override { return 0; }
  int local_ranks() const override { return ranks_; }
  std::unique_ptr<Collective> subgroup(std::span<const int> ranks) override {
    return make_emulated_collective(static_cast<int>(ranks.size()), sum_order());
  }

 protected:
  std::unique_ptr<Work> do_all_reduce(std::span<const Buffer> buffers, std::size_t count,
                                      DType dtype, const Volume& volume) override {
    for (std::size_t r = 1; r < buffers.size(); ++r)
      add(buffers[r].data(), count, dtype, buffers[0].data());
    return std::make_unique<Work>(volume);
  }
  std::unique_ptr<Work> do_all_gather(std::span<const ConstBuffer> payloads,
                                      std::span<const std::size_t> sizes, Buffer out,
                                      const Volume& volume) override {
    std::size_t at = 0;
    for (std::size_t r = 0; r < sizes.size(); at += sizes[r++])
      if (sizes[r]) std::memcpy(out.data() + at, payloads[r].data(), sizes[r]);
    return std::make_unique<Work>(volume);
  }
  std::unique_ptr<Work> do_all_to_all(std::span<const ConstBuffer> payloads,
                                      std::span<const Sizes> send_sizes, std::span<const Sizes>,
                                      std::span<const Buffer> outs, const Volume& volume) override {
    Sizes filled(outs.size(), 0);
    for (std::size_t from = 0; from < payloads.size(); ++from) {
      std::size_t at = 0;
      for (std::size_t to = 0; to < outs.size(); ++to) {
        const std::size_t bytes = send_sizes[from][to];
        if (bytes) std::memcpy(outs[to].data() + filled[to], payloads[from].data() + at, bytes);
        at += bytes;
        filled[to] += bytes;
      }
    }
    return std::make_unique<Work>(volume);
  }
  std::unique_ptr<Work> do_broadcast(Buffer, const Volume& volume) override {
    return std::make_unique<Work>(volume);
  }
  std::unique_ptr<Work> do_send(ConstBuffer payload, int from, int to, int tag,
                                const Volume& volume) override {
    mailbox_.post({from, to, tag}, payload.host());
    return std::make_unique<Work>(volume);
  }
  std::unique_ptr<Work> do_receive(Buffer out, int from, int to, int tag,
                                   const Volume& volume) override {
    return std::make_unique<Receive>(mailbox_, Mailbox::Line{from, to, tag}, out, volume);
  }
  void do_barrier() override {}

 private:
  static void add(const std::byte* term, std::size_t count, DType dtype, std::byte* sum) {
    if (dtype == DType::kFloat32) {
      auto* a = reinterpret_cast<float*>(sum);
      const auto* b = reinterpret_cast<const float*>(term);
      for (std::size_t i = 0; i < count; ++i) a[i] += b[i];
      return;
    }
    std::vector<float> a(count), b(count);
    compressors::widen(dtype, sum, a);
    compressors::widen(dtype, term, b);
    for (std::size_t i = 0; i < count; ++i) a[i] += b[i];
    compressors::round_to(dtype, a, sum);
  }

  int ranks_;
  Mailbox mailbox_;
};

}  // namespace

std::unique_ptr<Collective> make_emulated_collective(int ranks, SumOrder order) {
  return std::make_unique<EmulatedCollective>(ranks, order);
}

}  // namespace tersor::workloads

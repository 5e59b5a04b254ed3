// SPDX-License-Identifier: Apache-2.0
// What every backend does alike: the same program on Gloo's ranks (threads) and on emulated ones.
#include <catch2/catch.hpp>
#include <mutex>
#include <numeric>

#include "workloads/comm/group_for_test.hpp"

using namespace tersor;
using namespace tersor::workloads;
using namespace tersor::workloads::testing;

namespace {

using Bytes = std::vector<std::byte>;

/// `count` numbers of a rank; sums of them depend on the order of the additions.
std::vector<float> values_of(int rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = (i % 3 == 0 ? 1e7f : 1.0f) / static_cast<float>(3 + rank * 7 + static_cast<int>(i));
  return values;
}

Bytes pattern(int rank, std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<std::byte>((rank * 31 + static_cast<int>(i) * 7) & 255);
  return bytes;
}

Bytes bytes_of_values(const std::vector<float>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// What each rank had in the end, and the volumes of rank 0.
struct Outcome {
  std::vector<Bytes> results;
  std::vector<Volume> volumes;
  std::uint64_t input_bytes = 0;
};

/// A program gets a group and the ranks that are local, and puts down a result for each of those.
using Program = std::function<std::vector<Volume>(Collective&, std::vector<Bytes>&)>;

Outcome run(bool is_emulated, int ranks, SumOrder order, const Program& program) {
  Outcome outcome;
  outcome.results.resize(static_cast<std::size_t>(ranks));
  std::mutex mutex;
  const Body body = [&](std::unique_ptr<Collective> group) {
    std::vector<Bytes> results(static_cast<std::size_t>(group->local_ranks()));
    std::vector<Volume> volumes = program(*group, results);
    const std::lock_guard lock(mutex);
    for (std::size_t l = 0; l < results.size(); ++l)
      outcome.results[static_cast<std::size_t>(group->first_rank()) + l] = std::move(results[l]);
    if (group->first_rank() != 0) return;
    outcome.volumes = std::move(volumes);
    outcome.input_bytes = group->input_bytes();
  };
  is_emulated ? run_emulated(ranks, order, body) : run_gloo(ranks, order, body);
  return outcome;
}

void check_alike(int ranks, SumOrder order, const Program& program) {
  const Outcome real = run(false, ranks, order, program);
  const Outcome emulated = run(true, ranks, order, program);
  CAPTURE(ranks, order == SumOrder::kRanks);
  CHECK(real.results == emulated.results);
  CHECK(real.input_bytes == emulated.input_bytes);
  REQUIRE(real.volumes.size() == emulated.volumes.size());
  for (std::size_t i = 0; i < real.volumes.size(); ++i) {
    CAPTURE(i);
    CHECK(real.volumes[i].collective == emulated.volumes[i].collective);
    CHECK(real.volumes[i].input_bytes == emulated.volumes[i].input_bytes);
    CHECK(real.volumes[i].wire_bytes == emulated.volumes[i].wire_bytes);
  }
}

std::vector<Buffer> buffers(std::vector<Bytes>& owned) { return {owned.begin(), owned.end()}; }
std::vector<ConstBuffer> payloads(const std::vector<Bytes>& owned) {
  return {owned.begin(), owned.end()};
}

}  // namespace

TEST_CASE("backends: an all-reduce leaves the same sum") {
  const Program program = [](Collective& group, std::vector<Bytes>& results) {
    std::vector<Bytes> owned;
    for (int l = 0; l < group.local_ranks(); ++l)
      owned.push_back(bytes_of_values(values_of(group.first_rank() + l, 1001)));
    const Volume volume = group.all_reduce(buffers(owned), 1001, DType::kFloat32);
    const Volume none = group.all_reduce(buffers(owned), 0, DType::kFloat32);
    for (Bytes& result : results) result = owned[0];
    return std::vector{volume, none};
  };
  check_alike(2, SumOrder::kLibrary, program);
  check_alike(2, SumOrder::kRanks, program);
  check_alike(4, SumOrder::kRanks, program);
}

TEST_CASE("backends: gathers of equal, unequal and no bytes") {
  check_alike(3, SumOrder::kLibrary, [](Collective& group, std::vector<Bytes>& results) {
    std::vector<Volume> volumes;
    for (const Collective::Sizes& sizes :
         {Collective::Sizes{5, 5, 5}, {4, 0, 9}, {0, 0, 7}, {0, 0, 0}}) {
      std::vector<Bytes> owned;
      std::vector<std::size_t> locals;
      for (int l = 0; l < group.local_ranks(); ++l) {
        const int rank = group.first_rank() + l;
        locals.push_back(sizes[static_cast<std::size_t>(rank)]);
        owned.push_back(pattern(rank, locals.back()));
      }
      const Collective::Sizes known = group.exchange_sizes(locals);
      Bytes out(std::accumulate(known.begin(), known.end(), std::size_t{0}));
      volumes.push_back(group.all_gather(payloads(owned), known, out));
      for (Bytes& result : results) result.insert(result.end(), out.begin(), out.end());
    }
    return volumes;
  });
}

TEST_CASE("backends: an all-to-all brings every rank its parts") {
  check_alike(3, SumOrder::kLibrary, [](Collective& group, std::vector<Bytes>& results) {
    const auto part = [](int from, int to) { return static_cast<std::size_t>(from + 2 * to); };
    std::vector<Bytes> owned, received;
    std::vector<Collective::Sizes> send_sizes, receive_sizes;
    for (int l = 0; l < group.local_ranks(); ++l) {
      const int rank = group.first_rank() + l;
      Collective::Sizes sent, arriving;
      for (int other = 0; other < group.ranks(); ++other) {
        sent.push_back(part(rank, other));
        arriving.push_back(part(other, rank));
      }
      owned.push_back(pattern(rank, std::accumulate(sent.begin(), sent.end(), std::size_t{0})));
      received.emplace_back(std::accumulate(arriving.begin(), arriving.end(), std::size_t{0}));
      send_sizes.push_back(sent);
      receive_sizes.push_back(arriving);
    }
    const Volume volume =
        group.all_to_all(payloads(owned), send_sizes, receive_sizes, buffers(received));
    results = received;
    return std::vector{volume};
  });
}

TEST_CASE("backends: a broadcast and a barrier") {
  check_alike(3, SumOrder::kLibrary, [](Collective& group, std::vector<Bytes>& results) {
    Bytes bytes = pattern(group.first_rank(), 33);
    const Volume volume = group.broadcast(bytes);
    group.barrier();
    for (Bytes& result : results) result = bytes;
    return std::vector{volume};
  });
}

TEST_CASE("backends: messages of a pair and tag arrive in order, by tag apart") {
  const Program ring = [](Collective& group, std::vector<Bytes>& results) {
    const int p = group.ranks();
    std::vector<Bytes> sent, received;
    std::vector<std::unique_ptr<Work>> works;
    sent.reserve(64);
    received.reserve(64);
    const std::vector<std::pair<std::size_t, int>> messages{{100, 0}, {7, 5}, {100, 0}, {0, 0}};
    for (int l = 0; l < group.local_ranks(); ++l)
      for (std::size_t m = 0; m < messages.size(); ++m) {
        const int rank = group.first_rank() + l;
        sent.push_back(pattern(rank * 10 + static_cast<int>(m), messages[m].first));
        works.push_back(group.start_send(sent.back(), rank, (rank + 1) % p, messages[m].second));
      }
    for (int l = 0; l < group.local_ranks(); ++l) {
      const int rank = group.first_rank() + l;
      const std::size_t begin = received.size();
      for (const auto& [size, tag] : messages) {
        received.emplace_back(size);
        works.push_back(group.start_receive(received.back(), (rank + p - 1) % p, rank, tag));
      }
      // The last first: what a receive gets is settled when it starts.
      for (std::size_t i = 0; i < messages.size(); ++i) works[works.size() - 1 - i]->wait();
      for (std::size_t m = begin; m < received.size(); ++m)
        results[static_cast<std::size_t>(l)].insert(results[static_cast<std::size_t>(l)].end(),
                                                    received[m].begin(), received[m].end());
    }
    std::vector<Volume> volumes;
    for (const auto& work : works) volumes.push_back(work->wait());
    volumes.resize(messages.size());
    return volumes;
  };
  check_alike(2, SumOrder::kLibrary, ring);
  check_alike(3, SumOrder::kLibrary, ring);
  const Outcome outcome = run(true, 2, SumOrder::kLibrary, ring);
  Bytes expected = pattern(10, 100);
  for (const Bytes& more : {pattern(11, 7), pattern(12, 100)})
    expected.insert(expected.end(), more.begin(), more.end());
  CHECK(outcome.results[0] == expected);
  CHECK(outcome.volumes[1].collective == CollectiveKind::kSend);
  CHECK(outcome.volumes[1].input_bytes == 7);
  CHECK(outcome.volumes[1].wire_bytes == 7);
  CHECK(outcome.input_bytes == 207);
}

TEST_CASE("backends: several works are in flight and end in any order") {
  check_alike(2, SumOrder::kRanks, [](Collective& group, std::vector<Bytes>& results) {
    const auto locals = static_cast<std::size_t>(group.local_ranks());
    std::vector<std::vector<Bytes>> summed(3);
    std::vector<Bytes> gathered(2, Bytes(24)), small;
    std::vector<std::unique_ptr<Work>> works;
    for (std::size_t l = 0; l < locals; ++l)
      small.push_back(pattern(group.first_rank() + static_cast<int>(l), 12));
    for (std::size_t i = 0; i < summed.size(); ++i) {
      for (std::size_t l = 0; l < locals; ++l)
        summed[i].push_back(bytes_of_values(
            values_of(group.first_rank() + static_cast<int>(l) + 5 * static_cast<int>(i), 50)));
      works.push_back(group.start_all_reduce(buffers(summed[i]), 50, DType::kFloat32));
      if (i < gathered.size())
        works.push_back(
            group.start_all_gather(payloads(small), Collective::Sizes{12, 12}, gathered[i]));
    }
    std::vector<Volume> volumes;
    for (std::size_t i = works.size(); i-- > 0;) volumes.push_back(works[i]->wait());
    for (Bytes& result : results) {
      for (const auto& sum : summed) result.insert(result.end(), sum[0].begin(), sum[0].end());
      for (const Bytes& all : gathered) result.insert(result.end(), all.begin(), all.end());
    }
    return volumes;
  });
}

TEST_CASE("backends: a work that is dropped ends first") {
  check_alike(2, SumOrder::kLibrary, [](Collective& group, std::vector<Bytes>& results) {
    std::vector<Bytes> owned;
    for (int l = 0; l < group.local_ranks(); ++l)
      owned.push_back(bytes_of_values(values_of(group.first_rank() + l, 9)));
    group.start_all_reduce(buffers(owned), 9, DType::kFloat32);
    for (Bytes& result : results) result = owned[0];
    return std::vector<Volume>{};
  });
}

TEST_CASE("backends: a buffer on a device that they cannot take is refused") {
  for (const bool is_emulated : {true, false}) {
    const Outcome outcome =
        run(is_emulated, 2, SumOrder::kLibrary, [](Collective& group, std::vector<Bytes>& results) {
          Bytes bytes(8);
          const Device device{compressors::Device::kCuda, 1};
          const std::vector<Buffer> on_gpu(static_cast<std::size_t>(group.local_ranks()),
                                           Buffer(bytes.data(), bytes.size(), device, nullptr));
          const int to = 1 - group.first_rank();
          for (const auto& call : std::vector<std::function<void()>>{
                   [&] { group.start_all_reduce(on_gpu, 2, DType::kFloat32); },
                   [&] { group.start_send(on_gpu[0], group.first_rank(), to); },
                   [&] { group.start_broadcast(on_gpu[0]); }}) {
            std::string message;
            try {
              call();
            } catch (const Error& error) {
              message = error.kind() == ErrorKind::kUnsupported ? error.what() : "another kind";
            }
            for (const char c : message) results[0].push_back(static_cast<std::byte>(c));
          }
          return std::vector<Volume>{};
        });
    const std::string one = std::string(is_emulated ? "emulated" : "gloo") +
                            " cannot take a buffer on cuda:1; copy it to host memory, or use a "
                            "backend of that device";
    std::string found;
    for (const std::byte byte : outcome.results[0]) found.push_back(static_cast<char>(byte));
    CHECK(found == one + one + one);
  }
}

TEST_CASE("backends: a receive that has no sender is an error, not a wait without end") {
  Bytes out(4);
  const auto alone = make_emulated_collective(2, SumOrder::kLibrary);
  CHECK_THROWS_WITH(alone->receive(out, 0, 1), Catch::Contains("no message from rank 0 to rank 1"));
  alone->send(pattern(0, 5), 0, 1, 3);
  CHECK_THROWS_WITH(alone->receive(out, 0, 1, 3),
                    Catch::Contains("5 bytes, its receiver expects 4"));
  CHECK_THROWS_WITH(alone->send(out, 0, 0), Catch::Contains("from rank 0 to rank 0"));

  const Body body = [](std::unique_ptr<Collective> group) {
    Bytes bytes(4);
    if (group->first_rank() == 1) group->receive(bytes, 0, 1);
  };
  // Rank 0 leaves: its connection says so at once.
  CHECK_THROWS_WITH(run_gloo(2, SumOrder::kLibrary, body), Catch::Contains("receive failed"));
}

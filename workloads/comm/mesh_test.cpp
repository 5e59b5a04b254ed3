// SPDX-License-Identifier: Apache-2.0
#include "workloads/comm/mesh.hpp"

#include <catch2/catch.hpp>
#include <mutex>

#include "workloads/comm/group_for_test.hpp"

using namespace tersor;
using namespace tersor::workloads;
using namespace tersor::workloads::testing;

namespace {

/// One sum in every tensor group, then one message from every stage to the next: what each rank
/// has in the end.
void run_grid(Mesh& mesh, std::vector<std::pair<float, float>>& results) {
  std::vector<float> received(results.size(), -1), values(results.size());
  for (int stage : mesh.local_stages()) {
    Collective& group = mesh.tensor_group(stage);
    std::vector<Buffer> buffers;
    for (int l = 0; l < group.local_ranks(); ++l) {
      const int rank = mesh.rank({group.first_rank() + l, stage});
      values[static_cast<std::size_t>(rank)] = static_cast<float>(1 << rank);
      buffers.push_back(
          std::as_writable_bytes(std::span(&values[static_cast<std::size_t>(rank)], 1)));
    }
    group.all_reduce(buffers, 1, DType::kFloat32);
    for (int l = 1; l < group.local_ranks(); ++l)
      values[static_cast<std::size_t>(mesh.rank({l, stage}))] =
          values[static_cast<std::size_t>(mesh.rank({0, stage}))];
  }
  std::vector<std::unique_ptr<Work>> works;
  for (const Coordinates& at : mesh.local())
    if (const auto next = mesh.next_stage(at.stage))
      works.push_back(mesh.pipeline_group(at.tensor).start_send(
          std::as_bytes(std::span(&values[static_cast<std::size_t>(mesh.rank(at))], 1)), at.stage,
          *next));
  for (const Coordinates& at : mesh.local())
    if (const auto previous = mesh.previous_stage(at.stage))
      works.push_back(mesh.pipeline_group(at.tensor).start_receive(
          std::as_writable_bytes(std::span(&received[static_cast<std::size_t>(mesh.rank(at))], 1)),
          *previous, at.stage));
  for (const auto& work : works) work->wait();
  for (const Coordinates& at : mesh.local()) {
    const auto rank = static_cast<std::size_t>(mesh.rank(at));
    results[rank] = {values[rank], received[rank]};
  }
}

}  // namespace

TEST_CASE("mesh: tensor ranks are fastest") {
  Mesh mesh(make_emulated_collective(6, SumOrder::kLibrary), 2, 3);
  CHECK(mesh.coordinates(3) == Coordinates{1, 1});
  CHECK(mesh.rank({1, 2}) == 5);
  CHECK(mesh.local().size() == 6);
  CHECK(mesh.local_stages() == std::vector{0, 1, 2});
  CHECK(mesh.tensor_group(2).ranks() == 2);
  CHECK(mesh.pipeline_group(1).ranks() == 3);
  CHECK_FALSE(mesh.previous_stage(0));
  CHECK(mesh.next_stage(1) == 2);
  CHECK_FALSE(mesh.next_stage(2));
  CHECK_THROWS_WITH(Mesh(make_emulated_collective(6, SumOrder::kLibrary), 2, 2),
                    Catch::Contains("a mesh of 2 x 2 for 6 ranks"));
}

TEST_CASE("mesh: a group that joins all ranks is the world") {
  Mesh tensor(make_emulated_collective(4, SumOrder::kLibrary), 4, 1);
  CHECK(&tensor.tensor_group(0) == &tensor.world());
  CHECK(tensor.pipeline_group(2).ranks() == 1);
  Mesh pipeline(make_emulated_collective(4, SumOrder::kLibrary), 1, 4);
  CHECK(&pipeline.pipeline_group(0) == &pipeline.world());
  CHECK(pipeline.tensor_group(3).ranks() == 1);
  Mesh single(make_emulated_collective(1, SumOrder::kLibrary), 1, 1);
  CHECK(&single.tensor_group(0) == &single.pipeline_group(0));
}

TEST_CASE("mesh: 2 x 2 real ranks and emulated ones compute the same") {
  std::vector<std::pair<float, float>> real(4), emulated(4);
  std::vector<std::uint64_t> input_bytes(4);
  std::vector<std::vector<Coordinates>> places(4);
  run_gloo(4, SumOrder::kLibrary, [&](std::unique_ptr<Collective> world) {
    const auto rank = static_cast<std::size_t>(world->first_rank());
    Mesh mesh(std::move(world), 2, 2);
    std::vector<std::pair<float, float>> mine(4);
    run_grid(mesh, mine);
    real[rank] = mine[rank];
    places[rank] = mesh.local();
    input_bytes[rank] = mesh.input_bytes();
    mesh.world().barrier();
  });
  Mesh mesh(make_emulated_collective(4, SumOrder::kLibrary), 2, 2);
  run_grid(mesh, emulated);
  CHECK(emulated == std::vector<std::pair<float, float>>{{3, -1}, {3, -1}, {12, 3}, {12, 3}});
  CHECK(real == emulated);
  CHECK(places[3] == std::vector<Coordinates>{{1, 1}});
  CHECK(input_bytes == std::vector<std::uint64_t>{8, 8, 4, 4});
  CHECK(mesh.input_bytes() == 8);
}

TEST_CASE("mesh: nodes are groups of neighbours, led by their first ranks") {
  const auto world = make_emulated_collective(4, SumOrder::kLibrary);
  const NodeGroups groups = make_node_groups(*world, 2);
  REQUIRE(groups.nodes.size() == 2);
  CHECK(groups.nodes[0]->ranks() == 2);
  CHECK(groups.leaders->ranks() == 2);
  CHECK(make_node_groups(*world, 1).nodes.empty());
  CHECK_THROWS_WITH(make_node_groups(*world, 3), Catch::Contains("3 nodes do not divide 4 ranks"));

  // Groups of the same ranks, and groups of groups, do not meet each other's messages.
  std::vector<float> sums(4);
  run_gloo(4, SumOrder::kLibrary, [&](std::unique_ptr<Collective> group) {
    const int rank = group->first_rank();
    Mesh mesh(std::move(group), 2, 2);
    Collective& tensor = mesh.tensor_group(rank / 2);
    const NodeGroups one = make_node_groups(tensor, 2), two = make_node_groups(tensor, 2);
    float value = static_cast<float>(1 << rank);
    const std::vector<Buffer> buffer{std::as_writable_bytes(std::span(&value, 1))};
    for (const NodeGroups* nodes : {&one, &two})
      if (nodes->leaders) nodes->leaders->all_reduce(buffer, 1, DType::kFloat32);
    sums[static_cast<std::size_t>(rank)] = value;
    mesh.world().barrier();
  });
  CHECK(sums == std::vector<float>{6, 6, 24, 24});
}

// SPDX-License-Identifier: Apache-2.0
#include "workloads/pipeline/stage_boundaries.hpp"

#include <ATen/ops/empty.h>

#include <string>

#include "common/error.hpp"
#include "workloads/layers/layer_set.hpp"
#include "workloads/messages/site_numbers.hpp"

namespace tersor::workloads {
namespace {

using compressors::Direction;

constexpr int kActivations = 0, kGradients = 1;  // tags

std::shared_ptr<const compressors::Codec> codec_behind(std::int64_t block, std::int64_t layers,
                                                       const protocol::Cell& cell,
                                                       const std::string& site) {
  const auto found = cell.compression.codecs.find(site);
  if (found == cell.compression.codecs.end() || found->second == "none") return nullptr;
  if (!layers_of(cell.compression.layers, layers)[static_cast<std::size_t>(block)]) return nullptr;
  return compressors::make_codec(found->second);
}

TensorView view_of(const at::Tensor& tensor, const Shape& shape) {
  return {bytes_of(tensor).data(), shape, dtype_of(tensor)};
}

}  // namespace

StageBoundaries::StageBoundaries(Mesh& mesh, int stage, const BlockRange& blocks,
                                 std::int64_t layers, TensorParallel& group,
                                 const protocol::Cell& cell) {
  // `sender` is the stage that sends: the one before the boundary, or of gradients behind it.
  const auto add = [&]<typename End>(Ends<End>& ends, std::int64_t block, int sender,
                                     int receiver) {
    const bool is_forward = sender < receiver;
    const std::string kind = is_forward ? "pp" : "pp.gradient";
    for (const Coordinates& at : mesh.local()) {
      if (at.stage != stage) continue;
      ends.push_back(std::make_unique<End>(
          BoundaryPlace{.world = mesh.world(),
                        .ledger = group.ledger(),
                        .seed = group.seed(),
                        .threads = cell.hardware.threads,
                        .from = mesh.rank({at.tensor, sender}),
                        .to = mesh.rank({at.tensor, receiver}),
                        .tag = is_forward ? kActivations : kGradients},
          SiteIdentity{kind, "block" + std::to_string(block), boundary_site(block),
                       is_forward ? Direction::kForward : Direction::kBackward},
          codec_behind(block, layers, cell, kind)));
    }
  };
  if (const auto next = mesh.next_stage(stage)) {
    to_next_.emplace();
    add(to_next_->activations, blocks.end - 1, stage, *next);
    add(to_next_->gradients, blocks.end - 1, *next, stage);
  }
  if (const auto previous = mesh.previous_stage(stage)) {
    from_previous_.emplace();
    add(from_previous_->activations, blocks.first - 1, *previous, stage);
    add(from_previous_->gradients, blocks.first - 1, stage, *previous);
  }
}

void StageBoundaries::send(const Activations& x, const PassContext& pass) {
  for (std::size_t part = 0; part < x.parts.size(); ++part) {
    const at::Tensor dense = x.parts[part].detach().contiguous();
    to_next_->activations[part]->start(pass, view_of(dense, x.shape()));
  }
}

Activations StageBoundaries::receive(const Shape& shape, std::size_t parts, const PassContext& pass,
                                     Waiting& waiting) {
  Activations x{shape.samples, shape.tokens, {}};
  for (std::size_t part = 0; part < parts; ++part) {
    const at::Tensor tensor = at::empty({shape.rows(), shape.hidden}, at::kFloat);
    const Waiting own =
        from_previous_->activations[part]->receive(pass, shape, dtype_of(tensor), bytes_of(tensor));
    waiting.idle_ns += own.idle_ns;
    waiting.exposed_ns += own.exposed_ns;
    x.parts.push_back(tensor);
  }
  return x;
}

void StageBoundaries::send_gradients(const Activations& received, const PassContext& pass) {
  for (std::size_t part = 0; part < received.parts.size(); ++part) {
    const at::Tensor& gradient = received.parts[part].grad();
    TERSOR_CHECK(gradient.defined(), "nothing behind the boundary depends on its activations");
    const at::Tensor dense = gradient.contiguous();
    from_previous_->gradients[part]->start(pass, view_of(dense, received.shape()));
  }
}

std::vector<at::Tensor> StageBoundaries::receive_gradients(const Activations& sent,
                                                           const PassContext& pass,
                                                           Waiting& waiting) {
  std::vector<at::Tensor> gradients;
  for (std::size_t part = 0; part < sent.parts.size(); ++part) {
    const at::Tensor gradient = at::empty(sent.parts[part].sizes(), at::kFloat);
    const Waiting own = to_next_->gradients[part]->receive(pass, sent.shape(), dtype_of(gradient),
                                                           bytes_of(gradient));
    waiting.idle_ns += own.idle_ns;
    waiting.exposed_ns += own.exposed_ns;
    gradients.push_back(gradient);
  }
  return gradients;
}

void StageBoundaries::expect_activations(const Shape& shape, std::size_t parts,
                                         const PassContext& pass) {
  for (std::size_t part = 0; part < parts; ++part)
    from_previous_->activations[part]->expect(pass, shape, DType::kFloat32);
}

void StageBoundaries::expect_gradients(const Activations& sent, const PassContext& pass) {
  for (std::size_t part = 0; part < sent.parts.size(); ++part)
    to_next_->gradients[part]->expect(pass, sent.shape(), dtype_of(sent.parts[part]));
}

void StageBoundaries::finish_sends(std::size_t left) {
  if (to_next_)
    for (const auto& end : to_next_->activations) end->finish(left);
  if (from_previous_)
    for (const auto& end : from_previous_->gradients) end->finish(left);
}

std::int64_t StageBoundaries::compressed_sites(std::string_view kind) const {
  if (kind == "pp") return to_next_ && to_next_->activations[0]->codec() ? 1 : 0;
  return from_previous_ && from_previous_->gradients[0]->codec() ? 1 : 0;
}

std::uint64_t StageBoundaries::codec_state_bytes() const {
  std::uint64_t bytes = 0;
  const auto add = [&](const auto& ends) {
    for (const auto& end : ends) bytes += end->state_bytes();
  };
  if (to_next_) add(to_next_->activations), add(to_next_->gradients);
  if (from_previous_) add(from_previous_->activations), add(from_previous_->gradients);
  return bytes;
}

}  // namespace tersor::workloads

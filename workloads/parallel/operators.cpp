// SPDX-License-Identifier: Apache-2.0
#include "workloads/parallel/operators.hpp"

#include <ATen/ops/add.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sum.h>
#include <torch/csrc/autograd/custom_function.h>

#include <chrono>

#include "common/error.hpp"

namespace tersor::workloads {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Buffers = std::vector<std::span<std::byte>>;

Buffers buffers_of(at::TensorList tensors) {
  Buffers buffers;
  for (const at::Tensor& tensor : tensors) buffers.push_back(bytes_of(tensor));
  return buffers;
}

/// The sum over ranks of fresh tensors that nobody else holds.
at::Tensor sum_over_ranks(variable_list& contributions, Site& site, const Shape& message) {
  at::Tensor out = site.is_dense() ? contributions[0] : at::empty_like(contributions[0]);
  site.sum(buffers_of(contributions), message, dtype_of(out), bytes_of(out));
  return out;
}

void save(AutogradContext* ctx, Site& site, const Shape& message, std::size_t locals) {
  ctx->saved_data["site"] = reinterpret_cast<std::int64_t>(&site);
  ctx->saved_data["samples"] = message.samples;
  ctx->saved_data["tokens"] = message.tokens;
  ctx->saved_data["hidden"] = message.hidden;
  ctx->saved_data["locals"] = static_cast<std::int64_t>(locals);
}

struct Saved {
  explicit Saved(AutogradContext* ctx)
      : site(*reinterpret_cast<Site*>(ctx->saved_data["site"].toInt())),
        message{ctx->saved_data["samples"].toInt(), ctx->saved_data["tokens"].toInt(),
                ctx->saved_data["hidden"].toInt()},
        locals(static_cast<std::size_t>(ctx->saved_data["locals"].toInt())) {}
  Site& site;
  Shape message;
  std::size_t locals;
};

struct ColumnParallel : torch::autograd::Function<ColumnParallel> {
  static variable_list forward(AutogradContext* ctx, const at::Tensor& x, at::TensorList weights,
                               at::TensorList biases, Site* site, Shape message, bool can_overlap) {
    save(ctx, *site, message, weights.size());
    ctx->saved_data["overlap"] = can_overlap;
    variable_list saved{x}, outputs;
    for (std::size_t l = 0; l < weights.size(); ++l) {
      saved.push_back(weights[l]);
      outputs.push_back(at::addmm(biases[l], x, weights[l].t()));
    }
    ctx->save_for_backward(std::move(saved));
    return outputs;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const Saved at(ctx);
    const variable_list saved = ctx->get_saved_variables();
    variable_list input_parts, result(1 + 2 * at.locals);
    std::unique_ptr<Pending> pending;
    const bool needs_input = ctx->needs_input_grad(0);
    if (needs_input) {
      for (std::size_t l = 0; l < at.locals; ++l)
        input_parts.push_back(at::mm(gradients[l], saved[1 + l]));
      if (ctx->saved_data["overlap"].toBool() && at.site.is_dense()) {
        pending = at.site.start_sum(buffers_of(input_parts), at.message, dtype_of(input_parts[0]));
        result[0] = input_parts[0];
      } else {
        result[0] = sum_over_ranks(input_parts, at.site, at.message);
      }
    }
    for (std::size_t l = 0; l < at.locals; ++l) {
      result[1 + l] = at::mm(gradients[l].t(), saved[0]);
      result[1 + at.locals + l] = gradients[l].sum(0);
    }
    if (pending) at.site.finish(*pending, at.message, dtype_of(result[0]));
    result.resize(result.size() + 3);  // site, message, can_overlap
    return result;
  }
};

struct RowParallel : torch::autograd::Function<RowParallel> {
  static at::Tensor forward(AutogradContext* ctx, at::TensorList xs, at::TensorList weights,
                            const at::Tensor& bias, Site* site, Shape message) {
    save(ctx, *site, message, xs.size());
    variable_list saved(xs.begin(), xs.end()), contributions;
    saved.insert(saved.end(), weights.begin(), weights.end());
    for (std::size_t l = 0; l < xs.size(); ++l)
      contributions.push_back(at::mm(xs[l], weights[l].t()));
    ctx->save_for_backward(std::move(saved));
    at::Tensor out = sum_over_ranks(contributions, *site, message);
    return out.add_(bias);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const Saved at(ctx);
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor& gradient = gradients[0];
    variable_list result(2 * at.locals);
    for (std::size_t l = 0; l < at.locals; ++l) {
      result[l] = at::mm(gradient, saved[at.locals + l]);
      result[at.locals + l] = at::mm(gradient.t(), saved[l]);
    }
    result.push_back(gradient.sum(0));
    result.resize(result.size() + 2);  // site, message
    return result;
  }
};

/// Adds the local ranks' codes over all ranks; the gradient of the sum is that of every code.
struct SumCodes : torch::autograd::Function<SumCodes> {
  static at::Tensor forward(AutogradContext* ctx, at::TensorList codes, Site* site, Shape message) {
    ctx->saved_data["locals"] = static_cast<std::int64_t>(codes.size());
    variable_list copies;
    for (const at::Tensor& code : codes) copies.push_back(code.clone());
    site->sum_codes(buffers_of(copies), static_cast<std::size_t>(copies[0].numel()), message,
                    dtype_of(copies[0]));
    return copies[0];
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    variable_list result(static_cast<std::size_t>(ctx->saved_data["locals"].toInt()), gradients[0]);
    result.resize(result.size() + 2);
    return result;
  }
};

/// A replicated weight used on `locals` ranks; its gradient is the sum over all ranks.
struct Replicate : torch::autograd::Function<Replicate> {
  static variable_list forward(AutogradContext* ctx, const at::Tensor& weight, Site* site,
                               std::int64_t locals) {
    save(ctx, *site, {1, weight.size(0), weight.size(1)}, static_cast<std::size_t>(locals));
    variable_list copies;
    for (std::int64_t l = 0; l < locals; ++l) copies.push_back(weight.detach());
    return copies;
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const Saved at(ctx);
    variable_list parts;
    for (const at::Tensor& gradient : gradients) parts.push_back(gradient.clone());
    return {sum_over_ranks(parts, at.site, at.message), at::Tensor(), at::Tensor()};
  }
};

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

at::Tensor through_bottleneck(const std::vector<at::Tensor>& xs,
                              const std::vector<at::Tensor>& weights, Site& site,
                              const Shape& message, const Bottleneck& bottleneck) {
  variable_list encoders = bottleneck.encoders;
  if (bottleneck.gradient_site)
    encoders = Replicate::apply(bottleneck.encoders[0], bottleneck.gradient_site,
                                static_cast<std::int64_t>(xs.size()));
  variable_list contributions, codes;
  for (std::size_t l = 0; l < xs.size(); ++l)
    contributions.push_back(at::mm(xs[l], weights[l].t()));
  Durations spent;
  std::int64_t start = now_ns();
  for (std::size_t l = 0; l < xs.size(); ++l)
    codes.push_back(at::mm(contributions[l], encoders[l]));
  spent.encode = now_ns() - start;
  const at::Tensor sum = SumCodes::apply(at::TensorList(codes), &site, message);
  start = now_ns();
  at::Tensor out = at::mm(sum, bottleneck.decoder);
  spent.decode = now_ns() - start;
  site.finish_codes(spent, contributions.empty() ? Buffers{} : buffers_of(contributions), message,
                    dtype_of(out), bytes_of(out));
  return out;
}

}  // namespace

std::vector<at::Tensor> column_parallel(const at::Tensor& x, const std::vector<at::Tensor>& weights,
                                        const std::vector<at::Tensor>& biases, Site& backward,
                                        const Shape& message, bool can_overlap) {
  return ColumnParallel::apply(x, at::TensorList(weights), at::TensorList(biases), &backward,
                               message, can_overlap);
}

at::Tensor row_parallel(const std::vector<at::Tensor>& xs, const std::vector<at::Tensor>& weights,
                        const at::Tensor& bias, Site& forward, const Shape& message,
                        const Bottleneck* bottleneck) {
  if (forward.is_learned()) {
    TERSOR_CHECK(bottleneck, "a learned codec without weights at " + forward.name());
    return at::add(through_bottleneck(xs, weights, forward, message, *bottleneck), bias);
  }
  return RowParallel::apply(at::TensorList(xs), at::TensorList(weights), bias, &forward, message);
}

}  // namespace tersor::workloads

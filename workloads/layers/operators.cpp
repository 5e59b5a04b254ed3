// SPDX-License-Identifier: Apache-2.0
#include "workloads/layers/operators.hpp"

#include <ATen/ops/add.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sum.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

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

/// What a node needs again in the backward, besides tensors. The node owns it, so the pass lives as
/// long as a backward may come.
struct NodeContext : torch::CustomClassHolder {
  NodeContext(Pass the_pass, Site& the_site, const Shape& the_shape, std::size_t the_locals)
      : pass(std::move(the_pass)), site(the_site), shape(the_shape), locals(the_locals) {}
  Pass pass;
  Site& site;   ///< where the gradient is summed
  Shape shape;  ///< of the message
  std::size_t locals;
  bool can_overlap = false;
  std::int64_t summed = 0;  ///< channels that the forward added
};

NodeContext& keep(AutogradContext* ctx, const Pass& pass, Site& site, const Shape& shape,
                  std::size_t locals) {
  auto context = c10::make_intrusive<NodeContext>(pass, site, shape, locals);
  NodeContext& kept = *context;
  ctx->saved_data["context"] = c10::IValue::make_capsule(std::move(context));
  return kept;
}

/// Valid while the node lives.
const NodeContext& kept(AutogradContext* ctx) {
  return static_cast<const NodeContext&>(*ctx->saved_data["context"].toCapsule());
}

/// The sum over ranks of fresh tensors that nobody else holds.
at::Tensor sum_over_ranks(const PassContext& pass, variable_list& contributions, Site& site,
                          const Shape& shape) {
  const DType dtype = dtype_of(contributions[0]);
  const bool is_dense = site.is_dense(pass, shape, dtype);
  at::Tensor out = is_dense ? contributions[0] : at::empty_like(contributions[0]);
  site.sum(pass, {buffers_of(contributions), shape, dtype}, bytes_of(out));
  return out;
}

/// The same where ranks keep channels of their own: one result per local rank.
variable_list sums_of_ranks(const PassContext& pass, variable_list& contributions, Site& site,
                            const Shape& shape) {
  const DType dtype = dtype_of(contributions[0]);
  variable_list outs = contributions;
  if (!site.is_dense(pass, shape, dtype))
    for (at::Tensor& out : outs) out = at::empty_like(out);
  site.sum(pass, {buffers_of(contributions), shape, dtype}, buffers_of(outs));
  return outs;
}

struct ColumnParallel : torch::autograd::Function<ColumnParallel> {
  static variable_list forward(AutogradContext* ctx, const at::Tensor& x, at::TensorList weights,
                               at::TensorList biases, Pass pass, Site* site, Shape message,
                               bool can_overlap) {
    keep(ctx, pass, *site, message, weights.size()).can_overlap = can_overlap;
    variable_list saved{x}, outputs;
    for (std::size_t l = 0; l < weights.size(); ++l) {
      saved.push_back(weights[l]);
      outputs.push_back(at::addmm(biases[l], x, weights[l].t()));
    }
    ctx->save_for_backward(std::move(saved));
    return outputs;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const NodeContext& at = kept(ctx);
    const variable_list saved = ctx->get_saved_variables();
    variable_list input_parts, result(1 + 2 * at.locals);
    std::unique_ptr<Work> work;
    Buffers buffers;
    Message message{{}, at.shape};
    if (ctx->needs_input_grad(0)) {
      for (std::size_t l = 0; l < at.locals; ++l)
        input_parts.push_back(at::mm(gradients[l], saved[1 + l]));
      message.dtype = dtype_of(input_parts[0]);
      if (at.can_overlap && at.site.is_dense(*at.pass, at.shape, message.dtype)) {
        buffers = buffers_of(input_parts);
        message.contributions = buffers;
        work = at.site.start_sum(*at.pass, message);
        result[0] = input_parts[0];
      } else {
        result[0] = sum_over_ranks(*at.pass, input_parts, at.site, at.shape);
      }
    }
    for (std::size_t l = 0; l < at.locals; ++l) {
      result[1 + l] = at::mm(gradients[l].t(), saved[0]);
      result[1 + at.locals + l] = gradients[l].sum(0);
    }
    if (work) at.site.finish(*at.pass, *work, message);
    result.resize(result.size() + 4);  // pass, site, message, can_overlap
    return result;
  }
};

struct RowParallel : torch::autograd::Function<RowParallel> {
  static at::Tensor forward(AutogradContext* ctx, at::TensorList xs, at::TensorList weights,
                            const at::Tensor& bias, Pass pass, Site* site, Shape message) {
    keep(ctx, pass, *site, message, xs.size());
    variable_list saved(xs.begin(), xs.end()), contributions;
    saved.insert(saved.end(), weights.begin(), weights.end());
    for (std::size_t l = 0; l < xs.size(); ++l)
      contributions.push_back(at::mm(xs[l], weights[l].t()));
    ctx->save_for_backward(std::move(saved));
    at::Tensor out = sum_over_ranks(*pass, contributions, *site, message);
    return out.add_(bias);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const NodeContext& at = kept(ctx);
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor& gradient = gradients[0];
    variable_list result(2 * at.locals);
    for (std::size_t l = 0; l < at.locals; ++l) {
      result[l] = at::mm(gradient, saved[at.locals + l]);
      result[at.locals + l] = at::mm(gradient.t(), saved[l]);
    }
    result.push_back(gradient.sum(0));
    result.resize(result.size() + 3);  // pass, site, message
    return result;
  }
};

/// A row-parallel linear whose ranks may keep channels of their own. Each rank's loss is its share
/// of the job's, so gradients are added where the forward pass added: in the summed channels.
struct SplitRowParallel : torch::autograd::Function<SplitRowParallel> {
  static variable_list forward(AutogradContext* ctx, at::TensorList xs, at::TensorList weights,
                               at::TensorList biases, Pass pass, Site* site, Site* gradient_site,
                               Shape message) {
    variable_list saved(xs.begin(), xs.end()), contributions;
    saved.insert(saved.end(), weights.begin(), weights.end());
    for (std::size_t l = 0; l < xs.size(); ++l)
      contributions.push_back(at::mm(xs[l], weights[l].t()));
    ctx->save_for_backward(std::move(saved));
    keep(ctx, pass, *gradient_site, message, xs.size()).summed =
        site->summed_hidden(*pass, message, dtype_of(contributions[0]));
    variable_list outs = sums_of_ranks(*pass, contributions, *site, message);
    for (std::size_t l = 0; l < outs.size(); ++l) outs[l].add_(biases[l]);
    return outs;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const NodeContext& at = kept(ctx);
    const variable_list saved = ctx->get_saved_variables();
    const std::int64_t summed = at.summed;
    const std::int64_t own = at.shape.hidden - summed;
    variable_list parts;
    for (const at::Tensor& gradient : gradients)
      parts.push_back(gradient.narrow(1, 0, summed).clone(at::MemoryFormat::Contiguous));
    at::Tensor sum = parts[0];
    if (summed > 0)
      sum = sum_over_ranks(*at.pass, parts, at.site, {at.shape.samples, at.shape.tokens, summed});
    variable_list result(3 * at.locals);
    for (std::size_t l = 0; l < at.locals; ++l) {
      const at::Tensor gradient =
          own == 0 ? sum : at::cat({sum, gradients[l].narrow(1, summed, own)}, 1);
      result[l] = at::mm(gradient, saved[at.locals + l]);
      result[at.locals + l] = at::mm(gradient.t(), saved[l]);
      result[2 * at.locals + l] = gradients[l].sum(0);
    }
    result.resize(result.size() + 4);  // pass, site, gradient_site, message
    return result;
  }
};

/// Mean over all ranks; each gets its share of the gradient.
struct MeanOverRanks : torch::autograd::Function<MeanOverRanks> {
  static at::Tensor forward(AutogradContext* ctx, at::TensorList values, Pass pass, Site* site,
                            Shape message, std::int64_t ranks) {
    ctx->saved_data["locals"] = static_cast<std::int64_t>(values.size());
    ctx->saved_data["ranks"] = ranks;
    variable_list copies;
    for (const at::Tensor& value : values) copies.push_back(value.clone());
    return sum_over_ranks(*pass, copies, *site, message).div_(static_cast<double>(ranks));
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const at::Tensor share =
        gradients[0].div(static_cast<double>(ctx->saved_data["ranks"].toInt()));
    variable_list result(static_cast<std::size_t>(ctx->saved_data["locals"].toInt()), share);
    result.resize(result.size() + 4);  // pass, site, message, ranks
    return result;
  }
};

/// Adds the local ranks' codes over all ranks; the gradient of the sum is that of every code.
struct SumCodes : torch::autograd::Function<SumCodes> {
  static at::Tensor forward(AutogradContext* ctx, at::TensorList codes, Pass pass, Site* site,
                            Shape message) {
    ctx->saved_data["locals"] = static_cast<std::int64_t>(codes.size());
    variable_list copies;
    for (const at::Tensor& code : codes) copies.push_back(code.clone());
    site->sum_codes(*pass, buffers_of(copies), static_cast<std::size_t>(copies[0].numel()), message,
                    dtype_of(copies[0]));
    return copies[0];
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    variable_list result(static_cast<std::size_t>(ctx->saved_data["locals"].toInt()), gradients[0]);
    result.resize(result.size() + 3);  // pass, site, message
    return result;
  }
};

/// A replicated weight used on `locals` ranks; its gradient is the sum over all ranks.
struct Replicate : torch::autograd::Function<Replicate> {
  static variable_list forward(AutogradContext* ctx, const at::Tensor& weight, Pass pass,
                               Site* site, std::int64_t locals) {
    const std::int64_t width = weight.size(-1);
    keep(ctx, pass, *site, {1, weight.numel() / width, width}, static_cast<std::size_t>(locals));
    variable_list copies;
    for (std::int64_t l = 0; l < locals; ++l) copies.push_back(weight.detach());
    return copies;
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const NodeContext& at = kept(ctx);
    variable_list parts;
    for (const at::Tensor& gradient : gradients) parts.push_back(gradient.clone());
    return {sum_over_ranks(*at.pass, parts, at.site, at.shape), at::Tensor(), at::Tensor(),
            at::Tensor()};
  }
};

at::Tensor through_bottleneck(const Pass& pass, const std::vector<at::Tensor>& xs,
                              const std::vector<at::Tensor>& weights, Site& site,
                              const Shape& message, const Bottleneck& bottleneck) {
  variable_list encoders = bottleneck.encoders;
  if (bottleneck.gradient_site)
    encoders = Replicate::apply(bottleneck.encoders[0], pass, bottleneck.gradient_site,
                                static_cast<std::int64_t>(xs.size()));
  variable_list contributions, codes;
  for (std::size_t l = 0; l < xs.size(); ++l)
    contributions.push_back(at::mm(xs[l], weights[l].t()));
  Durations spent;
  std::int64_t start = steady_ns();
  for (std::size_t l = 0; l < xs.size(); ++l)
    codes.push_back(at::mm(contributions[l], encoders[l]));
  spent.encode = steady_ns() - start;
  const at::Tensor sum = SumCodes::apply(at::TensorList(codes), pass, &site, message);
  start = steady_ns();
  at::Tensor out = at::mm(sum, bottleneck.decoder);
  spent.decode = steady_ns() - start;
  site.finish_codes(*pass, spent, {buffers_of(contributions), message, dtype_of(out)},
                    bytes_of(out));
  return out;
}

}  // namespace

std::vector<at::Tensor> column_parallel(const Pass& pass, const at::Tensor& x,
                                        const std::vector<at::Tensor>& weights,
                                        const std::vector<at::Tensor>& biases, Site& backward,
                                        const Shape& message, bool can_overlap) {
  return ColumnParallel::apply(x, at::TensorList(weights), at::TensorList(biases), pass, &backward,
                               message, can_overlap);
}

at::Tensor row_parallel(const Pass& pass, const std::vector<at::Tensor>& xs,
                        const std::vector<at::Tensor>& weights, const at::Tensor& bias,
                        Site& forward, const Shape& message, const Bottleneck* bottleneck) {
  if (forward.is_learned(*pass)) {
    TERSOR_CHECK(bottleneck, "a learned codec without weights at " + forward.identity().name);
    return at::add(through_bottleneck(pass, xs, weights, forward, message, *bottleneck), bias);
  }
  return RowParallel::apply(at::TensorList(xs), at::TensorList(weights), bias, pass, &forward,
                            message);
}

std::vector<at::Tensor> split_column_parallel(const std::vector<at::Tensor>& xs,
                                              const std::vector<at::Tensor>& weights,
                                              const std::vector<at::Tensor>& biases) {
  std::vector<at::Tensor> outputs;
  for (std::size_t l = 0; l < xs.size(); ++l)
    outputs.push_back(at::addmm(biases[l], xs[l], weights[l].t()));
  return outputs;
}

std::vector<at::Tensor> split_row_parallel(const Pass& pass, const std::vector<at::Tensor>& xs,
                                           const std::vector<at::Tensor>& weights,
                                           const std::vector<at::Tensor>& biases, Site& forward,
                                           Site& backward, const Shape& message) {
  return SplitRowParallel::apply(at::TensorList(xs), at::TensorList(weights),
                                 at::TensorList(biases), pass, &forward, &backward, message);
}

std::vector<at::Tensor> replicate(const Pass& pass, const at::Tensor& weight, Site& gradient_site,
                                  std::size_t locals) {
  return Replicate::apply(weight, pass, &gradient_site, static_cast<std::int64_t>(locals));
}

at::Tensor mean_over_ranks(const Pass& pass, const std::vector<at::Tensor>& values, Site& site,
                           const Shape& message, int ranks) {
  return MeanOverRanks::apply(at::TensorList(values), pass, &site, message, std::int64_t{ranks});
}

void backward(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& gradients) {
  torch::autograd::backward(outputs, gradients);
}

}  // namespace tersor::workloads

// SPDX-License-Identifier: Apache-2.0
#include "workloads/parallel/operators.hpp"

#include <ATen/ops/add.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/sum.h>
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

/// The sum over ranks of fresh tensors that nobody else holds.
at::Tensor sum_over_ranks(variable_list& contributions, Site& site, const Shape& message) {
  const bool is_dense = site.is_dense(message, dtype_of(contributions[0]));
  at::Tensor out = is_dense ? contributions[0] : at::empty_like(contributions[0]);
  site.sum(buffers_of(contributions), message, dtype_of(out), bytes_of(out));
  return out;
}

/// The same where ranks keep channels of their own: one result per local rank.
variable_list sums_of_ranks(variable_list& contributions, Site& site, const Shape& message) {
  variable_list outs = contributions;
  if (!site.is_dense(message, dtype_of(contributions[0])))
    for (at::Tensor& out : outs) out = at::empty_like(out);
  site.sum(buffers_of(contributions), message, dtype_of(outs[0]), buffers_of(outs));
  return outs;
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
    std::unique_ptr<Work> work;
    const bool needs_input = ctx->needs_input_grad(0);
    if (needs_input) {
      for (std::size_t l = 0; l < at.locals; ++l)
        input_parts.push_back(at::mm(gradients[l], saved[1 + l]));
      if (ctx->saved_data["overlap"].toBool() &&
          at.site.is_dense(at.message, dtype_of(input_parts[0]))) {
        work = at.site.start_sum(buffers_of(input_parts), at.message, dtype_of(input_parts[0]));
        result[0] = input_parts[0];
      } else {
        result[0] = sum_over_ranks(input_parts, at.site, at.message);
      }
    }
    for (std::size_t l = 0; l < at.locals; ++l) {
      result[1 + l] = at::mm(gradients[l].t(), saved[0]);
      result[1 + at.locals + l] = gradients[l].sum(0);
    }
    if (work) at.site.finish(*work, at.message, dtype_of(result[0]));
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

/// A row-parallel linear whose ranks may keep channels of their own. Each rank's loss is its share
/// of the job's, so gradients are added where the forward pass added: in the summed channels.
struct SplitRowParallel : torch::autograd::Function<SplitRowParallel> {
  static variable_list forward(AutogradContext* ctx, at::TensorList xs, at::TensorList weights,
                               at::TensorList biases, Site* site, Site* gradient_site,
                               Shape message) {
    save(ctx, *gradient_site, message, xs.size());
    variable_list saved(xs.begin(), xs.end()), contributions;
    saved.insert(saved.end(), weights.begin(), weights.end());
    for (std::size_t l = 0; l < xs.size(); ++l)
      contributions.push_back(at::mm(xs[l], weights[l].t()));
    ctx->save_for_backward(std::move(saved));
    ctx->saved_data["summed"] = site->summed_hidden(message, dtype_of(contributions[0]));
    variable_list outs = sums_of_ranks(contributions, *site, message);
    for (std::size_t l = 0; l < outs.size(); ++l) outs[l].add_(biases[l]);
    return outs;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const Saved at(ctx);
    const variable_list saved = ctx->get_saved_variables();
    const std::int64_t summed = ctx->saved_data["summed"].toInt();
    const std::int64_t own = at.message.hidden - summed;
    variable_list parts;
    for (const at::Tensor& gradient : gradients)
      parts.push_back(gradient.narrow(1, 0, summed).clone(at::MemoryFormat::Contiguous));
    at::Tensor sum = parts[0];
    if (summed > 0)
      sum = sum_over_ranks(parts, at.site, {at.message.samples, at.message.tokens, summed});
    variable_list result(3 * at.locals);
    for (std::size_t l = 0; l < at.locals; ++l) {
      const at::Tensor gradient =
          own == 0 ? sum : at::cat({sum, gradients[l].narrow(1, summed, own)}, 1);
      result[l] = at::mm(gradient, saved[at.locals + l]);
      result[at.locals + l] = at::mm(gradient.t(), saved[l]);
      result[2 * at.locals + l] = gradients[l].sum(0);
    }
    result.resize(result.size() + 3);  // site, gradient_site, message
    return result;
  }
};

/// Mean over all ranks; each gets its share of the gradient.
struct MeanOverRanks : torch::autograd::Function<MeanOverRanks> {
  static at::Tensor forward(AutogradContext* ctx, at::TensorList values, Site* site, Shape message,
                            std::int64_t ranks) {
    ctx->saved_data["locals"] = static_cast<std::int64_t>(values.size());
    ctx->saved_data["ranks"] = ranks;
    variable_list copies;
    for (const at::Tensor& value : values) copies.push_back(value.clone());
    return sum_over_ranks(copies, *site, message).div_(static_cast<double>(ranks));
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const at::Tensor share =
        gradients[0].div(static_cast<double>(ctx->saved_data["ranks"].toInt()));
    variable_list result(static_cast<std::size_t>(ctx->saved_data["locals"].toInt()), share);
    result.resize(result.size() + 3);
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
    const std::int64_t width = weight.size(-1);
    save(ctx, *site, {1, weight.numel() / width, width}, static_cast<std::size_t>(locals));
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
  std::int64_t start = steady_ns();
  for (std::size_t l = 0; l < xs.size(); ++l)
    codes.push_back(at::mm(contributions[l], encoders[l]));
  spent.encode = steady_ns() - start;
  const at::Tensor sum = SumCodes::apply(at::TensorList(codes), &site, message);
  start = steady_ns();
  at::Tensor out = at::mm(sum, bottleneck.decoder);
  spent.decode = steady_ns() - start;
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

std::vector<at::Tensor> split_column_parallel(const std::vector<at::Tensor>& xs,
                                              const std::vector<at::Tensor>& weights,
                                              const std::vector<at::Tensor>& biases) {
  std::vector<at::Tensor> outputs;
  for (std::size_t l = 0; l < xs.size(); ++l)
    outputs.push_back(at::addmm(biases[l], xs[l], weights[l].t()));
  return outputs;
}

std::vector<at::Tensor> split_row_parallel(const std::vector<at::Tensor>& xs,
                                           const std::vector<at::Tensor>& weights,
                                           const std::vector<at::Tensor>& biases, Site& forward,
                                           Site& backward, const Shape& message) {
  return SplitRowParallel::apply(at::TensorList(xs), at::TensorList(weights),
                                 at::TensorList(biases), &forward, &backward, message);
}

std::vector<at::Tensor> replicate(const at::Tensor& weight, Site& gradient_site,
                                  std::size_t locals) {
  return Replicate::apply(weight, &gradient_site, static_cast<std::int64_t>(locals));
}

at::Tensor mean_over_ranks(const std::vector<at::Tensor>& values, Site& site, const Shape& message,
                           int ranks) {
  return MeanOverRanks::apply(at::TensorList(values), &site, message, std::int64_t{ranks});
}

}  // namespace tersor::workloads

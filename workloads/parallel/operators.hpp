// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "workloads/bridge/tensor.hpp"
#include "workloads/parallel/site.hpp"

namespace tersor::workloads {

/// Activations are {rows, width} with rows = samples * tokens; `Shape` says how the message is cut.
/// A vector has one entry per local rank. Gradients flow through everything here.

/// Weights of a learned codec at one site; they belong to the model's parameters.
struct Bottleneck {
  std::vector<at::Tensor> encoders;  ///< {hidden, dim}: one per local rank, or one where tied
  at::Tensor decoder;                ///< {dim, hidden}, the same on every rank
  Site* gradient_site = nullptr;     ///< sums the gradient of a tied encoder; else null
};

/// y_l = x W_l^T + b_l: replicated input, output split over ranks (Megatron's column-parallel
/// linear). The input's gradient is summed over ranks at `backward`; with `can_overlap` a dense sum
/// runs while the weights' gradients are computed.
std::vector<at::Tensor> column_parallel(const at::Tensor& x, const std::vector<at::Tensor>& weights,
                                        const std::vector<at::Tensor>& biases, Site& backward,
                                        const Shape& message, bool can_overlap);

/// sum over ranks of x_r W_r^T, then + bias: the sum is the message at `forward`, compressed as the
/// pass asks. The gradient of a compressed sum passes straight; that of a learned codec runs
/// through encoder and decoder (`bottleneck` then is not null).
at::Tensor row_parallel(const std::vector<at::Tensor>& xs, const std::vector<at::Tensor>& weights,
                        const at::Tensor& bias, Site& forward, const Shape& message,
                        const Bottleneck* bottleneck);

}  // namespace tersor::workloads

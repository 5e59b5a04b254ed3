// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "workloads/comm/tensor.hpp"
#include "workloads/messages/tensor_parallel.hpp"

namespace tersor::workloads {

/// Activations are {rows, width} with rows = samples * tokens; `Shape` says how the message is cut.
/// A vector has one entry per local rank. Gradients flow through everything here; what needs the
/// pass in the backward keeps it.

/// Weights of a learned codec at one site; they belong to the model's parameters.
struct Bottleneck {
  std::vector<at::Tensor> encoders;  ///< {hidden, dim}: one per local rank, or one where tied
  at::Tensor decoder;                ///< {dim, hidden}, the same on every rank
  Site* gradient_site = nullptr;     ///< sums the gradient of a tied encoder; else null
};

/// y_l = x W_l^T + b_l: replicated input, output split over ranks (Megatron's column-parallel
/// linear). The input's gradient is summed over ranks at `backward`; with `can_overlap` a dense sum
/// runs while the weights' gradients are computed.
std::vector<at::Tensor> column_parallel(const Pass& pass, const at::Tensor& x,
                                        const std::vector<at::Tensor>& weights,
                                        const std::vector<at::Tensor>& biases, Site& backward,
                                        const Shape& message, bool can_overlap);

/// sum over ranks of x_r W_r^T, then + bias: the sum is the message at `forward`, compressed as the
/// pass asks. The gradient of a compressed sum passes straight; that of a learned codec runs
/// through encoder and decoder (`bottleneck` then is not null).
at::Tensor row_parallel(const Pass& pass, const std::vector<at::Tensor>& xs,
                        const std::vector<at::Tensor>& weights, const at::Tensor& bias,
                        Site& forward, const Shape& message, const Bottleneck* bottleneck);

/// Where ranks keep channels of their own (`partial`), every rank has activations and a loss of its
/// own, and the job's loss is their mean. A gradient is then a rank's share: it is added over the
/// ranks where the forward pass adds, in the row-parallel outputs, not at the column-parallel
/// inputs. One tensor per local rank everywhere.
std::vector<at::Tensor> split_column_parallel(const std::vector<at::Tensor>& xs,
                                              const std::vector<at::Tensor>& weights,
                                              const std::vector<at::Tensor>& biases);
/// The gradient of the summed channels crosses `backward`, as a message of that many.
std::vector<at::Tensor> split_row_parallel(const Pass& pass, const std::vector<at::Tensor>& xs,
                                           const std::vector<at::Tensor>& weights,
                                           const std::vector<at::Tensor>& biases, Site& forward,
                                           Site& backward, const Shape& message);
/// Copies of a replicated weight, one per local rank; its gradient is the sum over all ranks.
std::vector<at::Tensor> replicate(const Pass& pass, const at::Tensor& weight, Site& gradient_site,
                                  std::size_t locals);
/// The backward of `outputs` together, by their `gradients`; of one scalar where there are none.
void backward(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& gradients);
/// {rows, width} of each local rank to the mean over all ranks.
at::Tensor mean_over_ranks(const Pass& pass, const std::vector<at::Tensor>& values, Site& site,
                           const Shape& message, int ranks);

}  // namespace tersor::workloads

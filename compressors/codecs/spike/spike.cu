// SPDX-License-Identifier: Apache-2.0
#include "compressors/api/workspace.hpp"
#include "compressors/codecs/spike/spike.hpp"
#include "compressors/codecs/spike/spike_groups.cuh"
#include "compressors/device/device_table.hpp"

// A warp has a group of up to 256 values. It is loaded and stored as thread tiles, and rotated in
// shared memory so that lane i works on values i, i + 32, ..: a vote over the lanes is then 32 bits
// of a plane. Where groups do not begin at whole bytes of the planes, the codes go through the
// workspace and a second launch gathers the planes. What the codes decode to is rotated back for
// the state of a wrapper (encode_sources.cuh), whose thread tiles wait in registers.

namespace tersor::compressors {
namespace {

using namespace device;

/// `words` of a plane, in the lane whose plane it is, to any address.
__device__ __forceinline__ void store_plane(std::byte* to, const std::uint32_t* words, int bytes) {
#pragma unroll
  for (int quad = 0; quad < kOwn / 4; ++quad) {
    if (16 * quad + 16 <= bytes && is_aligned_16(to + 16 * quad)) {
      store_vector(reinterpret_cast<uint4*>(to + 16 * quad),
                   make_uint4(words[4 * quad], words[4 * quad + 1], words[4 * quad + 2],
                              words[4 * quad + 3]));
      continue;
    }
#pragma unroll
    for (int k = 4 * quad; k < 4 * quad + 4; ++k) {
      if (4 * k + 4 <= bytes) {
        store_bytes(to + 4 * k, words[k]);
      } else {
#pragma unroll
        for (int byte = 0; byte < 4; ++byte)
          if (4 * k + byte < bytes) to[4 * k + byte] = static_cast<std::byte>(words[k] >> 8 * byte);
      }
    }
  }
}

/// ThreadTiles of a group, rotated so that lane i has values i, i + 32, ..
__device__ __forceinline__ void transpose_thread_tiles(const float* thread_tile, float* exchange,
                                                       float* x) {
  auto* at = reinterpret_cast<float4*>(exchange + 8 * thread_tile_of_lane<true>(lane_of_thread()));
  store_vector(at, take_quad(thread_tile));
  store_vector(at + 1, take_quad(thread_tile + 4));
  __syncwarp();
#pragma unroll
  for (int k = 0; k < kOwn; ++k) x[k] = exchange[32 * k + lane_of_thread()];
  __syncwarp();
}

/// And back.
__device__ __forceinline__ void transpose_back(const float* x, float* exchange,
                                               float* thread_tile) {
#pragma unroll
  for (int k = 0; k < kOwn; ++k) exchange[32 * k + lane_of_thread()] = x[k];
  __syncwarp();
  const auto* at =
      reinterpret_cast<const float4*>(exchange + 8 * thread_tile_of_lane<true>(lane_of_thread()));
  put_quad(load_vector(at), thread_tile);
  put_quad(load_vector(at + 1), thread_tile + 4);
}

template <class In>
__global__ void __launch_bounds__(kThreads,
                                  Source<In>::kHasFeedback ? kEncodingBlocks : kResidentBlocks)
    encode_groups_kernel(typename Source<In>::Tensor in, const __grid_constant__ Groups groups,
                         std::int64_t count, std::uint8_t* codes, std::byte* payload) {
  using From = Source<In>;
  TERSOR_SHARED_ARRAY(float4, quads, kWarps * kLongestGroup / 4);
  float* exchange = reinterpret_cast<float*>(quads) + warp_of_thread() * kLongestGroup;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_of_thread();
  if (index >= count) return;
  const Group group(groups, index);
  const auto from = in + group.first;
  float thread_tile[8];
  typename From::Base base;
  From::load_paired(from, group.length, thread_tile, base);
  Own own;
  transpose_thread_tiles(thread_tile, exchange, own.x);
#pragma unroll
  for (int k = 0; k < kOwn; ++k) {
    own.x[k] = __fadd_rn(nan_to_zero(own.x[k]), 0.0f);
    if (32 * k + static_cast<int>(lane_of_thread()) < group.length) own.in |= 1u << k;
  }
  const std::uint32_t taken = take_reserved(groups, group, own, payload);
  const auto top = static_cast<float>((1 << groups.bits) - 1);
  const Limits limits = limits_of(own, own.in & ~taken, top);
  if (lane_of_thread() == 0) {
    store_bytes(payload + 2 * index, limits.minimum);
    store_bytes(payload + groups.steps + 2 * index, limits.step);
  }
  const float m = float16_to_float32(limits.minimum);
  const float s = float16_to_float32(limits.step);
  std::uint32_t words[kOwn];
#pragma unroll
  for (int k = 0; k < kOwn; ++k) {
    const bool is_coded = ((own.in & ~taken) >> k & 1u) != 0;
    const std::uint32_t code = is_coded ? code_of(own.x[k], m, s, top) : 0u;
    words[k] = 0;
    if (groups.are_whole) {
      for (int bit = 0; bit < groups.bits; ++bit) {
        const unsigned vote = __ballot_sync(kAllLanes, static_cast<int>(code >> bit & 1u));
        if (static_cast<int>(lane_of_thread()) == bit) words[k] = vote;
      }
    } else if ((own.in >> k & 1u) != 0) {
      codes[group.first + 32 * k + lane_of_thread()] = static_cast<std::uint8_t>(code);
    }
    if constexpr (From::kHasFeedback)
      own.x[k] = is_coded ? decoded(code, m, s) : float16_to_float32(scale_to_float16(own.x[k]));
  }
  if constexpr (From::kHasFeedback) {
    transpose_back(own.x, exchange, thread_tile);
#pragma unroll
    for (int i = 0; i < 8; ++i) base.values[i] = __fadd_rn(base.values[i], thread_tile[i]);
    From::store(from, group.length, From::alignment(from), base);
  }
  const int bit = static_cast<int>(lane_of_thread());
  if (groups.are_whole && bit < groups.bits)
    store_plane(
        payload + groups.planes + (groups.bits - 1 - bit) * groups.plane_bytes + group.first / 8,
        words, group.length / 8);
}

/// Byte i of every plane from codes 8 i .. 8 i + 7.
__global__ void __launch_bounds__(kThreads)
    gather_planes_kernel(const std::uint8_t* codes, std::int64_t n, int bits,
                         std::int64_t plane_bytes, std::byte* planes) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= plane_bytes) return;
  std::uint32_t code[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) code[j] = 8 * i + j < n ? codes[8 * i + j] : 0u;
  for (int bit = 0; bit < bits; ++bit) {
    std::uint32_t byte = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) byte |= (code[j] >> bit & 1u) << j;
    planes[(bits - 1 - bit) * plane_bytes + i] = static_cast<std::byte>(byte);
  }
}

/// The group's values of one payload.
__device__ __forceinline__ void decode_group(const Groups& groups, const Group& group,
                                             const std::byte* payload, float* x) {
  const float m = float16_to_float32(load_bytes<std::uint16_t>(payload + 2 * group.index));
  const float s =
      float16_to_float32(load_bytes<std::uint16_t>(payload + groups.steps + 2 * group.index));
#pragma unroll
  for (int k = 0; k < kOwn; ++k) {
    const int own = 32 * k + static_cast<int>(lane_of_thread());
    const std::int64_t at = group.first + own;
    std::uint32_t code = 0;
    if (own < group.length)
      for (int plane = 0; plane < groups.bits; ++plane)
        code = code << 1 | (static_cast<std::uint32_t>(
                                payload[groups.planes + plane * groups.plane_bytes + at / 8]) >>
                                at % 8 &
                            1u);
    x[k] = decoded(code, m, s);
  }
  for (int r = 0; r < group.feedback; ++r) {
    const std::int64_t at = group.reserved + r;
    const int position = static_cast<int>(payload[groups.positions + at]);
    if (!Own::owns(position)) continue;
    const float value =
        float16_to_float32(load_bytes<std::uint16_t>(payload + groups.values + 2 * at));
#pragma unroll
    for (int k = 0; k < kOwn; ++k) x[k] = position / 32 == k ? value : x[k];
  }
}

/// out = (out +) the sum of the decoded payloads in their order, rounded to Out.
template <class Out>
__global__ void __launch_bounds__(kThreads, 2)
    decode_groups_kernel(const __grid_constant__ Payloads payloads,
                         const __grid_constant__ Groups groups, std::int64_t count,
                         bool is_accumulated, typename Out::Storage* out) {
  TERSOR_SHARED_ARRAY(float4, quads, kWarps * kLongestGroup / 4);
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp_of_thread();
  if (index >= count) return;
  const Group group(groups, index);
  float* exchange = reinterpret_cast<float*>(quads) + warp_of_thread() * kLongestGroup;
  typename Out::Storage* to = out + group.first;
  float sum[kOwn];
  float thread_tile[8];
  if (is_accumulated) {
    load_thread_tile<Out, true>(to, group.length, is_aligned_16(to), thread_tile);
    transpose_thread_tiles(thread_tile, exchange, sum);
  }
#pragma unroll 1
  for (int p = 0; p < payloads.count; ++p) {
    float x[kOwn];
    decode_group(groups, group, payloads.at[p], x);
#pragma unroll
    for (int k = 0; k < kOwn; ++k)
      sum[k] = p == 0 && !is_accumulated ? x[k] : __fadd_rn(sum[k], x[k]);
  }
  transpose_back(sum, exchange, thread_tile);
  store_thread_tile<Out, true>(to, group.length, is_aligned_16(to), thread_tile);
}

Groups groups_of(const Shape& shape, const SpikeOptions& options, const SpikeLayout& layout) {
  Groups groups;
  groups.rows = shape.rows();
  groups.hidden = shape.hidden;
  groups.group = static_cast<int>(std::min(options.group, shape.hidden));
  groups.per_row = (shape.hidden - 1) / groups.group + 1;
  groups.n = shape.elements();
  groups.reserve = static_cast<int>(options.reserve);
  groups.bits = options.bits;
  groups.are_whole = are_spike_groups_whole(options, shape);
  groups.steps = layout.steps();
  groups.values = layout.values();
  groups.positions = layout.positions();
  groups.planes = layout.planes();
  groups.plane_bytes = layout.plane_bytes;
  return groups;
}

unsigned grid_of(std::int64_t count, std::int64_t of_block) {
  const std::int64_t blocks = (count + of_block - 1) / of_block;
  if (blocks > 0x7FFFFFFF)
    throw Error(ErrorKind::kUnsupported,
                "spike: the message has more groups than a CUDA grid has warps");
  return static_cast<unsigned>(blocks);
}

void encode(const TensorView& in, const FeedbackArray& feedback, const SpikeOptions& options,
            const SpikeLayout& layout, std::byte* payload, const Context& context) {
  const Groups groups = groups_of(in.shape, options, layout);
  Scratch scratch(context);
  std::uint8_t* codes = groups.are_whole ? nullptr : scratch.take<std::uint8_t>(groups.n).data();
  with_source(in, feedback, [&]<class In>(In, typename Source<In>::Tensor tensor) {
    TERSOR_LAUNCH(encode_groups_kernel<In>, grid_of(layout.groups, kWarps), kThreads, 0,
                  context.stream, tensor, groups, layout.groups, codes, payload);
  });
  if (!groups.are_whole)
    TERSOR_LAUNCH(gather_planes_kernel, grid_of(groups.plane_bytes, kThreads), kThreads, 0,
                  context.stream, codes, groups.n, groups.bits, groups.plane_bytes,
                  payload + groups.planes);
}

void decode(std::span<const std::span<const std::byte>> all, const Shape& shape,
            const SpikeOptions& options, const SpikeLayout& layout, const DecodeTarget& target,
            const Context& context) {
  const Groups groups = groups_of(shape, options, layout);
  for_each_batch(all, target.is_accumulated, [&](const Payloads& batch, bool is_accumulated) {
    with_type(target.dtype, [&]<class Out>(Out) {
      TERSOR_LAUNCH(decode_groups_kernel<Out>, grid_of(layout.groups, kWarps), kThreads, 0,
                    context.stream, batch, groups, layout.groups, is_accumulated,
                    static_cast<typename Out::Storage*>(target.data));
    });
  });
}

constexpr SpikeLaunchers kLaunchers{encode, decode};
const DeviceTable<SpikeLaunchers> kInstalled(kLaunchers);

}  // namespace
}  // namespace tersor::compressors

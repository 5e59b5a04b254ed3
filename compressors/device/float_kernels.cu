// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "compressors/device/device_floats.hpp"
#include "compressors/device/device_table.hpp"
#include "compressors/device/plain.cuh"

// What wrappers do to a message element by element, around the kernels of their inner codec. Error
// feedback and its kin add and subtract nothing of their own: kernels of encode_sources.cuh do it
// in the pass that writes the payload, and around a codec that has none of these the inner codec's
// decode-and-accumulate writes straight into what a pass left:
//
//   x, feedback --split_feedback--> rounded --encode--> payload
//                               base  <--decode_accumulate--+    = new feedback
//
// At the receiver of ef21 there is a g for each rank; the sum of all of them --publish_feedback-->
// out.
//
// -(x+e) + decoded has the bits of -((x+e) - decoded) but for the sign of a zero, and an error that
// starts at +0 is never -0 (only -0 - +0 is, and x + e = -0 needs an e of -0).

namespace tersor::compressors {
namespace {

using namespace device;

/// Calls visit(first, count) for each sub-tile of the warp's tile: `count` elements are left there.
template <class Visit>
__device__ __forceinline__ void for_each_subtile(std::int64_t n, Visit visit) {
  const std::int64_t tile = first_of_tile();
#pragma unroll 1
  for (int j = 0; j < kSubtiles; ++j) {
    const std::int64_t first = tile + j * kSubtile;
    if (first >= n) return;
    visit(first, n - first);
  }
}

template <class In>
__global__ void __launch_bounds__(kThreads, kEncodingBlocks)
    split_feedback_kernel(FeedbackTensor<In> in, std::int64_t n, typename In::Storage* rounded) {
  using From = Source<WithFeedback<In>>;
  for_each_subtile(n, [&](std::int64_t first, std::int64_t count) {
    float x[8];
    typename From::Base base;
    From::load(in + first, count, From::alignment(in), x, base);
    store_thread_tile<In, true>(rounded + first, count, is_aligned_16(rounded), x);
    From::store(in + first, count, From::alignment(in), base);
  });
}

/// Writes the thread tile back with its non-finite elements as 0, where it has any: all lanes call
/// it.
__device__ __forceinline__ void store_finite(float* feedback, std::int64_t count,
                                             float* thread_tile) {
  bool is_all_finite = true;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    is_all_finite = is_all_finite && is_finite(thread_tile[i]);
    thread_tile[i] = finite_or_zero(thread_tile[i]);
  }
  if (__any_sync(kAllLanes, !is_all_finite))
    store_thread_tile<Float32>(feedback, count, is_aligned_16(feedback), thread_tile);
}

template <class Out>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    publish_feedback_kernel(const __grid_constant__ FeedbackArrays feedback, int count_of_arrays,
                            std::int64_t n, bool is_accumulated, typename Out::Storage* out) {
  for_each_subtile(n, [&](std::int64_t first, std::int64_t count) {
    float sum[8];
    if (is_accumulated) load_thread_tile<Out, true>(out + first, count, is_aligned_16(out), sum);
#pragma unroll 1
    for (int a = 0; a < count_of_arrays; ++a) {
      float* const own = feedback.at[a];
      float k[8];
      load_thread_tile<Float32>(own + first, count, is_aligned_16(own), k);
#pragma unroll
      for (int i = 0; i < 8; ++i)
        sum[i] = a == 0 && !is_accumulated ? k[i] : __fadd_rn(sum[i], k[i]);
      store_finite(own + first, count, k);
    }
    store_thread_tile<Out, true>(out + first, count, is_aligned_16(out), sum);
  });
}

template <class In, class Out>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    keep_kernel(const std::byte* in, std::int64_t n, typename Out::Storage* feedback) {
  for_each_subtile(n, [&](std::int64_t first, std::int64_t count) {
    float x[8];
    load_plain<In, true>(in + first * sizeof(typename In::Storage), count, x);
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = finite_or_zero(x[i]);
    store_thread_tile<Out, true>(feedback + first, count, is_aligned_16(feedback), x);
  });
}

/// One element a thread: rows start anywhere, so thread tiles would meet two of them.
template <class Local, class Out>
__global__ void __launch_bounds__(kThreads)
    join_channels_kernel(const float* part, std::int64_t width,
                         const typename Local::Storage* local, std::int64_t n, std::int64_t hidden,
                         bool is_accumulated, typename Out::Storage* out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= n) return;
  const std::int64_t row = i / hidden;
  const std::int64_t column = i - row * hidden;
  float value = 0.0f;
  if (column < width)
    value = part[row * width + column];
  else if (local != nullptr)
    value = Local::widen(local[i]);
  if (is_accumulated) value = __fadd_rn(Out::widen(out[i]), value);
  out[i] = Out::round(value);
}

/// Words of `T` of each row, and the bytes that are left where rows == 1.
template <class T>
__global__ void __launch_bounds__(kThreads)
    copy_rows_kernel(const std::byte* from, std::int64_t from_pitch, std::byte* to,
                     std::int64_t to_pitch, std::int64_t words, std::int64_t rows,
                     std::int64_t rest) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  if (i < words * rows) {
    const std::int64_t row = rows == 1 ? 0 : i / words;
    const std::int64_t at = (i - row * words) * kSize;
    store_vector(reinterpret_cast<T*>(to + row * to_pitch + at),
                 load_vector(reinterpret_cast<const T*>(from + row * from_pitch + at)));
  } else if (i - words * rows < rest) {
    const std::int64_t at = words * kSize + i - words * rows;
    to[at] = from[at];
  }
}

unsigned blocks_of_threads(std::int64_t threads) {
  const std::int64_t blocks = (threads + kThreads - 1) / kThreads;
  if (blocks > 0x7FFFFFFF)
    throw Error(ErrorKind::kUnsupported, "a message of " + std::to_string(threads) +
                                             " elements has more blocks than a CUDA grid");
  return static_cast<unsigned>(blocks);
}

void add(std::span<const std::span<const std::byte>> arrays, DType dtype, std::int64_t n,
         const DecodeTarget& target, void* stream) {
  if (n == 0) return;
  with_type(dtype, [&]<class In>(In) { launch_sum<In>(arrays, n, target, "none", stream); });
}

template <class T>
void launch_copy(const std::byte* from, std::size_t from_pitch, std::byte* to, std::size_t to_pitch,
                 std::size_t width, std::int64_t rows, void* stream) {
  const auto words = static_cast<std::int64_t>(width / sizeof(T));
  const auto rest = static_cast<std::int64_t>(width % sizeof(T));
  TERSOR_LAUNCH(copy_rows_kernel<T>, blocks_of_threads(words * rows + rest), kThreads, 0, stream,
                from, static_cast<std::int64_t>(from_pitch), to,
                static_cast<std::int64_t>(to_pitch), words, rows, rest);
}

void copy_rows(const std::byte* from, std::size_t from_pitch, std::byte* to, std::size_t to_pitch,
               std::size_t width, std::int64_t rows, void* stream) {
  if (width == 0 || rows == 0) return;
  std::size_t shared =
      std::gcd(reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to),
               std::uintptr_t{16});
  if (rows > 1) shared = std::gcd(shared, from_pitch | to_pitch | width);
  if (shared == 16) return launch_copy<uint4>(from, from_pitch, to, to_pitch, width, rows, stream);
  if (shared % 4 == 0)
    return launch_copy<std::uint32_t>(from, from_pitch, to, to_pitch, width, rows, stream);
  if (shared == 2)
    return launch_copy<std::uint16_t>(from, from_pitch, to, to_pitch, width, rows, stream);
  launch_copy<std::uint8_t>(from, from_pitch, to, to_pitch, width, rows, stream);
}

void split_feedback(const TensorView& in, const FeedbackArray& feedback, void* rounded,
                    void* stream) {
  const std::int64_t n = in.shape.elements();
  if (n == 0) return;
  with_source(in, feedback, [&]<class In>(In, typename Source<In>::Tensor tensor) {
    using Element = typename Source<In>::Element;
    if constexpr (Source<In>::kHasFeedback)
      TERSOR_LAUNCH(split_feedback_kernel<Element>, blocks_of_tiles(n, "aqsgd"), kThreads, 0,
                    stream, tensor, n, static_cast<typename Element::Storage*>(rounded));
  });
}

void publish_feedback(std::span<float* const> feedback, std::int64_t n, const DecodeTarget& target,
                      void* stream) {
  if (n == 0) return;
  const FeedbackArrays arrays(feedback);
  with_type(target.dtype, [&]<class Out>(Out) {
    TERSOR_LAUNCH(publish_feedback_kernel<Out>, blocks_of_tiles(n, "ef21"), kThreads, 0, stream,
                  arrays, static_cast<int>(feedback.size()), n, target.is_accumulated,
                  static_cast<typename Out::Storage*>(target.data));
  });
}

template <class Out>
void launch_keep(const std::byte* from, DType dtype, std::int64_t n, void* feedback, void* stream) {
  with_type(dtype, [&]<class In>(In) {
    TERSOR_LAUNCH((keep_kernel<In, Out>), blocks_of_tiles(n, "aqsgd"), kThreads, 0, stream, from, n,
                  static_cast<typename Out::Storage*>(feedback));
  });
}

void keep(const std::byte* from, DType dtype, std::int64_t n, DType to, void* feedback,
          void* stream) {
  if (n == 0) return;
  if (to == DType::kFloat32)
    launch_keep<Float32>(from, dtype, n, feedback, stream);
  else
    launch_keep<Float16>(from, dtype, n, feedback, stream);
}

void join_channels(const float* part, std::int64_t width, const TensorView& local,
                   const Shape& shape, const DecodeTarget& target, void* stream) {
  const std::int64_t n = shape.elements();
  if (n == 0) return;
  with_type(local.dtype, [&]<class Local>(Local) {
    with_type(target.dtype, [&]<class Out>(Out) {
      TERSOR_LAUNCH((join_channels_kernel<Local, Out>), blocks_of_threads(n), kThreads, 0, stream,
                    part, width, static_cast<const typename Local::Storage*>(local.data), n,
                    shape.hidden, target.is_accumulated,
                    static_cast<typename Out::Storage*>(target.data));
    });
  });
}

constexpr FloatLaunchers kLaunchers{add,  copy_rows,    split_feedback, publish_feedback,
                                    keep, join_channels};
const DeviceTable<FloatLaunchers> kInstalled(kLaunchers);

}  // namespace
}  // namespace tersor::compressors

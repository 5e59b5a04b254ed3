// SPDX-License-Identifier: Apache-2.0
#include "compressors/verify/on_device.hpp"

#include <utility>
#include <vector>

#include "common/error.hpp"

namespace tersor::compressors {
namespace {

class Buffer {
 public:
  Buffer(DeviceMemory& memory, std::size_t bytes, std::size_t offset)
      : memory_(memory), base_(memory.allocate(bytes + offset)), offset_(offset), bytes_(bytes) {}
  ~Buffer() { memory_.release(base_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::byte* data() const { return base_ + offset_; }
  std::span<std::byte> bytes() const { return {data(), bytes_}; }
  std::span<float> floats() const {
    return {reinterpret_cast<float*>(data()), bytes_ / sizeof(float)};
  }
  void copy_in(const void* from) const { memory_.copy_in(data(), from, bytes_); }
  void copy_out(void* to, std::size_t bytes) const { memory_.copy_out(to, data(), bytes); }

 private:
  DeviceMemory& memory_;
  std::byte* base_;
  std::size_t offset_;
  std::size_t bytes_;
};

class OnDevice final : public Codec {
 public:
  OnDevice(std::shared_ptr<const Codec> codec, DeviceMemory& memory, const DeviceOffsets& offsets)
      : codec_(std::move(codec)), memory_(memory), offsets_(offsets) {}

  std::string canonical() const override { return codec_->canonical(); }
  Properties properties() const override { return codec_->properties(); }
  int rounds() const override { return codec_->rounds(); }
  Exchange exchange(int round) const override { return codec_->exchange(round); }
  DType reduce_dtype(int round, DType dtype) const override {
    return codec_->reduce_dtype(round, dtype);
  }
  std::size_t payload_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                            const State* state) const override {
    return codec_->payload_bytes(shape, dtype, context, round, state);
  }
  std::size_t metadata_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                             const State* state) const override {
    return codec_->metadata_bytes(shape, dtype, context, round, state);
  }
  std::size_t part_bytes(const Shape& shape, DType dtype, const Context& context, int round,
                         std::uint32_t to, const State* state) const override {
    return codec_->part_bytes(shape, dtype, context, round, to, state);
  }
  std::unique_ptr<State> make_state(const Shape& shape, DType dtype,
                                    std::uint32_t ranks) const override {
    auto state = codec_->make_state(shape, dtype, ranks);
    if (state) state->move_to(memory_);
    return state;
  }

  std::size_t encode(int round, const TensorView& in, std::span<std::byte> out, State* state,
                     const Context& context) const override {
    const Call call(*this, in.shape, in.dtype, context);
    const Buffer d_in(memory_, in.bytes(), offsets_.in_elements * item_bytes(in.dtype));
    const Buffer d_out(memory_, out.size(), offsets_.payload_bytes);
    d_in.copy_in(in.data);
    const std::size_t bytes = codec_->encode(round, {d_in.data(), in.shape, in.dtype},
                                             d_out.bytes(), state, call.context);
    d_out.copy_out(out.data(), bytes);
    return bytes;
  }
  void absorb(int round, std::span<const std::span<const std::byte>> received, const Shape& shape,
              DType dtype, State* state, const Context& context) const override {
    const Call call(*this, shape, dtype, context);
    const Payloads payloads(*this, received);
    codec_->absorb(round, payloads.spans, shape, dtype, state, call.context);
  }
  void decode(std::span<const std::byte> payload, const Shape& shape, DType dtype,
              std::span<float> out, State* state, const Context& context) const override {
    const Call call(*this, shape, dtype, context);
    const Payloads payloads(*this, {&payload, 1});
    const Buffer d_out = output(out.size_bytes(), sizeof(float));
    codec_->decode(payloads.spans[0], shape, dtype, d_out.floats(), state, call.context);
    d_out.copy_out(out.data(), out.size_bytes());
  }
  void decode_bits(std::span<const std::byte> payload, const Shape& shape, DType dtype, void* out,
                   State* state, const Context& context) const override {
    const Call call(*this, shape, dtype, context);
    const Payloads payloads(*this, {&payload, 1});
    const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * item_bytes(dtype);
    const Buffer d_out = output(bytes, item_bytes(dtype));
    codec_->decode_bits(payloads.spans[0], shape, dtype, d_out.data(), state, call.context);
    d_out.copy_out(out, bytes);
  }
  void decode_accumulate(std::span<const std::byte> payload, const Shape& shape, DType dtype,
                         std::span<float> out, State* state,
                         const Context& context) const override {
    const Call call(*this, shape, dtype, context);
    const Payloads payloads(*this, {&payload, 1});
    const Buffer d_out = output(out.size_bytes(), sizeof(float));
    d_out.copy_in(out.data());
    codec_->decode_accumulate(payloads.spans[0], shape, dtype, d_out.floats(), state, call.context);
    d_out.copy_out(out.data(), out.size_bytes());
  }
  void combine(std::span<const std::span<const std::byte>> received, const Shape& shape,
               DType dtype, std::span<float> out, State* state,
               const Context& context) const override {
    const Call call(*this, shape, dtype, context);
    const Payloads payloads(*this, received);
    const Buffer d_out = output(out.size_bytes(), sizeof(float));
    codec_->combine(payloads.spans, shape, dtype, d_out.floats(), state, call.context);
    d_out.copy_out(out.data(), out.size_bytes());
  }

 private:
  /// Context and workspace of one call.
  struct Call {
    Call(const OnDevice& self, const Shape& shape, DType dtype, const Context& given)
        : context(on_cuda(self, given)),
          workspace(self.memory_, self.codec_->workspace_bytes(shape, dtype, context), 0) {
      context.workspace = workspace.bytes();
    }
    static Context on_cuda(const OnDevice& self, Context context) {
      if (!self.codec_->supports(Device::kCuda))
        throw Error(ErrorKind::kUnsupported, self.canonical() + " has no kernels in this build");
      context.device = Device::kCuda;
      return context;
    }
    Context context;
    Buffer workspace;
  };

  struct Payloads {
    Payloads(const OnDevice& self, std::span<const std::span<const std::byte>> received) {
      for (const auto& payload : received) {
        buffers.push_back(
            std::make_unique<Buffer>(self.memory_, payload.size(), self.offsets_.payload_bytes));
        buffers.back()->copy_in(payload.data());
        spans.emplace_back(buffers.back()->bytes());
      }
    }
    std::vector<std::unique_ptr<Buffer>> buffers;
    std::vector<std::span<const std::byte>> spans;
  };

  Buffer output(std::size_t bytes, std::size_t item) const {
    return {memory_, bytes, offsets_.out_elements * item};
  }

  std::shared_ptr<const Codec> codec_;
  DeviceMemory& memory_;
  DeviceOffsets offsets_;
};

}  // namespace

std::shared_ptr<const Codec> on_device(std::shared_ptr<const Codec> codec, DeviceMemory& memory,
                                       const DeviceOffsets& offsets) {
  return std::make_shared<OnDevice>(std::move(codec), memory, offsets);
}

}  // namespace tersor::compressors

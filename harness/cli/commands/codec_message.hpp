// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compressors/api/codec.hpp"

namespace CLI {
class App;
}

namespace tersor::harness {

/// The options that say which message a file stands for: what both ends of a codec know of it.
struct MessageOptions {
  std::string seed = "0";
  std::int64_t step = 0;
  std::int64_t call = 0;
  std::int64_t site = 0;
  std::string direction = "forward";
  std::string phase = "train";
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
  std::vector<std::int64_t> ids;
  std::int64_t tokens = 0;
  std::string dtype;
  int threads = 1;

  void add_to(CLI::App& command);
  /// The ids stay owned by this object. Throws Error(kUsage) on a value out of range.
  compressors::Context context() const;
};

/// A tensor file as a message.
struct MessageFile {
  std::vector<std::int64_t> dims;  ///< as in the file
  Shape shape;
  DType dtype = DType::kFloat32;
  std::vector<std::byte> bits;

  TensorView view() const { return {bits.data(), shape, dtype}; }
};

/// Reads an .npy file, or one tensor of a .safetensors file (`FILE#TENSOR`, or its only one);
/// `--dtype` rounds it first. Throws Error(kMissing, kData, kUsage).
MessageFile read_message(const std::string& path, const MessageOptions& options);

/// A tensor of a file, under the name that tables show.
struct NamedMessage {
  std::string name;
  MessageFile message;
};

/// An .npy file, or of a .safetensors file every float32, float16 and bfloat16 tensor
/// (`FILE#TENSOR`: that one). Throws as read_message.
std::vector<NamedMessage> read_messages(const std::string& path, const MessageOptions& options);

}  // namespace tersor::harness

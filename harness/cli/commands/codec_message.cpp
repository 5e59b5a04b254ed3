// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/commands/codec_message.hpp"

#include <CLI/CLI.hpp>
#include <limits>
#include <optional>

#include "common/error.hpp"
#include "common/npy.hpp"
#include "common/number.hpp"
#include "common/safetensors.hpp"
#include "harness/cli/command.hpp"

namespace tersor::harness {
namespace {

constexpr std::int64_t kMost16 = 0xFFFF;
constexpr std::int64_t kMost32 = 0xFFFFFFFF;

/// A check for options: why `text` is no sample id, or nothing.
std::string refuse_id(const std::string& text) {
  using Limits = std::numeric_limits<std::int64_t>;
  const std::string why = refuse_outside(Limits::min(), Limits::max())(text);
  return why.empty() ? why : why + "; ids have 64 bits, number the samples anew";
}

std::optional<DType> float_dtype(const std::string& name) {
  if (name == "F32") return DType::kFloat32;
  if (name == "F16") return DType::kFloat16;
  if (name == "BF16") return DType::kBFloat16;
  return std::nullopt;
}

NpyArray array_of(const std::string& name, const SafeTensor& tensor) {
  const auto dtype = float_dtype(tensor.dtype);
  if (!dtype)
    throw Error(ErrorKind::kData,
                "tensor '" + name + "' has dtype " + tensor.dtype + ", not F32, F16 or BF16");
  return {tensor.shape, *dtype, {tensor.bytes.begin(), tensor.bytes.end()}};
}

MessageFile as_message(NpyArray array, const MessageOptions& options) {
  MessageFile message{array.dims, message_shape(array.dims, options.tokens), array.dtype, {}};
  if (!options.dtype.empty()) message.dtype = parse_dtype(options.dtype);
  const auto samples = static_cast<std::size_t>(message.shape.samples);
  if (!options.ids.empty() && options.ids.size() != samples)
    throw Error(ErrorKind::kUsage, "--ids gives " + std::to_string(options.ids.size()) +
                                       " ids, the message has " + std::to_string(samples) +
                                       " samples");
  if (message.dtype == array.dtype) {
    message.bits = std::move(array.data);
    return message;
  }
  std::vector<float> values(static_cast<std::size_t>(message.shape.elements()));
  compressors::widen(array.dtype, array.data.data(), values);
  message.bits.resize(values.size() * item_bytes(message.dtype));
  compressors::round_to(message.dtype, values, message.bits.data());
  return message;
}

}  // namespace

void MessageOptions::add_to(CLI::App& command) {
  const std::string group = "Message";
  command.add_option("--tokens", tokens, "2-D files: group N rows to a sample")
      ->check(refuse_outside(1, std::int64_t{1} << 31))
      ->group(group);
  command.add_option("--dtype", dtype, "round the file to this dtype first (bf16, fp16, fp32)")
      ->group(group);
  command.add_option("--seed", seed, "64-bit seed of the run")->group(group);
  command.add_option("--step", step, "training step")
      ->check(refuse_outside(0, kMost32))
      ->group(group);
  command.add_option("--call", call, "micro-batch in the step")
      ->check(refuse_outside(0, kMost16))
      ->group(group);
  command.add_option("--site", site, "site id")->check(refuse_outside(0, kMost16))->group(group);
  command.add_option("--direction", direction, "forward or backward")
      ->check(CLI::IsMember({"forward", "backward"}))
      ->group(group);
  command.add_option("--phase", phase, "train or eval")
      ->check(CLI::IsMember({"train", "eval"}))
      ->group(group);
  command.add_option("--rank", rank, "the sender")->check(refuse_outside(0, kMost16))->group(group);
  command.add_option("--ranks", ranks, "ranks of the group")
      ->check(refuse_outside(1, kMost16 + 1))
      ->group(group);
  command.add_option("--ids", ids, "sample ids, separated by commas (aqsgd)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(refuse_id)
      ->group(group);
  command.add_option("--threads", threads, "threads of the codec")
      ->check(CLI::Range(1, 1024))
      ->group(group);
}

compressors::Context MessageOptions::context() const {
  compressors::Context context;
  const auto number = parse_unsigned(seed);
  if (!number) throw Error(ErrorKind::kUsage, "--seed '" + seed + "' is no unsigned 64-bit number");
  context.seed = *number;
  context.step = static_cast<std::uint32_t>(step);
  context.call = static_cast<std::uint16_t>(call);
  context.site = static_cast<std::uint16_t>(site);
  if (rank >= ranks)
    throw Error(ErrorKind::kUsage, "--rank " + std::to_string(rank) + ": --ranks " +
                                       std::to_string(ranks) + " has ranks 0 to " +
                                       std::to_string(ranks - 1));
  context.ranks = static_cast<std::uint32_t>(ranks);
  context.rank = static_cast<std::uint32_t>(rank);
  context.direction = direction == "backward" ? compressors::Direction::kBackward
                                              : compressors::Direction::kForward;
  context.phase = phase == "eval" ? compressors::Phase::kEval : compressors::Phase::kTrain;
  context.sample_ids = ids;
  context.threads = threads;
  return context;
}

MessageFile read_message(const std::string& path, const MessageOptions& options) {
  std::vector<NamedMessage> messages = read_messages(path, options);
  if (messages.size() == 1) return std::move(messages.front().message);
  throw Error(ErrorKind::kUsage, path + " has " + std::to_string(messages.size()) +
                                     " float tensors: name one as " + path +
                                     (path.ends_with('#') ? "NAME" : "#NAME"));
}

std::vector<NamedMessage> read_messages(const std::string& path, const MessageOptions& options) {
  const std::size_t mark = path.rfind(".safetensors#");
  if (mark == std::string::npos && !path.ends_with(".safetensors")) {
    NpyArray array = read_npy(path);
    return {{path, as_message(std::move(array), options)}};
  }
  const std::string wanted = mark == std::string::npos ? "" : path.substr(mark + 13);
  const SafeTensors file(path.substr(0, mark == std::string::npos ? mark : mark + 12));
  std::vector<NamedMessage> messages;
  if (!wanted.empty()) {
    messages.push_back({path, as_message(array_of(wanted, file.at(wanted)), options)});
    return messages;
  }
  for (const auto& [name, tensor] : file.tensors())
    if (float_dtype(tensor.dtype))
      messages.push_back({path + "#" + name, as_message(array_of(name, tensor), options)});
  if (messages.empty())
    throw Error(ErrorKind::kData, path + " has no tensor of dtype F32, F16 or BF16");
  return messages;
}

}  // namespace tersor::harness

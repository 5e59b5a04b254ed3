// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/commands/codec_message.hpp"

#include <CLI/CLI.hpp>

#include "common/error.hpp"
#include "common/npy.hpp"
#include "common/number.hpp"

namespace tersor::harness {
namespace {

std::int64_t checked(const char* name, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value >= low && value <= high) return value;
  throw Error(ErrorKind::kUsage, std::string(name) + " " + std::to_string(value) + " not in [" +
                                     std::to_string(low) + ", " + std::to_string(high) + "]");
}

}  // namespace

void MessageOptions::add_to(CLI::App& command) {
  const std::string group = "Message";
  command.add_option("--tokens", tokens, "2-D files: group N rows to a sample")->group(group);
  command.add_option("--dtype", dtype, "round the file to this dtype first (bf16, fp16, fp32)")
      ->group(group);
  command.add_option("--seed", seed, "64-bit seed of the run")->group(group);
  command.add_option("--step", step, "training step")->group(group);
  command.add_option("--call", call, "micro-batch in the step")->group(group);
  command.add_option("--site", site, "site id")->group(group);
  command.add_option("--direction", direction, "forward or backward")
      ->check(CLI::IsMember({"forward", "backward"}))
      ->group(group);
  command.add_option("--phase", phase, "train or eval")
      ->check(CLI::IsMember({"train", "eval"}))
      ->group(group);
  command.add_option("--rank", rank, "the sender")->group(group);
  command.add_option("--ranks", ranks, "ranks of the group")->group(group);
  command.add_option("--ids", ids, "sample ids, separated by commas (aqsgd)")
      ->delimiter(',')
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
  context.step = static_cast<std::uint32_t>(checked("--step", step, 0, 0xFFFFFFFF));
  context.call = static_cast<std::uint16_t>(checked("--call", call, 0, 0xFFFF));
  context.site = static_cast<std::uint16_t>(checked("--site", site, 0, 0xFFFF));
  context.ranks = static_cast<std::uint32_t>(checked("--ranks", ranks, 1, 65536));
  context.rank = static_cast<std::uint32_t>(checked("--rank", rank, 0, ranks - 1));
  context.direction = direction == "backward" ? compressors::Direction::kBackward
                                              : compressors::Direction::kForward;
  context.phase = phase == "eval" ? compressors::Phase::kEval : compressors::Phase::kTrain;
  context.sample_ids = ids;
  context.threads = threads;
  return context;
}

MessageFile read_message(const std::string& path, const MessageOptions& options) {
  NpyArray array = read_npy(path);
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

}  // namespace tersor::harness

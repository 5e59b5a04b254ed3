// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "common/files.hpp"
#include "common/npy.hpp"
#include "common/number.hpp"
#include "common/standard_output.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/tools/golden.hpp"
#include "compressors/tools/roundtrip.hpp"
#include "compressors/wire/frame.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/commands/codec_commands.hpp"
#include "harness/cli/commands/codec_message.hpp"
#include "protocol/exit_code.hpp"

namespace tersor::harness {
namespace {

using nlohmann::ordered_json;

ordered_json optional_json(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

struct RoundtripCommand {
  std::string spec;
  std::string input;
  std::string output;
  bool as_json = false;
  MessageOptions message;

  void run() const {
    if (!output.empty()) {
      check_output("--output", output, {".npy"});
      refuse_overwriting("--output", output, input);
    }
    const MessageFile file = read_message(input, message);
    const auto codec =
        compressors::make_codec(compressors::expand_presets(spec, file.shape, file.dtype));
    const auto trip = compressors::round_trip(*codec, file.view(), message.context());
    if (!output.empty()) write_npy(output, file.dims, trip.decoded);
    const ordered_json facts{{"shape", {file.shape.samples, file.shape.tokens, file.shape.hidden}},
                             {"dtype", to_string(file.dtype)},
                             {"payload_bytes", trip.payload.size()},
                             {"metadata_bytes", trip.metadata_bytes},
                             {"ratio", optional_json(trip.ratio)},
                             {"max_abs_error", optional_json(trip.errors.max_abs_error)},
                             {"relative_l2_error", optional_json(trip.errors.relative_l2_error)},
                             {"cosine", optional_json(trip.errors.cosine)},
                             {"encode_ns", trip.encode_ns},
                             {"decode_ns", trip.decode_ns}};
    if (as_json) {
      print_json(facts, -1);
      return;
    }
    for (const auto& [key, value] : facts.items()) {
      std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      if (value.is_null()) text = "undefined";
      print_text("%-18s %s\n", key.c_str(), text.c_str());
    }
  }
};

void setup_roundtrip(CLI::App& codec) {
  auto command = std::make_shared<RoundtripCommand>();
  CLI::App* app = codec.add_subcommand(
      "roundtrip", "Encode and decode one tensor file; print bytes, error and time");
  app->add_option("spec", command->spec, kSpecHelp)->required();
  app->add_option("input", command->input, ".npy (float32, float16) or .safetensors#TENSOR")
      ->required();
  app->add_option("-o,--output", command->output,
                  "write the decoded tensor: .npy, float32, in the input's shape");
  app->add_flag("--json", command->as_json, "one JSON object; null where a value is undefined");
  command->message.add_to(*app);
  app->footer(
      "Examples:\n"
      "  tersor codec roundtrip 'quantize(bits=4,scope=token)' x.npy\n"
      "  tersor codec roundtrip 'topk(ratio=0.01)' x.npy -o y.npy --json\n"
      "  tersor codec roundtrip cast x.npy --dtype bf16 --tokens 128");
  app->callback([command] { command->run(); });
}

struct CheckCommand {
  std::string folder;
  compressors::GoldenOptions options;

  void run() const {
    const auto report = compressors::check_golden(folder, options);
    const auto total = report.total();
    if (total.all() == 0)
      throw Error(ErrorKind::kUsage, "no case matches '" + options.filter + "'");
    print_text("%-12s %8s %8s %10s\n", "group", "equal", "skipped", "different");
    for (const auto& [group, count] : report.groups)
      print_text("%-12s %8d %8d %10d\n", group.c_str(), count.equal, count.skipped,
                 count.different);
    print_text("%-12s %8d %8d %10d\n", "all", total.equal, total.skipped, total.different);
    if (!report.skipped_codecs.empty()) {
      print_text("skipped, the codec is not in this build:");
      for (const auto& [name, count] : report.skipped_codecs)
        print_text(" %s (%d)", name.c_str(), count);
      print_text("\n");
    }
    if (report.differences.empty()) return;
    print_text("first difference: %s\n", report.differences.front().c_str());
    set_exit_status(protocol::ProgramExit::kBadNews);
  }
};

void setup_check(CLI::App& codec) {
  auto command = std::make_shared<CheckCommand>();
  CLI::App* app = codec.add_subcommand(
      "check", "Compare payloads, decoded tensors and sums with a folder of golden cases");
  app->add_option("folder", command->folder, "folder with manifest.json, inputs and payloads")
      ->required();
  app->add_option("--filter", command->options.filter, "only cases whose name contains this");
  app->add_option("--threads", command->options.threads, "threads of the codecs")
      ->check(CLI::Range(1, 1024));
  app->footer(
      "Exit status: 0 all equal or skipped, 1 a difference, 2 no folder of that form.\n"
      "Example:\n"
      "  tersor codec check golden --filter quantize");
  app->callback([command] { command->run(); });
}

void setup_canonical(CLI::App& codec) {
  auto spec = std::make_shared<std::string>();
  CLI::App* app =
      codec.add_subcommand("canonical", "Print a spec's canonical form, or why it is refused");
  app->add_option("spec", *spec, kSpecHelp)->required();
  app->footer(
      "Example:\n"
      "  tersor codec canonical 'topk( index=ef, ratio=0.10 )'    topk(ratio=0.1,index=ef)");
  app->callback([spec] { print_text("%s\n", compressors::canonical_spec(*spec).c_str()); });
}

struct EncodeCommand {
  std::string spec;
  std::string input;
  std::string output;
  MessageOptions message;

  void run() const {
    expect_writable(output);
    const std::filesystem::path path = output;
    if (path.extension() == ".npy" || path.extension() == ".safetensors")
      throw Error(ErrorKind::kUsage,
                  "--output " + output + ": a frame is written, no tensor file; name it " +
                      std::filesystem::path(path).replace_extension(".frame").string());
    refuse_overwriting("--output", output, input);
    const MessageFile file = read_message(input, message);
    const std::string expanded = compressors::expand_presets(spec, file.shape, file.dtype);
    const auto codec = compressors::make_codec(expanded);
    const compressors::Codec& used = codec->effective(file.shape, file.dtype);
    if (used.rounds() > 1 && used.exchange(0) == compressors::Exchange::kAllReduce)
      throw Error(ErrorKind::kUnsupported,
                  used.canonical() + " crosses in " + std::to_string(used.rounds()) +
                      " rounds of all-reduce; a frame holds one message, which nobody could "
                      "decode. `tersor codec roundtrip` measures it, `tersor run` has it at a "
                      "site of a job");
    const auto frame = compressors::encode_frame(expanded, file.view(), message.context());
    write_file(output, frame);
    print_text("%s: %zu bytes, %zu of them payload; the tensor has %zu\n", output.c_str(),
               frame.size(), compressors::read_frame(frame).payload.size(), file.bits.size());
  }
};

void setup_encode(CLI::App& codec) {
  auto command = std::make_shared<EncodeCommand>();
  CLI::App* app = codec.add_subcommand("encode", "Encode a tensor file into a framed message");
  app->add_option("spec", command->spec, kSpecHelp)->required();
  app->add_option("input", command->input, ".npy (float32, float16) or .safetensors#TENSOR")
      ->required();
  app->add_option("-o,--output", command->output, "the frame (docs/wire-format.md)")->required();
  command->message.add_to(*app);
  app->footer(
      "Example:\n"
      "  tersor codec encode 'topk(ratio=0.01)' x.npy -o x.tersor && tersor codec decode x.tersor "
      "-o y.npy");
  app->callback([command] { command->run(); });
}

struct DecodeCommand {
  std::string input;
  std::string output;
  std::int64_t max_elements = std::int64_t{1} << 30;

  void run() const {
    if (!output.empty()) {
      check_output("--output", output, {".npy"});
      refuse_overwriting("--output", output, input);
    }
    const auto decoded = compressors::decode_frame(read_file(input), max_elements);
    const compressors::Frame& frame = decoded.frame;
    std::vector<float> values(static_cast<std::size_t>(frame.shape.elements()));
    compressors::widen(frame.dtype, decoded.bits.data(), values);
    const Shape& shape = frame.shape;
    if (!output.empty()) write_npy(output, {shape.samples, shape.tokens, shape.hidden}, values);
    const ordered_json facts{
        {"spec", frame.spec},
        {"shape", {shape.samples, shape.tokens, shape.hidden}},
        {"dtype", to_string(frame.dtype)},
        {"seed", frame.seed},
        {"phase", frame.phase == compressors::Phase::kEval ? "eval" : "train"},
        {"step", frame.step},
        {"call", frame.call},
        {"site", frame.site},
        {"direction",
         frame.direction == compressors::Direction::kBackward ? "backward" : "forward"},
        {"rank", frame.rank},
        {"ranks", frame.ranks},
        {"ids", frame.ids},
        {"payload_bytes", frame.payload.size()}};
    print_json(facts, -1);
  }
};

void setup_decode(CLI::App& codec) {
  auto command = std::make_shared<DecodeCommand>();
  CLI::App* app = codec.add_subcommand(
      "decode", "Decode a framed message; print its header as JSON, or why it is refused");
  app->add_option("input", command->input, "a frame")->required();
  app->add_option("-o,--output", command->output,
                  "write the tensor: .npy, float32, {samples, tokens, hidden}");
  app->add_option("--max-elements", command->max_elements, "refuse larger tensors")
      ->check(refuse_outside(1, std::int64_t{1} << 56))
      ->capture_default_str();
  app->footer(
      "Example:\n"
      "  tersor codec decode x.frame -o y.npy");
  app->callback([command] { command->run(); });
}

const CommandRegistrar registrar(60, "codec", [](CLI::App& root) {
  CLI::App* codec = root.add_subcommand("codec", "Try, check and describe codecs");
  codec->require_subcommand(1);
  setup_roundtrip(*codec);
  setup_check(*codec);
  setup_canonical(*codec);
  setup_encode(*codec);
  setup_decode(*codec);
  setup_codec_inspect(*codec);
  setup_codec_sweep(*codec);
  codec->footer(
      "Examples:\n"
      "  tersor codec roundtrip 'topk(ratio=0.01)' x.npy\n"
      "  tersor codec sweep 'quantize(bits={2,4,8})' x.npy --figure x.svg\n"
      "  tersor codec canonical 'topk( index=ef, ratio=0.10 )'");
});

}  // namespace
}  // namespace tersor::harness

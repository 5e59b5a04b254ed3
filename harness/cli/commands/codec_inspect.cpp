// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "common/standard_output.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/tools/volume.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/commands/codec_commands.hpp"

namespace tersor::harness {
namespace {

using nlohmann::ordered_json;

ordered_json optional_json(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

/// Bytes that a state keeps after a message; unknown for messages that are too large to try.
ordered_json state_bytes(const compressors::Codec& codec, const Shape& shape, DType dtype,
                         compressors::Context context) {
  if (codec.rounds() > 1) context.ranks = 1;  // its rounds then bring what it sent
  const auto state = codec.make_state(shape, dtype, context.ranks);
  if (!state) return 0;
  constexpr std::int64_t kMostTried = 1 << 24;
  if (shape.elements() > kMostTried) return nullptr;
  const TensorView view{nullptr, shape, dtype};
  const std::vector<std::byte> zeros(view.bytes());
  std::vector<float> sum(codec.rounds() > 1 ? static_cast<std::size_t>(shape.elements()) : 0);
  for (int round = 0; round < codec.rounds(); ++round) {
    std::vector<std::byte> payload(codec.payload_bytes(shape, dtype, context, round, state.get()));
    payload.resize(
        codec.encode(round, {zeros.data(), shape, dtype}, payload, state.get(), context));
    const std::span<const std::byte> received[] = {payload};
    if (round + 1 < codec.rounds())
      codec.absorb(round, received, shape, dtype, state.get(), context);
    else if (round > 0)
      codec.combine(received, shape, dtype, sum, state.get(), context);
  }
  return state->bytes();
}

ordered_json rounds(const compressors::Codec& codec, const Shape& shape, DType dtype,
                    const compressors::Context& context) {
  const auto exchanges = compressors::describe(codec).at("properties").at("exchange");
  const auto state = codec.make_state(shape, dtype, context.ranks);
  const auto raw = static_cast<double>(TensorView{nullptr, shape, dtype}.bytes());
  ordered_json rows = ordered_json::array();
  for (int round = 0; round < codec.rounds(); ++round) {
    const auto bytes = codec.payload_bytes(shape, dtype, context, round, state.get());
    const auto metadata = codec.metadata_bytes(shape, dtype, context, round, state.get());
    rows.push_back({{"crosses_by", exchanges.at(static_cast<std::size_t>(round))},
                    {"payload_bytes", bytes},
                    {"metadata_bytes", metadata},
                    {"code_bytes", bytes - metadata},
                    {"ratio", bytes == 0 ? ordered_json(nullptr)
                                         : ordered_json(raw / static_cast<double>(bytes))}});
  }
  return rows;
}

ordered_json sent_bytes(const compressors::Codec& codec, const Shape& shape, DType dtype,
                        compressors::Phase phase) {
  ordered_json rows = ordered_json::array();
  for (const std::uint32_t ranks : {2u, 4u, 8u}) {
    const auto sent = compressors::sent_bytes(codec, shape, dtype, ranks, phase);
    rows.push_back({{"ranks", ranks},
                    {"reference", compressors::reference_sent_bytes(shape, ranks)},
                    {"all_reduce", optional_json(sent.all_reduce)},
                    {"gather", optional_json(sent.gather)},
                    {"two_step", optional_json(sent.two_step)}});
  }
  return rows;
}

/// In evaluation a codec that keeps state by sample takes each for one that it has met.
constexpr auto kLaterVisits = compressors::Phase::kEval;

constexpr std::int64_t kMostSamples = 1 << 24;  // each has an id

struct InspectCommand {
  std::string spec;
  std::vector<std::int64_t> dims;
  std::string dtype = "float32";
  bool as_json = false;

  Shape shape() const {
    const auto given = [this] {
      return "--shape " + std::to_string(dims[0]) + "," + std::to_string(dims[1]) + "," +
             std::to_string(dims[2]) + ": ";
    };
    if (dims.at(0) > kMostSamples)
      throw Error(ErrorKind::kUsage, given() + "more than " + std::to_string(kMostSamples) +
                                         " samples; put rows into tokens");
    const double elements = static_cast<double>(dims.at(0)) * static_cast<double>(dims.at(1)) *
                            static_cast<double>(dims.at(2));
    if (elements > 0x1p56)
      throw Error(ErrorKind::kUsage, given() + "more than 2^56 elements; give smaller sizes");
    return {dims[0], dims[1], dims[2]};
  }

  ordered_json facts() const {
    const Shape of = shape();
    const DType type = parse_dtype(dtype);
    const auto named = compressors::make_codec(compressors::expand_presets(spec, of, type));
    const compressors::Codec* const codec = &named->effective(of, type);
    std::vector<std::int64_t> ids(static_cast<std::size_t>(of.samples));
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i);
    compressors::Context context;
    context.ranks = 2;
    context.sample_ids = ids;
    const auto described = compressors::describe(*named);
    ordered_json json{{"spec", named->canonical()},
                      {"shape", {of.samples, of.tokens, of.hidden}},
                      {"dtype", to_string(type)},
                      {"raw_bytes", TensorView{nullptr, of, type}.bytes()},
                      {"rounds", rounds(*codec, of, type, context)},
                      {"sent_bytes_per_rank", sent_bytes(*codec, of, type, context.phase)},
                      {"added_parameters", codec->added_parameters(of, 2)},
                      {"added_flops", codec->added_flops(of, 2)},
                      {"parameters", described.at("params")},
                      {"properties", described.at("properties")}};
    json["sent_as"] = codec->canonical();
    json["state_bytes"] = state_bytes(*codec, of, type, context);
    if (codec->properties().state == compressors::StateKind::kSample) {
      context.phase = kLaterVisits;
      json["later_visits"] = {{"rounds", rounds(*codec, of, type, context)},
                              {"sent_bytes_per_rank", sent_bytes(*codec, of, type, context.phase)}};
    }
    return json;
  }

  static void print_cell(const ordered_json& value, double reference) {
    if (value.is_null()) {
      print_text(" %24s", "-");
      return;
    }
    const double bytes = value.get<double>();
    if (reference > 0)
      print_text(" %14.0f (x %5.3f)", bytes, bytes / reference);
    else
      print_text(" %14.0f %9s", bytes, "(x     -)");
  }

  void print(const ordered_json& json) const {
    print_text("%s on %s %s, %zu raw bytes\n\nparameters\n",
               json["spec"].get<std::string>().c_str(), json["dtype"].get<std::string>().c_str(),
               json["shape"].dump().c_str(), json["raw_bytes"].get<std::size_t>());
    for (const auto& [key, value] : json["parameters"].items())
      print_text("  %-24s %s\n", key.c_str(), value.dump().c_str());
    print_text("\nproperties\n");
    for (const auto& [key, value] : json["properties"].items())
      print_text("  %-24s %s\n", key.c_str(), value.dump().c_str());
    print_text("\npayload of one rank");
    if (json["sent_as"] != json["spec"])
      print_text(", at this size of %s", json["sent_as"].get<std::string>().c_str());
    const bool has_visits = json.contains("later_visits");
    print_text("%s\n", has_visits ? ", first visit of each sample" : "");
    print_rounds(json["rounds"]);
    if (has_visits) {
      print_text("payload of one rank, later visits\n");
      print_rounds(json["later_visits"]["rounds"]);
    }
    const bool is_known = !json["state_bytes"].is_null();
    print_text("  state of a site after a message: %s bytes; added parameters %s, FLOPs %s\n",
               is_known ? json["state_bytes"].dump().c_str() : "?",
               json["added_parameters"].dump().c_str(), json["added_flops"].dump().c_str());
    print_sent(json["sent_bytes_per_rank"], has_visits ? ", first visit of each sample" : "");
    if (has_visits) print_sent(json["later_visits"]["sent_bytes_per_rank"], ", later visits");
  }

  static void print_rounds(const ordered_json& rounds) {
    int number = 0;
    for (const auto& round : rounds)
      print_text("  round %d, by %s: bytes [0, %zu) metadata, [%zu, %zu) codes; ratio %s\n",
                 number++, round["crosses_by"].get<std::string>().c_str(),
                 round["metadata_bytes"].get<std::size_t>(),
                 round["metadata_bytes"].get<std::size_t>(),
                 round["payload_bytes"].get<std::size_t>(),
                 round["ratio"].is_null() ? "-" : round["ratio"].dump().c_str());
  }

  static void print_sent(const ordered_json& rows, const char* when) {
    print_text(
        "\nbytes that a rank sends for one sum%s (x: against cast(format=bf16) by ring "
        "all-reduce)\n",
        when);
    print_text("  %5s %14s %24s %24s %24s\n", "ranks", "cast(bf16)", "all-reduce", "gather",
               "two-step");
    for (const auto& row : rows) {
      const double reference = row["reference"].get<double>();
      print_text("  %5d %14.0f", row["ranks"].get<int>(), reference);
      for (const char* by : {"all_reduce", "gather", "two_step"}) print_cell(row[by], reference);
      print_text("\n");
    }
  }
};

}  // namespace

void setup_codec_inspect(CLI::App& codec) {
  auto command = std::make_shared<InspectCommand>();
  CLI::App* app = codec.add_subcommand(
      "inspect", "Properties, payload layout and sent bytes of a codec on a shape");
  app->add_option("spec", command->spec, kSpecHelp)->required();
  app->add_option("--shape", command->dims, "samples,tokens,hidden")
      ->required()
      ->delimiter(',')
      ->expected(3)
      ->check(refuse_outside(0, std::int64_t{1} << 40));
  app->add_option("--dtype", command->dtype, "float32, float16 or bfloat16");
  app->add_flag("--json", command->as_json, "one JSON object");
  app->footer(
      "Example:\n"
      "  tersor codec inspect 'topk(ratio=0.05,index=ef)' --shape 32,128,1024 --dtype bf16");
  app->callback([command] {
    const auto facts = command->facts();
    if (command->as_json)
      print_json(facts);
    else
      command->print(facts);
  });
}

}  // namespace tersor::harness

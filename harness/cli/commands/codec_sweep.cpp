// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "common/files.hpp"
#include "common/printable.hpp"
#include "common/standard_output.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/spec/sweep.hpp"
#include "compressors/tools/roundtrip.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/commands/codec_commands.hpp"
#include "harness/cli/commands/codec_message.hpp"
#include "protocol/exit_code.hpp"
#include "reports/engine/draw.hpp"

namespace tersor::harness {
namespace {

using nlohmann::ordered_json;

ordered_json optional_json(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

std::string cell(const ordered_json& value, int digits) {
  if (value.is_null()) return "-";
  char text[64];
  std::snprintf(text, sizeof text, "%.*g", digits, value.get<double>());
  return text;
}

struct SweepCommand {
  std::string spec;
  std::vector<std::string> files;
  std::vector<std::string> also;
  std::string figure;
  bool as_json = false;
  MessageOptions message;

  std::vector<std::string> specs() const {
    std::vector<std::string> all;
    std::vector<std::string> texts{spec};
    texts.insert(texts.end(), also.begin(), also.end());
    for (const std::string& text : texts)
      for (const std::string& one : compressors::expand_sweep(text, 10'000))
        all.push_back(compressors::depends_on_message(one) ? one
                                                           : compressors::canonical_spec(one));
    return all;
  }

  ordered_json row(const std::string& one, const NamedMessage& tensor) const {
    const MessageFile& file = tensor.message;
    ordered_json json{{"file", tensor.name},
                      {"spec", one},
                      {"shape", {file.shape.samples, file.shape.tokens, file.shape.hidden}},
                      {"dtype", to_string(file.dtype)}};
    try {
      const auto codec =
          compressors::make_codec(compressors::expand_presets(one, file.shape, file.dtype));
      json["spec"] = codec->canonical();
      const auto trip = compressors::round_trip(*codec, file.view(), message.context());
      const auto gigabytes = [&](std::int64_t ns) {
        return ns > 0 && !file.bits.empty()
                   ? ordered_json(static_cast<double>(file.bits.size()) / static_cast<double>(ns))
                   : ordered_json(nullptr);
      };
      const auto elements = static_cast<double>(file.shape.elements());
      json["payload_bytes"] = trip.payload.size();
      json["ratio"] = optional_json(trip.ratio);
      json["bits_per_value"] =
          elements > 0 ? ordered_json(8.0 * static_cast<double>(trip.payload.size()) / elements)
                       : ordered_json(nullptr);
      json["relative_l2_error"] = optional_json(trip.errors.relative_l2_error);
      json["max_abs_error"] = optional_json(trip.errors.max_abs_error);
      json["cosine"] = optional_json(trip.errors.cosine);
      json["encode_gb_per_s"] = gigabytes(trip.encode_ns);
      json["decode_gb_per_s"] = gigabytes(trip.decode_ns);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kInternal) throw;
      json["reason"] = error.what();
    }
    return json;
  }

  static void print(const ordered_json& rows) {
    std::size_t widest = 4;
    for (const auto& row : rows)
      widest = std::max(widest, row["spec"].get_ref<const std::string&>().size());
    std::string file;
    for (const auto& row : rows) {
      if (row["file"] != file) {
        file = row["file"].get<std::string>();
        print_text("%s  %s %s\n", printable(file).c_str(), row["dtype"].get<std::string>().c_str(),
                   row["shape"].dump().c_str());
        print_text("  %-*s %12s %8s %10s %10s %10s %9s %9s\n", static_cast<int>(widest), "spec",
                   "bytes", "ratio", "rel. L2", "max error", "cosine", "enc GB/s", "dec GB/s");
      }
      print_text("  %-*s", static_cast<int>(widest), row["spec"].get<std::string>().c_str());
      if (row.contains("reason")) {
        print_text(" %s\n", printable(row["reason"].get<std::string>()).c_str());
        continue;
      }
      print_text(" %12zu %8s %10s %10s %10s %9s %9s\n", row["payload_bytes"].get<std::size_t>(),
                 cell(row["ratio"], 4).c_str(), cell(row["relative_l2_error"], 4).c_str(),
                 cell(row["max_abs_error"], 4).c_str(), cell(row["cosine"], 6).c_str(),
                 cell(row["encode_gb_per_s"], 3).c_str(), cell(row["decode_gb_per_s"], 3).c_str());
    }
  }

  /// Rate (bits a value, logarithmic) against distortion; one line per codec name and file.
  void draw_figure(const ordered_json& rows) const {
    ordered_json values = ordered_json::array();
    for (const auto& row : rows) {
      if (row.contains("reason") || row["relative_l2_error"].is_null() ||
          row["relative_l2_error"] == 0.0 || !std::isfinite(row["relative_l2_error"].get<double>()))
        continue;
      const std::string& full = row["spec"].get_ref<const std::string&>();
      values.push_back({{"file", row["file"]},
                        {"spec", full},
                        {"codec", full.substr(0, full.find('('))},
                        {"bits", row["bits_per_value"]},
                        {"error", row["relative_l2_error"]}});
    }
    if (values.empty())
      throw Error(ErrorKind::kUsage,
                  "--figure " + figure +
                      ": not written, since no row has a finite error above 0, which the "
                      "logarithmic axis needs; add a codec that loses something");
    reports::Figure drawn;
    drawn.id = "rate-distortion";
    drawn.title = "Rate and distortion";
    drawn.specification = {
        {"$schema", "https://vega.github.io/schema/vega-lite/v5.json"},
        {"width", 560},
        {"height", 360},
        {"data", {{"values", values}}},
        {"mark", {{"type", "line"}, {"point", true}}},
        {"encoding",
         {{"x",
           {{"field", "bits"},
            {"type", "quantitative"},
            {"scale", {{"type", "log"}}},
            {"title", "payload bits per value"}}},
          {"y",
           {{"field", "error"},
            {"type", "quantitative"},
            {"scale", {{"type", "log"}}},
            {"title", "relative L2 error"}}},
          {"color", {{"field", "codec"}, {"type", "nominal"}}},
          {"strokeDash", {{"field", "file"}, {"type", "nominal"}}},
          {"tooltip", ordered_json::array({{{"field", "spec"}}, {{"field", "file"}}})}}}};
    std::string text =
        drawn.specification.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
    if (!figure.ends_with(".json")) {
      const std::string reason = reports::draw({&drawn});
      if (!drawn.svg) throw Error(ErrorKind::kMissing, "--figure: " + reason);
      text = *drawn.svg;
    }
    write_file(figure, std::as_bytes(std::span(text)));
  }

  void run() const {
    const auto all = specs();
    if (!figure.empty()) check_output("--figure", figure, {".svg", ".json"});
    ordered_json rows = ordered_json::array();
    for (const std::string& path : files)
      for (const NamedMessage& tensor : read_messages(path, message))
        for (const std::string& one : all) rows.push_back(row(one, tensor));
    if (as_json)
      print_json(rows);
    else
      print(rows);
    const bool is_measured = std::any_of(
        rows.begin(), rows.end(), [](const ordered_json& row) { return !row.contains("reason"); });
    if (!is_measured) return set_exit_status(protocol::ProgramExit::kBadNews);
    if (!figure.empty()) draw_figure(rows);
  }
};

}  // namespace

void setup_codec_sweep(CLI::App& codec) {
  auto command = std::make_shared<SweepCommand>();
  CLI::App* app = codec.add_subcommand(
      "sweep", "Error, ratio and speed of many specs on tensor files of your own");
  app->add_option("spec", command->spec, "codec spec; {a,b} expands to one spec each")->required();
  app->add_option("files", command->files,
                  ".npy, or .safetensors (every float tensor in it, or FILE#TENSOR)")
      ->required();
  app->add_option("--also", command->also, "a further spec (repeat for more)")
      ->allow_extra_args(false);
  app->add_option("--figure", command->figure,
                  "write the rate-distortion figure: .svg, or .json for Vega-Lite");
  app->add_flag("--json", command->as_json, "rows as JSON");
  command->message.add_to(*app);
  app->footer(
      "One message a row, state starting from zero; powersgd's rounds among one rank.\n"
      "Exit status: 0 ok, 1 no row could be measured, 2 bad input.\n"
      "Examples:\n"
      "  tersor codec sweep 'topk(ratio={0.01,0.05,0.1})' layer3.npy --figure topk.svg\n"
      "  tersor codec sweep 'quantize(bits={2,4,8})' --also 'minmax(bits={2,4,8})' "
      "act.safetensors");
  app->callback([command] { command->run(); });
}

}  // namespace tersor::harness

// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {
class App;
}

namespace tersor::harness {

constexpr const char* kSpecHelp =
    "codec spec: NAME or NAME(key=value,...), e.g. 'topk(ratio=0.01,index=ef)'; quote it for the "
    "shell; see tersor list codecs";

/// Each adds one subcommand to `tersor codec`.
void setup_codec_inspect(CLI::App& codec);
void setup_codec_sweep(CLI::App& codec);

}  // namespace tersor::harness

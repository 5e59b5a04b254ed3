// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tersor::protocol {

/// Where a cell runs: one row of a hardware profile (harness/hardware/profiles/NAME.json).
struct Hardware {
  std::string name = "cpu-tp1";
  std::string kind =
      "measured";              ///< measured | shaped | emulated | modelled; never mixed in a table
  std::string device = "cpu";  ///< cpu | cuda
  int tp = 1;                  ///< tensor-parallel degree: shards, as processes or emulated in one
  int pp = 1;                  ///< pipeline stages
  int threads = 1;             ///< compute threads of one rank
  std::string link;            ///< empty: the machine's own
  int nodes = 1;  ///< equal groups of neighbouring ranks, which `hierarchical` tells apart

  bool emulated() const { return kind == "emulated"; }
  /// Processes that the launcher starts: 1 when emulated, else tp * pp.
  int processes() const { return emulated() ? 1 : tp * pp; }
};

/// Everything that decides a run but the seed: the axes of a matrix file after defaults, presets
/// and canonical specs. Its JSON is flat (docs/spool.md); the worker gets the same JSON with "seed"
/// and paths beside it.
struct Cell {
  struct Compression {
    std::map<std::string, std::string> codecs{{"tp", "none"},
                                              {"tp.backward", "none"}};  ///< site -> canonical spec
    std::string layers = "all";      ///< all | none | last:N | first:N | A-B
    std::string warmup = "0";        ///< compression off before this: "N" steps or "N epochs"
    std::string inference = "both";  ///< on | off | both: evaluations with compression on and off
    bool loopback = false;           ///< runs codecs where there is one rank
  };
  struct Parallelism {
    std::string sum_order = "library";  ///< library | ranks
    std::string overlap = "off";        ///< on | off
  };
  struct Data {
    std::string name = "synthetic";
    std::int64_t train_rows = 0;  ///< the first N rows of train; 0: all
    std::int64_t eval_rows = 0;   ///< the first N rows of dev; 0: all
    std::int64_t sequence = 32;   ///< tokens
  };
  struct Model {
    std::string name = "bert-tiny";
    std::string pooling = "mean";       ///< mean (over real tokens) | cls
    std::string freeze = "embeddings";  ///< none | embeddings (word, position and type tables;
                                        ///< their LayerNorm trains)
    double dropout = 0.0;
  };
  struct Training {
    std::string stage = "finetune";  ///< finetune | pretrain | pretrain+finetune
    std::int64_t epochs = 1;
    std::int64_t max_steps = 0;  ///< 0: all steps of the epochs
    std::int64_t micro_batch = 32;
    double learning_rate = 1e-4;
    double learning_rate_warmup = 0.065;  ///< fraction of all steps, then linear decay to 0
    double weight_decay = 0.01;           ///< on matrices only
    double clip = 1.0;                    ///< global norm; 0: off
  };

  Compression compression;
  Hardware hardware;
  Parallelism parallelism;
  Data data;
  Model model;
  Training training;
};

/// All keys, in declared order, defaults included.
nlohmann::ordered_json to_json(const Cell& cell);
/// Throws Error(kUsage) on an unknown key (with the nearest known one), a wrong type or a value out
/// of range.
Cell cell_from_json(const nlohmann::json& json);
/// 16 hex digits: XXH64 of the compact JSON of to_json() plus codec versions and the wire version
/// (given as text).
std::string cell_key(const Cell& cell, const std::string& versions);

}  // namespace tersor::protocol

// SPDX-License-Identifier: Apache-2.0
#include "workloads/models/bert.hpp"

namespace tersor::workloads {
namespace {

/// Sizes: config.json of nreimers/MiniLM-L6-H384-uncased.
const ModelRegistrar kRegistrar(
    {"minilm-l6", "MiniLM-L6-H384: BERT of 6 layers, hidden 384", [](const ModelContext& context) {
       return make_bert({.layers = 6, .hidden = 384, .heads = 12, .intermediate = 1536}, context);
     }});

}  // namespace
}  // namespace tersor::workloads

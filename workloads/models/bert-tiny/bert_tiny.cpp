// SPDX-License-Identifier: Apache-2.0
#include "workloads/models/bert.hpp"

namespace tersor::workloads {
namespace {

const ModelRegistrar kRegistrar(
    {"bert-tiny", "BERT of 2 layers, hidden 64, 4 heads; random weights",
     [](const ModelContext& context) {
       return make_bert({.layers = 2, .hidden = 64, .heads = 4, .intermediate = 256}, context);
     }});

}  // namespace
}  // namespace tersor::workloads

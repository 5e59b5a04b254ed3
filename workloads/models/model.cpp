// SPDX-License-Identifier: Apache-2.0
#include "workloads/models/model.hpp"

namespace tersor::workloads {

const Registry<ModelInfo>::Entries& all_models() {
  return Registry<ModelInfo>::instance().entries();
}

const ModelInfo& find_model(std::string_view name) {
  return Registry<ModelInfo>::instance().find(name);
}

}  // namespace tersor::workloads

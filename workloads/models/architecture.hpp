// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a model file includes besides its layers (docs/adding-a-model.md).
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/registry.hpp"
#include "workloads/layers/builder.hpp"
#include "workloads/models/model.hpp"

namespace tersor::workloads {

/// A size of a model: models/FOLDER/NAME.json, carried by the program.
struct ModelManifest {
  std::string name;
  std::string architecture;  ///< of the ModelRegistrar that makes it
  nlohmann::json values;     ///< the whole file

  /// A whole number of the manifest. Throws Error(kData) where there is none.
  std::int64_t number(const std::string& key) const;
};

/// A model that is put together from layers/.
class LayerModel : public Model {
 public:
  /// `layers` blocks whose activations have `hidden` channels.
  LayerModel(const ModelContext& context, std::int64_t layers, std::int64_t hidden)
      : builder_(context, layers, hidden), hidden_(hidden) {}
  Parameters& parameters() override { return builder_.parameters(); }
  std::int64_t hidden() const override { return hidden_; }

 protected:
  Builder& builder() { return builder_; }
  bool has_weights() const { return builder_.has_weights(); }

 private:
  Builder builder_;
  std::int64_t hidden_;
};

/// Makes the models of one architecture. Put one ModelRegistrar at the end of
/// models/FOLDER/FOLDER.cpp.
struct ModelArchitecture {
  static constexpr std::string_view kKind = "model architecture";
  std::string name;
  std::function<std::unique_ptr<Model>(const ModelManifest&, const ModelContext&)> make;
};
using ModelRegistrar = Registrar<ModelArchitecture>;

}  // namespace tersor::workloads

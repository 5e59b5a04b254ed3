// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a model file includes besides its layers (docs/adding-a-model.md).
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

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
  /// The manifest has `layers` blocks, whose activations have `hidden` channels, and `positions`, 0
  /// where a sequence may have any length. Throws Error(kUsage) where a cell's sequence is longer.
  LayerModel(const ModelManifest& sizes, const ModelContext& context);
  Parameters& parameters() override { return builder_.parameters(); }
  std::int64_t hidden() const override { return sizes_.number("hidden"); }
  const BlockRange& part() const override { return builder_.part(); }
  std::size_t parts(const PassContext& pass) const override;

 protected:
  Builder& builder() { return builder_; }
  /// What architecture() gives: `kind`, these numbers of the manifest, `more`, and where weights
  /// are from.
  nlohmann::ordered_json facts(const std::string& kind, std::initializer_list<const char*> numbers,
                               const nlohmann::ordered_json& more) const;

 private:
  ModelManifest sizes_;
  Builder builder_;
};

/// Makes the models of one architecture. Put one ModelRegistrar at the end of
/// models/FOLDER/FOLDER.cpp.
struct ModelArchitecture {
  static constexpr std::string_view kKind = "model architecture";
  std::string name;
  std::function<std::unique_ptr<Model>(const ModelManifest&, const ModelContext&)> make;
};
using ModelRegistrar = Registrar<ModelArchitecture>;

template <typename Made>
ModelArchitecture architecture_of(std::string name) {
  return {std::move(name), [](const ModelManifest& sizes, const ModelContext& context) {
            return std::make_unique<Made>(sizes, context);
          }};
}

}  // namespace tersor::workloads

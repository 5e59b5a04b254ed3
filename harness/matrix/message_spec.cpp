// SPDX-License-Identifier: Apache-2.0
#include "harness/matrix/message_spec.hpp"

#include "compressors/spec/grammar.hpp"
#include "compressors/spec/registry.hpp"
#include "harness/matrix/model_facts.hpp"

namespace tersor::harness {

std::shared_ptr<const compressors::Codec> codec_of(const std::string& spec) {
  return compressors::make_codec(
      compressors::expand_presets(spec, {32, 32, 1024}, DType::kFloat32));
}

std::string axis_spec(const std::string& spec) {
  const std::string canonical = codec_of(spec)->canonical();
  return compressors::depends_on_message(spec) ? compressors::parse_spec(spec).text() : canonical;
}

std::string spec_in(const protocol::Cell& cell, const std::string& spec) {
  if (!compressors::depends_on_message(spec)) return spec;
  const Shape message{cell.training.micro_batch, cell.data.sequence,
                      find_model(cell.model.name).hidden};
  return compressors::canonical_spec(compressors::expand_presets(spec, message, DType::kFloat32));
}

}  // namespace tersor::harness

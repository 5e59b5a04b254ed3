// SPDX-License-Identifier: Apache-2.0
#include "common/error.hpp"
#include "compressors/spec/registry.hpp"

namespace tersor::compressors {
namespace {

template <class Map>
const auto& present(const Map& values, std::string_view name) {
  const auto found = values.find(name);
  TERSOR_CHECK(found != values.end() && found->second.is_present,
               "no parameter '" + std::string(name) + "'");
  return found->second;
}

}  // namespace

std::int64_t Arguments::integer(std::string_view name) const {
  return present(values_, name).integer;
}

std::optional<std::int64_t> Arguments::optional_integer(std::string_view name) const {
  const auto found = values_.find(name);
  TERSOR_CHECK(found != values_.end(), "no parameter '" + std::string(name) + "'");
  if (!found->second.is_present) return std::nullopt;
  return found->second.integer;
}

double Arguments::real(std::string_view name) const { return present(values_, name).real; }

const std::string& Arguments::choice(std::string_view name) const {
  return present(values_, name).text;
}

bool Arguments::boolean(std::string_view name) const {
  return present(values_, name).text == "true";
}

std::shared_ptr<const Codec> Arguments::codec(std::string_view name) const {
  return present(values_, name).codec;
}

bool Arguments::is_given(std::string_view name) const {
  const auto found = values_.find(name);
  return found != values_.end() && found->second.is_given;
}

}  // namespace tersor::compressors

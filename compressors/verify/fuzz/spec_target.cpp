// SPDX-License-Identifier: Apache-2.0
// Any text is a spec, or is refused with a column inside it; the canonical form is a fixed point.
#include "common/error.hpp"
#include "compressors/api/codec.hpp"
#include "compressors/spec/sweep.hpp"
#include "compressors/verify/fuzz/target.hpp"

namespace tersor::fuzz {
namespace {

void require_spec_error(const Error& error, std::string_view text) {
  require(error.kind() == ErrorKind::kSpec, std::string("another kind of error: ") + error.what());
  require(error.column() >= 0 && static_cast<std::size_t>(error.column()) <= text.size() + 1,
          "column " + std::to_string(error.column()) + " is outside the text");
}

}  // namespace

void run_target(std::span<const std::byte> input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  const AllocationMeter meter;
  try {
    const std::string form = compressors::canonical_spec(text);
    require(compressors::canonical_spec(form) == form, "'" + form + "' is no fixed point");
  } catch (const Error& error) {
    require_spec_error(error, text);
  }
  require(
      meter.peak_bytes() <= (std::size_t{1} << 20) + 2048 * input.size(),
      std::to_string(meter.peak_bytes()) + " bytes for a spec of " + std::to_string(input.size()));
  try {
    compressors::expand_sweep(text, 100);
  } catch (const Error& error) {
    require_spec_error(error, text);
  }
}

}  // namespace tersor::fuzz

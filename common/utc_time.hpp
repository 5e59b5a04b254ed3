// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace tersor {

/// Now, ISO 8601 in UTC, with three digits of a second or without: "2026-01-31T12:00:00.000Z".
std::string utc_now(bool has_milliseconds);

}  // namespace tersor

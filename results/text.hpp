// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace tersor::results {

/// XXH64 as 16 hex digits: the identity of facts, blobs and texts in the database.
std::string hash_of(std::string_view bytes);

/// Now, ISO 8601 in UTC with milliseconds: "2026-01-31T12:00:00.000Z".
std::string utc_now();

/// The text as valid UTF-8 without NUL: other bytes become U+FFFD. Logs and reasons come from
/// outside, and a TEXT column holds nothing else.
std::string clean_text(std::string_view text);

}  // namespace tersor::results

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace tersor {

/// Text that may hold bytes of a file or of a command line, for a terminal: control characters but
/// newline and tab, those that turn the direction of writing, and bytes that are no UTF-8 stand as
/// \x1b. Programs pass every message of an error through it.
std::string printable(std::string_view text);

}  // namespace tersor

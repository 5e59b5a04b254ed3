// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace tersor {

/// The text as one word for a POSIX shell: as it is where that is one, else in single quotes. For
/// commands that a message tells the user to run.
std::string shell_word(std::string_view text);

}  // namespace tersor

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

namespace tersor {

/// Where downloads and the Python environment are: ${XDG_CACHE_HOME:-~/.cache}/tersor. Need not
/// exist. scripts/ fills it by the same rule.
std::filesystem::path cache_folder();

}  // namespace tersor

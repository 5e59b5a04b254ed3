// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace tersor {

/// What errno `error` means and, where a limit was met, how to raise it:
/// "Too many open files; this process has no descriptor left: raise `ulimit -n`".
std::string system_reason(int error);

}  // namespace tersor

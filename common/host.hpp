// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace tersor {

/// What this process runs on, as the kernel tells it.

std::string host_name();
/// "model name" of /proc/cpuinfo; empty where there is none.
std::string cpu_name();
/// All of the machine, whatever this process may use of it.
std::int64_t physical_memory_bytes();

}  // namespace tersor

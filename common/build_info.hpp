// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace tersor {

/// What this program was built from; refreshed at every build. Text that is not known (a tree
/// without git) is empty.
struct BuildInfo {
  std::string version;       ///< of the project, e.g. "0.1.0"
  std::string git_sha;       ///< 40 hex digits of HEAD
  std::string parent_sha;    ///< first parent of HEAD
  std::string branch;        ///< empty where HEAD is detached
  std::string fork_point;    ///< newest commit shared with the main branch
  std::string diff_hash;     ///< SHA-256 over what differs from HEAD; empty: nothing
  std::string committed_at;  ///< of HEAD, ISO 8601 in UTC
  std::string compiler;      ///< e.g. "GNU 12.2.0"
  std::string flags;
  std::string build_type;  ///< e.g. "Release"
};

const BuildInfo& build_info();

/// "0.1.0 (1a2b3c4d5e6f, changed)" for --version and logs.
std::string build_version();

}  // namespace tersor

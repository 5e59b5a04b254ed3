// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace tersor::harness {

/// The limits of this process's control groups, of version 2 or 1, whichever holds a controller.
class ControlGroups {
 public:
  /// `root` holds proc/ and sys/; a test gives its own.
  explicit ControlGroups(std::filesystem::path root = "/") : root_(std::move(root)) {}

  /// In cores; 0: none.
  double core_quota() const;
  std::optional<std::int64_t> memory_bytes() const;
  /// How often the kernel killed a process for want of memory so far: of the group, else of the
  /// machine. -1 where neither can be read.
  std::int64_t oom_kills() const;

 private:
  /// The file of a controller: `v2` in the unified tree, `v1` in the controller's own. Empty where
  /// there is neither.
  std::filesystem::path find(std::string_view controller, std::string_view v2,
                             std::string_view v1) const;

  std::filesystem::path root_;
};

}  // namespace tersor::harness

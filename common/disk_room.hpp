// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

namespace tersor {

/// Why no more can be written into a folder ("FOLDER: No space left on device"): a full disk, a
/// quota, a file system that became read-only. Found by writing 64 KiB to a file without a name,
/// which leaves nothing; where the file system has no such files, by the room that it reports.
/// Empty: there is room, or no way to tell. Never throws.
std::string why_no_room(const std::filesystem::path& folder);

}  // namespace tersor

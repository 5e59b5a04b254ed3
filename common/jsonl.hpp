// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace tersor {

/// Appends JSON lines to a file: one write(2) a record, so that a killed process leaves at most one
/// torn line, the last.
class JsonLinesWriter {
 public:
  /// Throws Error(kIo) where the file cannot be opened.
  explicit JsonLinesWriter(const std::filesystem::path& path);
  ~JsonLinesWriter();
  JsonLinesWriter(const JsonLinesWriter&) = delete;
  JsonLinesWriter& operator=(const JsonLinesWriter&) = delete;

  /// Throws Error(kIo) where not all of the line could be written, with the remedy where the disk
  /// or a limit is full; what was written of it is dropped again, so that a shorter line may fit.
  void write(const nlohmann::ordered_json& record);

 private:
  void drop_torn(std::size_t bytes) const;

  std::filesystem::path path_;
  int file_ = -1;
};

}  // namespace tersor

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

#include "common/descriptor.hpp"

namespace tersor::harness {

/// `FILE.runs` beside a database: spools, logs and what its one harness says of itself.
std::filesystem::path runs_folder(const std::filesystem::path& database);

/// Holds a database and its runs folder for one harness; the kernel lets go of both however this
/// process ends. The lock is on the database itself, so that it holds under every name of the file
/// (paths, links, hard links) and whatever happens to the files beside it; a second one, on
/// `FILE.runs/lock`, holds the name, since SQLite's log belongs to a name and not to a file.
///
/// No link is followed: the folder and the lock belong to this user, or are refused.
class RunLock {
 public:
  /// Makes the database (empty) and the folder where they are missing; the destructor removes again
  /// what stayed empty. Throws Error(kUsage) with the holder's process id where another harness has
  /// the database, Error(kMissing) where there is no folder for it, Error(kIo) with the object and
  /// the remedy on everything else.
  explicit RunLock(const std::filesystem::path& database);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// Absolute, links resolved.
  const std::filesystem::path& database() const { return database_; }
  const std::filesystem::path& folder() const { return folder_; }
  /// Of the folder, for the *at calls.
  int folder_descriptor() const { return folder_file_.get(); }

  /// What happened to the name of the database ("was moved to /b.db", "was deleted; a folder stands
  /// there now"), or empty as long as it names the file that is locked.
  std::string database_trouble() const;
  /// Likewise of the folder.
  std::string folder_trouble() const;
  /// Where the locked database, and the folder, are now; empty where they have no name any more.
  std::filesystem::path current_database() const;
  std::filesystem::path current_folder() const;

  /// Why the harness before this one stopped (`note_stop`); empty where it left no word: it died.
  const std::string& former_stop() const { return former_stop_; }
  /// For the harness after this one. Overwrites bytes that are there, so that it works on a full
  /// disk; what cannot be written is lost.
  void note_stop(const std::string& why) noexcept;

 private:
  void lock_database();
  void open_folder();
  void lock_name();
  [[noreturn]] void refuse_second() const;
  void remove_traces() noexcept;

  std::filesystem::path database_, folder_;
  Descriptor database_file_, folder_file_, lock_file_;
  bool made_database_ = false, made_folder_ = false;
  std::string former_stop_;
};

}  // namespace tersor::harness

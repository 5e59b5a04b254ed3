// SPDX-License-Identifier: Apache-2.0
#include "harness/run/run_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "common/error.hpp"

namespace tersor::harness {
namespace {

namespace fs = std::filesystem;

constexpr int kWritableByOwner = 0644;
constexpr int kFolderOfOwner = 0755;
/// All bytes of the lock file exist from the start, so that a note needs no room on the disk.
constexpr std::size_t kNoteBytes = 1024;
constexpr const char* kLockName = "lock";

/// The database's path with no link left, so that one file has one folder, whatever the spelling.
fs::path real_path(const fs::path& path) {
  if (path.empty()) throw Error(ErrorKind::kUsage, "--db is empty; name a database file");
  std::error_code error;
  fs::path real = fs::absolute(path, error);
  if (error)
    throw Error(ErrorKind::kIo, path.string() + ": the working directory cannot be told: " +
                                    error.message() + "; give an absolute path");
  constexpr int kMostLinks = 40;
  for (int link = 0; link < kMostLinks; ++link) {
    if (fs::path whole = fs::weakly_canonical(real, error); !error) real = std::move(whole);
    if (fs::symlink_status(real, error).type() != fs::file_type::symlink) return real;
    // Only a link to nothing is left as it is.
    real = real.parent_path() / fs::read_symlink(real, error);
  }
  throw Error(ErrorKind::kIo, path.string() + ": its links lead nowhere; name the file itself");
}

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Whether `path`, links not followed, is what `file` has open. `error`: why nobody can tell.
bool names(const fs::path& path, int file, std::error_code& error) {
  struct stat named {};
  struct stat opened {};
  error.clear();
  if (::fstat(file, &opened) == 0 && ::lstat(path.c_str(), &named) == 0)
    return is_same(named, opened);
  if (errno != ENOENT && errno != ENOTDIR) error = {errno, std::generic_category()};
  return false;
}

/// The path that `file` has now; empty where it has none.
fs::path path_of(int file) {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/fd/" + std::to_string(file), error);
  if (error || !names(path, file, error)) return {};
  return path;
}

/// "was moved to X" and what stands at the path instead.
std::string trouble_of(const fs::path& path, int file) {
  std::error_code error;
  if (names(path, file, error)) return {};
  if (error) return "cannot be looked at: " + error.message();
  const fs::path now = path_of(file);
  std::string text = now.empty() ? "was deleted" : "was moved to " + now.string();
  struct stat other {};
  if (::lstat(path.c_str(), &other) == 0)
    text += std::string("; ") + (S_ISDIR(other.st_mode) ? "a folder" : "another file") +
            " stands there now";
  return text;
}

[[noreturn]] void fail(const fs::path& path, const std::string& what, int error,
                       const std::string& remedy) {
  throw Error(ErrorKind::kIo,
              path.string() + ": " + what + ": " + std::strerror(error) + "; " + remedy);
}

/// Refuses what another user could have put there, or could change.
void expect_own(const fs::path& path, const struct stat& status) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::kIo, path.string() + ": " + why);
  };
  if (status.st_uid != ::geteuid())
    refuse("belongs to user " + std::to_string(status.st_uid) + ", not to " +
           std::to_string(::geteuid()) + "; run as that user, or give another --db");
  if ((status.st_mode & S_IWOTH) != 0)
    refuse("may be written by everybody; take that away with chmod o-w, or give another --db");
}

/// An open-file-description lock on one byte beside those that SQLite uses (from 2^30 on, 512
/// bytes). Not flock(2): a network file system makes that a lock of all bytes, SQLite's among them.
/// Not a POSIX lock, which ends as soon as this process closes any descriptor of the file.
bool lock_byte(int file) {
  constexpr off_t kByte = (off_t{1} << 30) + (off_t{1} << 20);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kByte;
  lock.l_len = 1;
  return ::fcntl(file, F_OFD_SETLK, &lock) == 0;
}

std::string read_note(int file) {
  std::string text(kNoteBytes, '\0');
  const ssize_t got = ::pread(file, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

void write_note(int file, const std::string& why) noexcept {
  std::array<char, kNoteBytes> bytes{};
  bytes.fill('\n');
  std::array<char, 24> pid{};
  const auto digits = static_cast<std::size_t>(
      std::snprintf(pid.data(), pid.size(), "%ld\n", static_cast<long>(::getpid())));
  std::memcpy(bytes.data(), pid.data(), digits);
  const std::size_t length = std::min(why.size(), kNoteBytes - digits - 1);
  if (length > 0) std::memcpy(bytes.data() + digits, why.data(), length);
  // Where it fails, the next harness lacks a process id or a reason, nothing else.
  (void)!::pwrite(file, bytes.data(), bytes.size(), 0);
}

}  // namespace

fs::path runs_folder(const fs::path& database) {
  fs::path folder = real_path(database);
  folder += ".runs";
  return folder;
}

RunLock::RunLock(const fs::path& database)
    : database_(real_path(database)), folder_(runs_folder(database)) {
  try {
    lock_database();
    open_folder();
    lock_name();
  } catch (...) {
    remove_traces();
    throw;
  }
}

RunLock::~RunLock() { remove_traces(); }

void RunLock::lock_database() {
  std::error_code error;
  const bool has_folder = fs::is_directory(database_.parent_path(), error);
  if (!has_folder && error && error != std::errc::no_such_file_or_directory)
    fail(database_.parent_path(), "cannot be looked at", error.value(), "give another --db");
  if (!has_folder)
    throw Error(ErrorKind::kMissing,
                database_.parent_path().string() +
                    ": there is no such folder for the database; make it first");
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  database_file_.reset(::open(database_.c_str(), kFlags));
  if (!database_file_ && errno == ENOENT) {
    database_file_.reset(::open(database_.c_str(), kFlags | O_CREAT | O_EXCL, kWritableByOwner));
    made_database_ = static_cast<bool>(database_file_);
  }
  if (!database_file_)
    fail(database_, "cannot be opened for writing", errno, "give a --db that you may write");
  if (!lock_byte(database_file_.get())) {
    if (errno == EAGAIN || errno == EACCES) refuse_second();
    fail(database_, "cannot be locked", errno, "put the database on a file system that has locks");
  }
  if (const std::string trouble = database_trouble(); !trouble.empty())
    throw Error(ErrorKind::kIo, database_.string() + ": " + trouble + " while it was opened");
}

void RunLock::open_folder() {
  if (::mkdir(folder_.c_str(), kFolderOfOwner) == 0) {
    made_folder_ = true;
  } else if (errno != EEXIST) {
    fail(folder_, "cannot be made", errno,
         "spools and logs stand beside the database, so its folder must be writable and have room");
  }
  folder_file_.reset(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder_file_) {
    if (errno == ELOOP || errno == ENOTDIR)
      throw Error(ErrorKind::kIo, folder_.string() +
                                      ": is a link or a file where a folder of spools is to be; "
                                      "remove it, or give another --db");
    fail(folder_, "cannot be opened", errno, "give another --db");
  }
  struct stat status {};
  if (::fstat(folder_file_.get(), &status) != 0)
    fail(folder_, "cannot be looked at", errno, "give another --db");
  expect_own(folder_, status);
}

void RunLock::lock_name() {
  const fs::path path = folder_ / kLockName;
  lock_file_.reset(::openat(folder_file_.get(), kLockName,
                            O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                            kWritableByOwner));
  if (!lock_file_) {
    if (errno == ELOOP)
      throw Error(ErrorKind::kIo, path.string() + ": is a link; remove it, or give another --db");
    fail(path, "cannot be made", errno, "the folder must be writable and its disk have room");
  }
  struct stat status {};
  if (::fstat(lock_file_.get(), &status) != 0)
    fail(path, "cannot be looked at", errno, "give another --db");
  expect_own(path, status);
  if (!S_ISREG(status.st_mode) || status.st_nlink > 1)
    throw Error(ErrorKind::kIo, path.string() +
                                    ": is no plain file, or has a second name; remove it, or give "
                                    "another --db");
  if (::flock(lock_file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) refuse_second();
    fail(path, "cannot be locked", errno, "put the database on a file system that has locks");
  }
  const std::string note = read_note(lock_file_.get());
  if (const auto begin = note.find('\n'); begin != std::string::npos) {
    const auto first = note.find_first_not_of('\n', begin);
    if (first != std::string::npos)
      former_stop_ = note.substr(first, note.find('\n', first) - first);
  }
  write_note(lock_file_.get(), "");
}

void RunLock::refuse_second() const {
  const Descriptor file(
      ::open((folder_ / kLockName).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  std::string holder = file ? read_note(file.get()) : std::string();
  holder.resize(std::min(holder.size(), holder.find_first_not_of("0123456789")));
  throw Error(ErrorKind::kUsage,
              database_.string() + ": another tersor" +
                  (holder.empty() ? std::string() : " (process " + holder + ")") +
                  " is running cells into this database; wait for it, or give another --db");
}

std::string RunLock::database_trouble() const {
  return trouble_of(database_, database_file_.get());
}

std::string RunLock::folder_trouble() const { return trouble_of(folder_, folder_file_.get()); }

fs::path RunLock::current_database() const { return path_of(database_file_.get()); }

fs::path RunLock::current_folder() const { return path_of(folder_file_.get()); }

void RunLock::note_stop(const std::string& why) noexcept { write_note(lock_file_.get(), why); }

void RunLock::remove_traces() noexcept {
  std::error_code ignored;
  struct stat status {};
  if (made_database_ && ::fstat(database_file_.get(), &status) == 0 && status.st_size == 0 &&
      names(database_, database_file_.get(), ignored))
    ::unlink(database_.c_str());
  if (!made_folder_ || !names(folder_, folder_file_.get(), ignored)) return;
  int entries = 0;
  for (fs::directory_iterator entry(folder_, ignored), end; !ignored && entry != end;
       entry.increment(ignored))
    ++entries;
  if (ignored || entries > (lock_file_ ? 1 : 0)) return;  // runs, and the lock's note with them
  if (lock_file_) ::unlinkat(folder_file_.get(), kLockName, 0);
  ::rmdir(folder_.c_str());
}

}  // namespace tersor::harness

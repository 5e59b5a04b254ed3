// SPDX-License-Identifier: Apache-2.0
#include "common/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/descriptor.hpp"
#include "common/error.hpp"
#include "common/hex.hpp"
#include "common/system_reason.hpp"

namespace tersor {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartPrefix = ".tersor-part-";

/// Why `path` cannot be read, by the errno of the attempt.
[[noreturn]] void refuse_to_read(const fs::path& path, int code) {
  std::error_code ignored;
  if (code == ENOENT && fs::is_symlink(fs::symlink_status(path, ignored)))
    throw Error(ErrorKind::kMissing, path.string() + ": is a link to " +
                                         fs::read_symlink(path, ignored).string() +
                                         ", where there is no such file");
  if (code == ENOENT) throw Error(ErrorKind::kMissing, path.string() + ": there is no such file");
  if (code == EISDIR)
    throw Error(ErrorKind::kIo, path.string() + ": is a folder, a file is expected");
  throw Error(code == ENOTDIR ? ErrorKind::kMissing : ErrorKind::kIo,
              path.string() + ": cannot be read: " + system_reason(code));
}

[[noreturn]] void refuse_to_write(const fs::path& path, const std::string& reason) {
  throw Error(ErrorKind::kIo, path.string() + ": cannot be written: " + reason);
}

/// A file to be written, whose errors are told at writing and at closing.
class OutputFile {
 public:
  OutputFile(const fs::path& path, int flags, mode_t mode = 0666)
      : descriptor_(::open(path.c_str(), flags | O_WRONLY | O_CLOEXEC | O_NOCTTY, mode)) {}
  ~OutputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  /// False with errno.
  bool write(std::span<const std::byte> data) const {
    while (!data.empty()) {
      const ssize_t written = ::write(descriptor_, data.data(), data.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      data = data.subspan(static_cast<std::size_t>(written));
    }
    return true;
  }
  /// Writes and closes; false with errno.
  bool finish(std::span<const std::byte> data) {
    return write(data) && ::close(std::exchange(descriptor_, -1)) == 0;
  }

 private:
  int descriptor_;
};

/// In a folder that everybody may write to, a link of somebody else leads wherever they want; the
/// kernel refuses to open it (fs.protected_symlinks), unless we resolve it ourselves.
bool is_trap(const fs::path& link, const struct stat& status) {
  struct stat folder {};
  const fs::path parent = link.has_parent_path() ? link.parent_path() : fs::path(".");
  if (::stat(parent.c_str(), &folder) != 0) return false;
  const bool is_shared = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
  return is_shared && status.st_uid != ::geteuid() && status.st_uid != folder.st_uid;
}

/// The file behind all links, which need not be there.
fs::path behind_links(const fs::path& path) {
  constexpr int kMostLinks = 40;
  fs::path at = path;
  for (int links = 0;; ++links) {
    struct stat status {};
    if (::lstat(at.c_str(), &status) != 0) {
      if (errno != ENOENT && errno != ENOTDIR) refuse_to_write(path, system_reason(errno));
      return at;
    }
    if (!S_ISLNK(status.st_mode)) return at;
    if (links == kMostLinks) refuse_to_write(path, system_reason(ELOOP));
    if (is_trap(at, status))
      refuse_to_write(path, at.string() +
                                " is a link of another user in a folder that all may write to; "
                                "name another file");
    std::error_code code;
    const fs::path target = fs::read_symlink(at, code);
    if (code) refuse_to_write(path, code.message());
    at = target.is_absolute() ? target : at.parent_path() / target;
  }
}

/// How a file is written: replaced by a neighbour, or in place.
struct Target {
  fs::path path;
  bool is_there = false;
  bool is_in_place = false;
  struct stat status {};

  fs::path folder() const { return path.has_parent_path() ? path.parent_path() : fs::path("."); }
};

/// Throws where the file cannot be written.
Target target_of(const fs::path& path) {
  Target target{behind_links(path)};
  std::error_code code;
  if (!fs::is_directory(target.folder(), code))
    refuse_to_write(path,
                    code && code != std::errc::no_such_file_or_directory
                        ? target.folder().string() + ": " + code.message()
                        : "there is no folder " + target.folder().string() + "; make it first");
  target.is_there = ::stat(target.path.c_str(), &target.status) == 0;
  if (!target.is_there && errno != ENOENT) refuse_to_write(path, system_reason(errno));
  const bool may_add = ::access(target.folder().c_str(), W_OK | X_OK) == 0;
  if (!target.is_there) {
    if (!may_add) refuse_to_write(path, target.folder().string() + ": " + system_reason(errno));
    return target;
  }
  if (S_ISDIR(target.status.st_mode)) refuse_to_write(path, "it is a folder; name a file in it");
  const bool is_regular = S_ISREG(target.status.st_mode);
  // Root may write everywhere; who made a file read-only meant it.
  if (is_regular && (target.status.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0)
    refuse_to_write(path, "it is read-only; make it writable (chmod u+w) or name another file");
  if (::access(target.path.c_str(), W_OK) != 0) refuse_to_write(path, system_reason(errno));
  const bool is_ours = target.status.st_uid == ::geteuid() || ::geteuid() == 0;
  target.is_in_place = !is_regular || target.status.st_nlink > 1 || !is_ours || !may_add;
  return target;
}

fs::path neighbour_of(const Target& target, std::uint64_t number) {
  return target.folder() / (std::string(kPartPrefix) + hex(number));
}

/// A name beside the target that nobody can foresee.
fs::path secret_neighbour_of(const Target& target) {
  static std::random_device random;
  return neighbour_of(target, static_cast<std::uint64_t>(random()) << 32 | random());
}

/// Gives a file that has no name yet that of the target; false with errno, which is EAGAIN where
/// another writer of the target took the file away, so that it must be written anew. Only a name
/// that is taken needs a neighbour for the moment before the rename. Its name is the same each
/// time, so that what a kill in that moment leaves is taken away by whoever writes the target next.
bool take_name(int descriptor, const Target& target) {
  const std::string unnamed = "/proc/self/fd/" + std::to_string(descriptor);
  const auto link_to = [&](const fs::path& name) {
    return ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (!target.is_there) {
    if (link_to(target.path)) return true;
    if (errno != EEXIST) return false;
  }
  fs::path part = neighbour_of(target, std::hash<std::string>{}(target.path.filename().string()));
  for (;;) {
    if (link_to(part)) {
      if (::rename(part.c_str(), target.path.c_str()) == 0) return true;
      const int code = errno == ENOENT ? EAGAIN : errno;
      ::unlink(part.c_str());
      errno = code;
      return false;
    }
    if (errno != EEXIST) return false;
    // One that is not ours to remove stays.
    if (::unlink(part.c_str()) != 0 && errno != ENOENT) part = secret_neighbour_of(target);
  }
}

bool keeps_owner_and_mode(int descriptor, const Target& target) {
  if (!target.is_there) return true;
  struct stat now {};
  if (::fstat(descriptor, &now) != 0) return false;
  const bool is_same = now.st_uid == target.status.st_uid && now.st_gid == target.status.st_gid;
  return (is_same || ::fchown(descriptor, target.status.st_uid, target.status.st_gid) == 0) &&
         ::fchmod(descriptor, target.status.st_mode & 07777) == 0;
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path) : name_(path.string()) {
  file_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file_) refuse_to_read(path, errno);
  struct stat status {};
  const int code = ::fstat(file_.get(), &status) != 0 ? errno
                   : S_ISDIR(status.st_mode)          ? EISDIR
                                                      : 0;
  if (code != 0) refuse_to_read(path, code);
  if (S_ISREG(status.st_mode)) bytes_ = static_cast<std::uint64_t>(status.st_size);
}

std::size_t InputFile::read(std::span<std::byte> to) {
  std::size_t filled = 0;
  while (filled < to.size()) {
    const ssize_t got = ::read(file_.get(), to.data() + filled, to.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw Error(ErrorKind::kIo, name_ + ": cannot be read to its end: " + system_reason(errno));
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

std::vector<std::byte> InputFile::rest(std::uint64_t most_bytes) {
  constexpr std::uint64_t kStep = std::uint64_t{1} << 20;
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::kData, name_ + ": " + what + "; at most " + std::to_string(most_bytes) +
                                      " bytes are read from it");
  };
  if (bytes_ && *bytes_ > most_bytes) refuse(std::to_string(*bytes_) + " bytes");
  std::vector<std::byte> data;
  for (;;) {
    const std::size_t before = data.size();
    // A step more than the size that is known, since files grow and those of /proc say 0.
    const std::uint64_t step = before == 0 && bytes_ ? *bytes_ + 1 : std::max(before / 2, kStep);
    data.resize(before + static_cast<std::size_t>(std::min(step, most_bytes - before + 1)));
    const std::size_t got = read(std::span(data).subspan(before));
    data.resize(before + got);
    if (data.size() > most_bytes) refuse("too long");
    if (got < step) return data;
  }
}

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  InputFile file(path);
  return file.rest(file.bytes() ? std::max(*file.bytes(), kMostPipedBytes) : kMostPipedBytes);
}

std::string read_text(const std::filesystem::path& path, std::uint64_t most_bytes) {
  const std::vector<std::byte> data = InputFile(path).rest(most_bytes);
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> data) {
  const Target target = target_of(path);
  if (target.is_in_place) {
    OutputFile out(target.path, S_ISREG(target.status.st_mode) ? O_TRUNC : 0);
    if (!out.is_open() || !out.finish(data)) refuse_to_write(path, system_reason(errno));
    return;
  }
  const mode_t mode = target.is_there ? 0600 : 0666;
  for (;;) {
    const OutputFile out(target.folder(), O_TMPFILE, mode);
    if (!out.is_open()) break;  // the file system knows no files without a name
    if (keeps_owner_and_mode(out.descriptor(), target) && out.write(data) &&
        take_name(out.descriptor(), target))
      return;
    if (errno != EAGAIN) refuse_to_write(path, system_reason(errno));
  }
  const fs::path part = secret_neighbour_of(target);
  OutputFile out(part, O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  if (!out.is_open()) refuse_to_write(path, part.string() + ": " + system_reason(errno));
  const bool is_done = keeps_owner_and_mode(out.descriptor(), target) && out.finish(data) &&
                       ::rename(part.c_str(), target.path.c_str()) == 0;
  if (is_done) return;
  const std::string reason = system_reason(errno);
  ::unlink(part.c_str());
  refuse_to_write(path, reason);
}

void create_file(const std::filesystem::path& path, std::span<const std::byte> data) {
  constexpr mode_t kReadableByAll = 0644;
  OutputFile out(path, O_CREAT | O_EXCL, kReadableByAll);
  if (!out.is_open() || !out.finish(data))
    throw Error(ErrorKind::kIo, path.string() + ": cannot be made: " + system_reason(errno));
}

void expect_writable(const std::filesystem::path& path) { (void)target_of(path); }

}  // namespace tersor

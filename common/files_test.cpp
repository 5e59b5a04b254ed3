// SPDX-License-Identifier: Apache-2.0
#include "common/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "common/error.hpp"
#include "common/hex.hpp"

namespace tersor {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using Catch::EndsWith;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("tersor-files-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path operator/(const std::string& name) const { return path_ / name; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), {}));
  }

 private:
  fs::path path_;
};

void write(const fs::path& path, const std::string& text) {
  write_file(path, std::as_bytes(std::span(text)));
}

std::string text_of(const fs::path& path) { return read_text(path, 1000); }

struct stat status_of(const fs::path& path) {
  struct stat status {};
  CHECK(::stat(path.c_str(), &status) == 0);
  return status;
}

TEST_CASE("what cannot be read says why") {
  const Folder folder;
  CHECK_THROWS_WITH(read_file(folder / "none"), EndsWith("none: there is no such file"));
  CHECK_THROWS_WITH(read_file(folder / ""), EndsWith("is a folder, a file is expected"));
  fs::create_symlink("a", folder / "b");
  CHECK_THROWS_WITH(read_file(folder / "b"), Contains("is a link to a, where there is no such"));
  fs::create_symlink("b", folder / "a");
  CHECK_THROWS_WITH(read_file(folder / "a"), EndsWith("Too many levels of symbolic links"));
  write(folder / "f", "x");
  CHECK_THROWS_WITH(read_file(folder / "f/g"), EndsWith("Not a directory"));
  if (::geteuid() != 0) {
    ::chmod((folder / "f").c_str(), 0);
    CHECK_THROWS_WITH(read_file(folder / "f"), EndsWith("Permission denied"));
  }
}

TEST_CASE("pipes and files of no stated size are read to their end, endless ones to a limit") {
  const Folder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const std::string long_text(3'000'000, 'x');
  std::thread writer([&] { std::ofstream(folder / "pipe") << long_text; });
  CHECK(read_text(folder / "pipe", 5'000'000) == long_text);
  writer.join();
  CHECK_FALSE(read_file("/proc/self/status").empty());
  CHECK_THROWS_WITH(read_text("/dev/zero", 1000),
                    EndsWith("/dev/zero: too long; at most 1000 bytes are read from it"));
  write(folder / "f", std::string(1001, 'x'));
  CHECK_THROWS_WITH(text_of(folder / "f"), Contains("1001 bytes; at most 1000"));
  CHECK_THROWS_WITH(read_file("/dev/zero"), Contains("at most 268435456 bytes"));
}

TEST_CASE("a written file keeps its links, mode and hard links") {
  const Folder folder;
  write(folder / "new", "1");
  const mode_t mask = ::umask(0);
  ::umask(mask);
  CHECK((status_of(folder / "new").st_mode & 0777) == (0666 & ~mask));

  write(folder / "private", "1");
  ::chmod((folder / "private").c_str(), 0600);
  fs::create_symlink("private", folder / "one");
  fs::create_symlink(folder / "one", folder / "two");
  write(folder / "two", "22");
  CHECK(fs::is_symlink(folder / "two"));
  CHECK(fs::is_symlink(folder / "one"));
  CHECK(text_of(folder / "private") == "22");
  CHECK((status_of(folder / "private").st_mode & 0777) == 0600);

  fs::create_symlink("later", folder / "ahead");
  write(folder / "ahead", "3");
  CHECK(text_of(folder / "later") == "3");

  fs::create_hard_link(folder / "new", folder / "twin");
  write(folder / "new", "4444");
  CHECK(text_of(folder / "twin") == "4444");
  CHECK(status_of(folder / "twin").st_nlink == 2);
  CHECK(folder.files() == 7);  // nothing beside them
}

TEST_CASE("what cannot be written is refused before and at writing") {
  const Folder folder;
  const auto refused = [](const fs::path& path, const std::string& why) {
    INFO(path);
    CHECK_THROWS_WITH(expect_writable(path), Contains(why));
    CHECK_THROWS_WITH(write(path, "x"), Contains(why));
  };
  refused(folder / "none/f", "there is no folder");
  refused(folder / "", "it is a folder");
  refused(folder / "none/", "there is no folder");
  fs::create_directory(folder / "d");
  refused(folder / "d", "it is a folder");
  write(folder / "fixed", "1");
  ::chmod((folder / "fixed").c_str(), 0444);
  refused(folder / "fixed", "it is read-only");
  CHECK(text_of(folder / "fixed") == "1");
  fs::create_symlink("loop", folder / "loop");
  refused(folder / "loop", "Too many levels of symbolic links");
  refused(folder / std::string(256, 'n'), "File name too long");
  write(folder / std::string(255, 'n'), "x");
  CHECK_THROWS_WITH(write("/dev/full", "x"), EndsWith("No space left on device"));
  CHECK(folder.files() == 4);
}

TEST_CASE("a link of another user in a shared folder is no way to write", "[root]") {
  if (::geteuid() != 0) return;
  const Folder folder;
  fs::create_directory(folder / "shared");
  ::chmod((folder / "shared").c_str(), 01777);
  write(folder / "victim", "precious");
  fs::create_symlink(folder / "victim", folder / "shared/index.html");
  REQUIRE(::lchown((folder / "shared/index.html").c_str(), 65534, 65534) == 0);
  CHECK_THROWS_WITH(write(folder / "shared/index.html", "x"), Contains("link of another user"));
  CHECK(text_of(folder / "victim") == "precious");
  write(folder / "theirs", "1");
  REQUIRE(::chown((folder / "theirs").c_str(), 65534, 65534) == 0);
  write(folder / "theirs", "2");
  CHECK(status_of(folder / "theirs").st_uid == 65534);
}

TEST_CASE("what a killed writer left is taken away by the next, what cannot go stays") {
  const Folder folder;
  write(folder / "f", "1");
  const fs::path left = folder / (".tersor-part-" + hex(std::hash<std::string>{}("f")));
  write(left, "half");
  write(folder / "f", "2");
  CHECK(text_of(folder / "f") == "2");
  CHECK_FALSE(fs::exists(left));
  fs::create_directory(left);
  write(folder / "f", "3");
  CHECK(text_of(folder / "f") == "3");
  CHECK(folder.files() == 2);
}

TEST_CASE("writers of one file at the same time leave one of their files, whole") {
  const Folder folder;
  std::vector<std::thread> writers;
  for (char letter = 'a'; letter < 'e'; ++letter)
    writers.emplace_back([&folder, letter] {
      for (int i = 0; i < 200; ++i) write(folder / "f", std::string(10'000, letter));
    });
  for (std::thread& writer : writers) writer.join();
  const std::string text = read_text(folder / "f", 20'000);
  CHECK(text == std::string(10'000, text.at(0)));
  CHECK(folder.files() == 1);
}

}  // namespace
}  // namespace tersor

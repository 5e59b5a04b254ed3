// SPDX-License-Identifier: Apache-2.0
#include "common/standard_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <iostream>
#include <string>

#include "common/error.hpp"
#include "common/printable.hpp"
#include "common/system_reason.hpp"

namespace tersor {
namespace {

int first_error = 0;  ///< errno of the first write that failed

void note_failure(bool has_failed) {
  if (has_failed && first_error == 0) first_error = errno == 0 ? EIO : errno;
}

}  // namespace

void print_text(const char* format, ...) {
  std::va_list arguments;
  std::va_list again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  TERSOR_CHECK(length >= 0, std::string("format ") + format);
  std::string text(static_cast<std::size_t>(length), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  print_data(printable(text));
}

void print_data(std::string_view data) {
  errno = 0;
  note_failure(std::fwrite(data.data(), 1, data.size(), stdout) != data.size());
}

void hold_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    // The lowest number that is free is this one.
    (void)::open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY);
  }
}

void flush_standard_output() noexcept {
  errno = 0;
  std::cout.flush();
  note_failure(std::fflush(stdout) != 0);
  note_failure(std::ferror(stdout) != 0 || !std::cout);
}

void finish_standard_output() {
  flush_standard_output();
  // Some file systems tell at closing only.
  const int twin = ::dup(STDOUT_FILENO);
  note_failure(twin >= 0 && ::close(twin) != 0);
  if (first_error != 0 && first_error != EPIPE)
    throw Error(ErrorKind::kIo, "standard output cannot be written: " + system_reason(first_error));
}

}  // namespace tersor

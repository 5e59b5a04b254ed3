// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace tersor {

/// Text for people, as printf writes it; bytes that control a terminal are escaped (`printable`).
[[gnu::format(printf, 1, 2)]] void print_text(const char* format, ...);
/// What programs read (JSON, CSV), byte for byte.
void print_data(std::string_view data);

/// At the begin of main: descriptors 0 to 2 that are closed get one that refuses reads and writes,
/// so that no file of ours is opened under their number.
void hold_standard_descriptors();
/// Writes what is buffered; a failure is kept for finish_standard_output().
void flush_standard_output() noexcept;
/// At the end of main: throws Error(kIo) where not all of standard output was written (a full disk,
/// a closed descriptor). A reader that has gone away (`| head`) is no error.
void finish_standard_output();

}  // namespace tersor

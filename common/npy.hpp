// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "common/tensor.hpp"

namespace tersor {

/// An array of a NumPy .npy file (format versions 1 to 3), in row-major order whatever the file's.
struct NpyArray {
  std::vector<std::int64_t> dims;
  DType dtype = DType::kFloat32;
  std::vector<std::byte> data;

  std::int64_t elements() const;
};

/// Reads float32 and float16 of either byte order, as NumPy does. Throws Error(kData) naming what
/// was found and what to do on any other type, a malformed header, or a file that is not as long as
/// its shape says.
NpyArray read_npy(const std::filesystem::path& path);
NpyArray parse_npy(std::span<const std::byte> file, const std::string& name);

/// What a .npy file says of its data, which begin at `data_offset`.
struct NpyHeader {
  std::string descr;  ///< NumPy's type string: "<f4", "<u2", ..
  bool is_fortran_order = false;
  std::vector<std::int64_t> dims;
  std::size_t data_offset = 0;
};

/// Throws Error(kData) on what is no .npy file. The length of the data is not looked at.
NpyHeader parse_npy_header(std::span<const std::byte> file, const std::string& name);

/// Writes float32, version 1. Throws Error(kIo).
void write_npy(const std::filesystem::path& path, const std::vector<std::int64_t>& dims,
               std::span<const float> values);

/// How a file's dimensions map to a message (METHODS section 1, "Shape"): 3-D directly; 1-D is one
/// row; in 2-D each row is a sample of one token unless `tokens` > 0 groups rows; 4 and more
/// dimensions are images {samples, 1, C*H*W}. Throws Error(kUsage) where `tokens` does not fit.
Shape message_shape(const std::vector<std::int64_t>& dims, std::int64_t tokens = 0);

}  // namespace tersor

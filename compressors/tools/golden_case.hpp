// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "compressors/api/codec.hpp"
#include "compressors/tools/golden.hpp"

namespace tersor::compressors {

/// A stored input as the message of a case: bits in the case's dtype.
struct GoldenInput {
  Shape shape;
  DType dtype = DType::kFloat32;
  std::vector<std::byte> bits;

  TensorView view() const { return {bits.data(), shape, dtype}; }
  std::size_t elements() const { return static_cast<std::size_t>(shape.elements()); }
};

/// The files of a golden folder, read once each.
class GoldenFiles {
 public:
  explicit GoldenFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// {"file", "offset", "bytes"}; throws Error(kData) where that is not inside the file.
  std::span<const std::byte> stored(const nlohmann::json& place);
  GoldenInput input(const std::string& file, DType dtype, std::int64_t tokens) const;

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::vector<std::byte>> files_;
};

/// A case that does not come out as stored; what() is the sentence for the report.
struct GoldenDifference {
  std::string text;
};

/// Context fields of a case and, over them, of a message; ids stay owned by the JSON's caller.
Context golden_context(const nlohmann::json& fields, Context base);

/// Runs one case; throws GoldenDifference, or Error where the codec refuses it.
void run_golden_case(GoldenFiles& files, const nlohmann::json& entry, const GoldenOptions& options);

/// Throws GoldenDifference at the first byte that differs.
void expect_bytes(const std::string& what, std::span<const std::byte> expected,
                  std::span<const std::byte> got);
void expect_same(const std::string& what, const std::string& expected, const std::string& got);
void expect_same(const std::string& what, std::uint64_t expected, std::uint64_t got);

}  // namespace tersor::compressors

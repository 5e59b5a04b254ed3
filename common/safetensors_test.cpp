// SPDX-License-Identifier: Apache-2.0
#include "common/safetensors.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

#include "common/error.hpp"

namespace tersor {
namespace {

using Catch::Matchers::Contains;

class TempFile {
 public:
  explicit TempFile(const std::string& content)
      : path_((std::filesystem::temp_directory_path() / "tersor-safetensors-XXXXXX").string()) {
    const int descriptor = ::mkstemp(path_.data());
    REQUIRE(descriptor >= 0);
    ::close(descriptor);
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TempFile() { std::filesystem::remove(path_); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string with_length(const std::string& header, const std::string& data) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(header.size() >> (8 * i));
  return file + header + data;
}

std::string refusal(const std::string& content) {
  const TempFile file(content);
  try {
    const SafeTensors tensors(file.path());
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kData);
    CHECK_THAT(error.what(), Contains(file.path()));
    return error.what();
  }
  return "no error was thrown";
}

/// A file of one tensor "x" with the given entry text.
std::string refusal_of_entry(const std::string& entry, const std::string& data) {
  return refusal(with_length("{\"x\":" + entry + "}", data));
}

// 1.0 and -2.5 in float32, half and bfloat16; the smallest half subnormal, half Inf; int64 7.
const std::string kData = std::string("\x00\x00\x80\x3F\x00\x00\x20\xC0", 8) +
                          std::string("\x00\x3C\x00\xC1\x01\x00\x00\x7C", 8) +
                          std::string("\x80\x3F\x20\xC0", 4) +
                          std::string("\x07\x00\x00\x00\x00\x00\x00\x00", 8);
const std::string kHeader = R"({"__metadata__":{"format":"pt"},)"
                            R"("wide":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
                            R"("half":{"dtype":"F16","shape":[4],"data_offsets":[8,16]},)"
                            R"("empty":{"dtype":"F32","shape":[0,3],"data_offsets":[16,16]},)"
                            R"("brain":{"dtype":"BF16","shape":[2],"data_offsets":[16,20]},)"
                            R"("count":{"dtype":"I64","shape":[],"data_offsets":[20,28]}}   )";

TEST_CASE("a safetensors file made by hand is read") {
  const TempFile file(with_length(kHeader, kData));
  const SafeTensors tensors(file.path());
  CHECK(tensors.tensors().size() == 5);
  CHECK(tensors.metadata().at("format") == "pt");
  CHECK(tensors.contains("wide"));
  CHECK_FALSE(tensors.contains("__metadata__"));
  CHECK(tensors.at("wide").shape == std::vector<std::int64_t>{2, 1});
  CHECK(tensors.at("wide").elements() == 2);
  CHECK(tensors.floats("wide") == std::vector<float>{1.0f, -2.5f});
  CHECK(tensors.floats("brain") == std::vector<float>{1.0f, -2.5f});
  CHECK(tensors.floats("half") == std::vector<float>{1.0f, -2.5f, 0x1p-24f, INFINITY});
  CHECK(tensors.floats("empty").empty());
  CHECK(tensors.at("count").elements() == 1);
  CHECK(tensors.at("count").bytes.size() == 8);
  CHECK(std::to_integer<int>(tensors.at("count").bytes[0]) == 7);
}

TEST_CASE("a missing tensor, a wrong shape and a wrong dtype are told") {
  const TempFile file(with_length(kHeader, kData));
  const SafeTensors tensors(file.path());
  CHECK_THROWS_WITH(tensors.at("wiide"), Contains("no tensor 'wiide' among 5") &&
                                             Contains("the nearest name is 'wide'") &&
                                             Contains(file.path()));
  const std::vector<std::int64_t> shape = {1, 2};
  CHECK_THROWS_WITH(tensors.floats("wide", shape), Contains("shape [2, 1], expected [1, 2]"));
  CHECK_THROWS_WITH(tensors.floats("count"), Contains("dtype I64, expected F32, F16 or BF16"));
}

TEST_CASE("a foreign dtype stands beside the others and is refused where it is asked for") {
  const TempFile file(with_length(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                                  R"("y":{"dtype":"F4","shape":[16],"data_offsets":[4,12]}})",
                                  std::string("\0\0\0\x3F", 4) + std::string(8, 'y')));
  const SafeTensors tensors(file.path());
  CHECK(tensors.floats("x") == std::vector<float>{0.5f});
  CHECK(tensors.at("y").bytes.size() == 8);
  CHECK_THROWS_WITH(tensors.floats("y"), Contains("dtype F4, expected F32, F16 or BF16"));
}

TEST_CASE("files that are not safetensors are refused") {
  CHECK_THAT(refusal(""), Contains("0 bytes are no safetensors file"));
  CHECK_THAT(refusal(std::string(8, '\xFF')), Contains("header of 18446744073709551615 bytes"));
  CHECK_THAT(refusal(with_length("{}", "x")), Contains("end at byte 0 of 1 bytes"));
  CHECK_THAT(refusal(with_length("[]", "")), Contains("not a JSON object"));
  CHECK_THAT(refusal(with_length("{\"x\":", "")), Contains("header:1:"));
  CHECK_THAT(refusal(with_length("{\"\xFF\":1}", "")), Contains("header:1:"));
  CHECK_THAT(refusal(with_length("{} {}", "")), Contains("header:1:"));
  CHECK_THAT(refusal(with_length("{\"__metadata__\":{\"a\":1}}", "")), Contains("__metadata__.a"));
  CHECK_THAT(refusal(with_length("{\"__metadata__\":[]}", "")), Contains("__metadata__"));
  CHECK_THAT(refusal(with_length(std::string(100000, '['), "")),
             Contains("header:1:65: nested deeper"));
}

TEST_CASE("bad entries are refused") {
  CHECK_THAT(refusal_of_entry("3", ""), Contains("tensor 'x': expected {"));
  CHECK_THAT(refusal_of_entry(R"({"dtype":"F32","shape":[1],"data_offsets":[0]})", "abcd"),
             Contains("expected {"));
  CHECK_THAT(refusal_of_entry(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})", "abcd"),
             Contains("-1 is not a whole number"));
  CHECK_THAT(refusal_of_entry(R"({"dtype":"F32","shape":[1.5],"data_offsets":[0,4]})", "abcd"),
             Contains("1.5 is not a whole number"));
  CHECK_THAT(refusal_of_entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})", "abcd"),
             Contains("F32 of shape [2] needs 8 bytes, data_offsets give 4"));
  CHECK_THAT(refusal_of_entry(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})", "abcd"),
             Contains("are not inside"));
  CHECK_THAT(refusal_of_entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})", "abcd"),
             Contains("cut short?"));
  CHECK_THAT(refusal_of_entry(
                 R"({"dtype":"U8","shape":[4294967296,4294967297],"data_offsets":[0,4]})", "abcd"),
             Contains("too large"));
  CHECK_THAT(refusal_of_entry(
                 R"({"dtype":"F32","shape":[0,18446744073709551615],"data_offsets":[0,0]})", ""),
             Contains("too large"));
}

TEST_CASE("overlaps, holes and doubles are refused") {
  const auto two = [](const std::string& a, const std::string& b) {
    return refusal(with_length(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" + a +
                                   R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" + b + "}}",
                               "abcd"));
  };
  CHECK(two("[0,2]", "[2,4]") == "no error was thrown");
  CHECK(two("[2,4]", "[0,2]") == "no error was thrown");
  CHECK_THAT(two("[0,2]", "[1,3]"), Contains("'b' begins at byte 1") && Contains("inside another"));
  CHECK_THAT(two("[0,2]", "[0,2]"), Contains("inside another"));
  CHECK_THAT(two("[1,3]", "[2,4]"), Contains("'a' begins at byte 1") && Contains("after a hole"));
  CHECK_THAT(refusal(with_length(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                                 R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
                                 "ab")),
             Contains("header:1:54: the key \"a\" is given twice"));
}

TEST_CASE("every cut of a file and every changed byte gives a file or an error") {
  const std::string whole = with_length(kHeader, kData);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    CHECK(refusal(whole.substr(0, length)) != "no error was thrown");
  }
  for (std::size_t at = 0; at < whole.size() - kData.size(); ++at) {
    for (const char value : {'\0', '\xFF', '9', '"', '}'}) {
      std::string changed = whole;
      changed[at] = value;
      const TempFile file(changed);
      try {
        const SafeTensors tensors(file.path());
        for (const auto& [name, tensor] : tensors.tensors())
          if (tensor.dtype == "F32") tensors.floats(name);
      } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::kData);
      }
    }
  }
}

TEST_CASE("a safetensors file that is not there") {
  try {
    const SafeTensors tensors("/nonexistent/model.safetensors");
    FAIL("no error was thrown");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kMissing);
    CHECK_THAT(error.what(), Contains("/nonexistent/model.safetensors"));
  }
  CHECK_THROWS_AS(SafeTensors(std::filesystem::temp_directory_path()), Error);
}

TEST_CASE("safetensors: what is written is the format, and reads back") {
  const float row[] = {1.0f, -2.5f};
  const std::uint16_t halves[] = {0x3C00, 0xFC00, 0x7E01};
  const TempFile file("");
  const std::pair<std::string, TensorView> tensors[] = {
      {"layer1.mlp", {halves, {1, 3, 1}, DType::kFloat16}},
      {"layer0.mlp", {row, {1, 1, 2}, DType::kFloat32}},
      {"none", {nullptr, {0, 4, 2}, DType::kBFloat16}}};
  write_safetensors(file.path(), tensors, {{"step", "12"}});
  std::ifstream in(file.path(), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const std::string header =
      R"({"__metadata__":{"step":"12"},)"
      R"("layer1.mlp":{"dtype":"F16","shape":[1,3,1],"data_offsets":[0,6]},)"
      R"("layer0.mlp":{"dtype":"F32","shape":[1,1,2],"data_offsets":[6,14]},)"
      R"("none":{"dtype":"BF16","shape":[0,4,2],"data_offsets":[14,14]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  CHECK(bytes == with_length(padded, std::string("\x00\x3C\x00\xFC\x01\x7E", 6) +
                                         std::string("\x00\x00\x80\x3F\x00\x00\x20\xC0", 8)));
  const SafeTensors read(file.path());
  CHECK(read.metadata().at("step") == "12");
  CHECK(read.floats("layer0.mlp") == std::vector<float>{1.0f, -2.5f});
  CHECK(read.at("none").elements() == 0);
}

}  // namespace
}  // namespace tersor

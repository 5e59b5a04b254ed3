// SPDX-License-Identifier: Apache-2.0
#include "common/npy.hpp"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "common/error.hpp"
#include "common/files.hpp"
#include "common/hash.hpp"

using namespace tersor;

namespace {

std::string npy(const std::string& header, const std::string& data, char version = 1) {
  std::string file("\x93NUMPY");
  file += version;
  file += '\0';
  file += static_cast<char>(header.size() & 0xFF);
  file += static_cast<char>(header.size() >> 8);
  if (version > 1) file += std::string(2, '\0');
  return file + header + data;
}

NpyArray parse(const std::string& file) {
  return parse_npy(std::as_bytes(std::span(file)), "x.npy");
}

std::vector<float> floats(const NpyArray& array) {
  std::vector<float> values(array.data.size() / 4);
  std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

std::string raw(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * 4};
}

}  // namespace

TEST_CASE(".npy: what NumPy writes is read, in both orders and all versions") {
  const std::string data = raw({1, 2, 3, 4, 5, 6});
  for (const char version : {'\1', '\2', '\3'}) {
    const NpyArray array =
        parse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", data, version));
    CHECK(array.dims == std::vector<std::int64_t>{2, 3});
    CHECK(floats(array) == std::vector<float>{1, 2, 3, 4, 5, 6});
  }
  const NpyArray columns =
      parse(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", data));
  CHECK(floats(columns) == std::vector<float>{1, 3, 5, 2, 4, 6});
  CHECK(parse(npy("{'descr': '<f2', 'fortran_order': False, 'shape': (), }", "ab")).dtype ==
        DType::kFloat16);
  CHECK(parse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 5), }", "")).elements() ==
        0);
}

TEST_CASE(".npy: what is malformed or of another type is refused with what was found") {
  const auto refused = [](const std::string& file, const std::string& words) {
    CHECK_THROWS_WITH(parse(file), Catch::Contains(words));
  };
  const auto with_type = [](const std::string& descr) {
    return npy("{'descr': " + descr + ", 'fortran_order': False, 'shape': (1,), }", "abcd");
  };
  refused("", "no .npy file");
  refused("PK\3\4 something else", "no .npy file");
  refused(with_type("'<f8'"), "astype(numpy.float32)");
  refused(with_type("'<V2'"), "safetensors");
  refused(with_type("'|V2'"), "safetensors");
  refused(with_type("[('a', '<f4')]"), "a structured type");
  refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "abcd"),
          "needs 8 bytes of data, it has 4");
  refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "abcdabcd"), "it has 8");
  refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", ""), "no size");
  refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", ""),
          "2^56");
  refused(npy("{'descr': '<f4', 'fortran_order': False}", ""), "missing");
  refused(npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}", "abcd"), "True nor False");
  refused(npy("{'descr': '<f4", ""), "never closed");
  refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", "abcd").substr(0, 40),
          "cut off");
  refused(npy("", "", 9), "version 9");
}

TEST_CASE("headers of Python 2, of native and of foreign byte order are read as NumPy reads them") {
  const std::vector<float> values{1.5f, -2.0f, 3.25f, 4.0f};
  const std::string data = raw(values);
  for (const std::string header :
       {"{'descr': 'f4', 'fortran_order': False, 'shape': (2L, 2L), }",
        "{'descr': '|f4', 'fortran_order': False, 'shape': (4L,), }",
        "{'descr': u'<f4', 'fortran_order': False,\t'shape': (4,), }",
        "{'descr': '=f4', 'fortran_order': False, 'shape': (4,), }",
        "{'descr': 'float32', 'fortran_order': False, 'shape': (4,), }"}) {
    INFO(header);
    CHECK(floats(parse(npy(header, data))) == values);
  }
  std::string swapped = data;
  for (std::size_t i = 0; i < swapped.size(); i += 4)
    std::reverse(swapped.begin() + static_cast<std::ptrdiff_t>(i),
                 swapped.begin() + static_cast<std::ptrdiff_t>(i + 4));
  CHECK(floats(parse(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (4,), }", swapped))) ==
        values);
  CHECK_THROWS_WITH(read_npy("/dev/zero"), Catch::EndsWith("/dev/zero is no .npy file"));
}

TEST_CASE(".npy: files are written as NumPy reads them") {
  const auto path =
      std::filesystem::temp_directory_path() / ("tersor-npy-" + std::to_string(::getpid()));
  const std::vector<float> values{1.5f, -2.0f, 3.0f};
  write_npy(path, {3}, values);
  const auto file = read_file(path);
  REQUIRE(file.size() == 128 + 12);
  const std::string text(reinterpret_cast<const char*>(file.data()), 128);
  CHECK(text.substr(10, 52) == "{'descr': '<f4', 'fortran_order': False, 'shape': (3");
  CHECK(text.back() == '\n');
  CHECK(floats(read_npy(path)) == values);
  std::filesystem::remove(path);
  CHECK_THROWS_WITH(read_npy(path), Catch::Contains("no such file"));
  CHECK_THROWS_AS(write_npy("no/such/folder/x.npy", {3}, values), Error);
}

TEST_CASE("dimensions map to samples, tokens and hidden") {
  CHECK(message_shape({2, 3, 4}) == Shape{2, 3, 4});
  CHECK(message_shape({7}) == Shape{1, 1, 7});
  CHECK(message_shape({}) == Shape{1, 1, 1});
  CHECK(message_shape({6, 5}) == Shape{6, 1, 5});
  CHECK(message_shape({6, 5}, 3) == Shape{2, 3, 5});
  CHECK(message_shape({8, 3, 4, 5}) == Shape{8, 1, 60});
  CHECK(message_shape({0, 5}) == Shape{0, 1, 5});
  CHECK_THROWS_AS(message_shape({6, 5}, 4), Error);
  CHECK_THROWS_AS(message_shape({2, 3, 4}, 2), Error);
}

TEST_CASE("hashes equal published values") {
  CHECK(xxh64(std::string_view("")) == 0xEF46DB3751D8E999u);
  CHECK(xxh64(std::string_view("abc")) == 0x44BC2CF5AD770999u);
  const std::string abc = "abc";  // FIPS 180-2, appendix B.1
  CHECK(sha256_hex(std::as_bytes(std::span(abc))) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// SPDX-License-Identifier: Apache-2.0
#include "common/npy.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "common/files.hpp"
#include "common/number.hpp"

namespace tersor {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::int64_t kMostElements = std::int64_t{1} << 56;

/// Reads the Python dictionary of the header: exactly the keys that NumPy writes.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !has_descr) {
        header.descr = descr();
        has_descr = true;
      } else if (key == "fortran_order" && !has_order) {
        header.is_fortran_order = boolean();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        header.dims = tuple();
        has_shape = true;
      } else {
        fail("unexpected key '" + key + "'");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!has_descr || !has_order || !has_shape) fail("descr, fortran_order or shape is missing");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::kData, name_ + ": .npy header: " + what);
  }
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }
  bool accept(char mark) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != mark) return false;
    ++at_;
    return true;
  }
  void expect(char mark) {
    if (!accept(mark)) fail(std::string("'") + mark + "' expected at byte " + std::to_string(at_));
  }
  std::string quoted() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"')
      fail("a quoted name is expected at byte " + std::to_string(at_));
    const std::size_t end = text_.find(quote, ++at_);
    if (end == std::string_view::npos) fail("a quote is never closed");
    std::string word(text_.substr(at_, end - at_));
    at_ = end + 1;
    return word;
  }
  std::string descr() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '[') fail("a structured type is no tensor");
    if (at_ < text_.size() && (text_[at_] == 'u' || text_[at_] == 'b')) ++at_;  // Python 2's
    return quoted();
  }
  bool boolean() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return word == "True";
    }
    fail("fortran_order is neither True nor False");
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> dims;
    expect('(');
    while (!accept(')')) {
      skip_blanks();
      const std::size_t begin = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
      const auto dim = parse_integer(text_.substr(begin, at_ - begin));
      if (!dim) fail("the shape holds something that is no size");
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // a long of Python 2
      dims.push_back(*dim);
      if (dims.size() > 32) fail("more than 32 dimensions");
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return dims;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

struct ElementType {
  DType dtype;
  bool is_big_endian;
};

/// Names as numpy.dtype() takes them: without a byte order, or with '=' or '|', they are native.
ElementType element_type(const std::string& descr, const std::string& name) {
  static_assert(std::endian::native == std::endian::little);
  const bool has_order = !descr.empty() && std::string_view("<>=|").find(descr[0]) != descr.npos;
  const std::string_view type = std::string_view(descr).substr(has_order ? 1 : 0);
  const bool is_big_endian = descr.starts_with('>');
  if (type == "f4" || type == "f" || type == "float32") return {DType::kFloat32, is_big_endian};
  if (type == "f2" || type == "e" || type == "float16") return {DType::kFloat16, is_big_endian};
  const std::string start = name + ": dtype '" + descr + "'";
  if (descr.ends_with("V2") || descr == "bfloat16" || descr == "<E")
    throw Error(ErrorKind::kData, start +
                                      ": .npy has no bfloat16; save the tensor as .safetensors, "
                                      "or as float32");
  throw Error(ErrorKind::kData,
              start + " is neither float32 nor float16: save array.astype(numpy.float32)");
}

std::int64_t product(const std::vector<std::int64_t>& dims, const std::string& name) {
  std::int64_t elements = 1;
  for (const std::int64_t dim : dims)
    if (dim == 0) return 0;
  for (const std::int64_t dim : dims) {
    if (dim > kMostElements / elements)
      throw Error(ErrorKind::kData, name + ": the shape has more than 2^56 elements");
    elements *= dim;
  }
  return elements;
}

void expect_magic(std::span<const std::byte> file, const std::string& name) {
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
  if (!bytes.starts_with(kMagic)) throw Error(ErrorKind::kData, name + " is no .npy file");
}

/// Column-major to row-major.
std::vector<std::byte> transposed(std::span<const std::byte> data,
                                  const std::vector<std::int64_t>& dims, std::size_t item) {
  std::vector<std::byte> out(data.size());
  std::vector<std::int64_t> index(dims.size(), 0);
  const auto elements = static_cast<std::int64_t>(data.size() / item);
  for (std::int64_t i = 0; i < elements; ++i) {
    std::int64_t from = 0;
    for (std::size_t d = dims.size(); d-- > 0;) from = from * dims[d] + index[d];
    std::memcpy(out.data() + static_cast<std::size_t>(i) * item,
                data.data() + static_cast<std::size_t>(from) * item, item);
    for (std::size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

}  // namespace

std::int64_t NpyArray::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  return count;
}

NpyArray read_npy(const std::filesystem::path& path) {
  InputFile file(path);
  if (file.bytes()) return parse_npy(file.rest(*file.bytes()), path.string());
  // What is endless and no array is not read to a limit.
  std::vector<std::byte> bytes(kMagic.size());
  bytes.resize(file.read(bytes));
  expect_magic(bytes, path.string());
  const std::vector<std::byte> rest = file.rest(kMostPipedBytes);
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  return parse_npy(bytes, path.string());
}

NpyHeader parse_npy_header(std::span<const std::byte> file, const std::string& name) {
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
  expect_magic(file, name);
  if (bytes.size() < 10) throw Error(ErrorKind::kData, name + ": the .npy header is cut off");
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(file[i]); };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3)
    throw Error(ErrorKind::kData,
                name + ": .npy version " + std::to_string(version) + " is not 1, 2 or 3");
  const std::size_t start = version == 1 ? 10 : 12;
  if (bytes.size() < start) throw Error(ErrorKind::kData, name + ": the .npy header is cut off");
  const std::size_t length = version == 1
                                 ? byte(8) | byte(9) << 8
                                 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (length > bytes.size() - start)
    throw Error(ErrorKind::kData,
                name + ": the .npy header of " + std::to_string(length) + " bytes is cut off");
  NpyHeader header = HeaderParser(bytes.substr(start, length), name).parse();
  header.data_offset = start + length;
  return header;
}

NpyArray parse_npy(std::span<const std::byte> file, const std::string& name) {
  const NpyHeader header = parse_npy_header(file, name);
  const ElementType type = element_type(header.descr, name);
  NpyArray array{header.dims, type.dtype, {}};
  const auto expected =
      static_cast<std::size_t>(product(array.dims, name)) * item_bytes(array.dtype);
  const auto item = static_cast<std::ptrdiff_t>(item_bytes(array.dtype));
  const auto data = file.subspan(header.data_offset);
  if (data.size() != expected)
    throw Error(ErrorKind::kData, name + ": its shape needs " + std::to_string(expected) +
                                      " bytes of data, it has " + std::to_string(data.size()));
  if (header.is_fortran_order && array.dims.size() > 1)
    array.data = transposed(data, array.dims, item_bytes(array.dtype));
  else
    array.data.assign(data.begin(), data.end());
  if (type.is_big_endian)
    for (auto at = array.data.begin(); at != array.data.end(); at += item)
      std::reverse(at, at + item);
  return array;
}

void write_npy(const std::filesystem::path& path, const std::vector<std::int64_t>& dims,
               std::span<const float> values) {
  std::string shape;
  for (std::size_t i = 0; i < dims.size(); ++i)
    shape += (i > 0 ? ", " : "") + std::to_string(dims[i]);
  if (dims.size() == 1) shape += ',';
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::vector<std::byte> file(10 + header.size() + values.size_bytes());
  std::memcpy(file.data(), kMagic.data(), kMagic.size());
  file[6] = std::byte{1};
  file[8] = static_cast<std::byte>(header.size());
  file[9] = static_cast<std::byte>(header.size() >> 8);
  std::memcpy(file.data() + 10, header.data(), header.size());
  if (!values.empty())
    std::memcpy(file.data() + 10 + header.size(), values.data(), values.size_bytes());
  write_file(path, file);
}

Shape message_shape(const std::vector<std::int64_t>& dims, std::int64_t tokens) {
  if (tokens != 0 && (dims.size() != 2 || tokens < 0 || dims[0] % tokens != 0))
    throw Error(ErrorKind::kUsage,
                "--tokens " + std::to_string(tokens) + " needs a 2-D file with a multiple of " +
                    std::to_string(tokens) + " rows" +
                    (dims.size() == 2 ? ", this one has " + std::to_string(dims[0]) : ""));
  if (tokens != 0) return {dims[0] / tokens, tokens, dims[1]};
  if (dims.size() == 3) return {dims[0], dims[1], dims[2]};
  std::int64_t rest = 1;
  for (std::size_t i = dims.size() > 1 ? 1 : 0; i < dims.size(); ++i) rest *= dims[i];
  return {dims.size() > 1 ? dims[0] : 1, 1, rest};
}

}  // namespace tersor

// SPDX-License-Identifier: Apache-2.0
#include "common/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/error.hpp"
#include "common/files.hpp"
#include "common/json_parse.hpp"
#include "common/mapped_file.hpp"
#include "common/nearest.hpp"

namespace tersor {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kLongestHeader = 100'000'000;  // limit of the reference implementation

struct ItemSize {
  std::string_view dtype;
  std::uint64_t bytes;
};
constexpr ItemSize kItemSizes[] = {
    {"BOOL", 1}, {"U8", 1},  {"I8", 1},   {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"I16", 2},
    {"U16", 2},  {"F16", 2}, {"BF16", 2}, {"I32", 4},     {"U32", 4},     {"F32", 4},
    {"F64", 8},  {"I64", 8}, {"U64", 8},  {"F8_E8M0", 1}, {"C64", 8}};

std::string to_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::uint64_t read_little_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return value;
}

float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1Fu;
  const std::uint32_t mantissa = half & 0x3FFu;
  if (exponent == 0) {
    const float value = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -value : value;
  }
  const std::uint32_t wide = exponent == 0x1F ? 0xFFu : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | mantissa << 13);
}

/// Checks one header entry and gives the tensor; its bytes are still offsets into the data.
class HeaderReader {
 public:
  HeaderReader(std::string file, std::span<const std::byte> data)
      : file_(std::move(file)), data_(data) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::kData, file_ + ": " + what);
  }

  Json parse(std::span<const std::byte> header) const {
    const std::string_view text(reinterpret_cast<const char*>(header.data()), header.size());
    auto json = parse_json<Json>(text, file_ + ": header", 1, ErrorKind::kData, text.size());
    if (!json.is_object()) fail("the header is not a JSON object");
    return json;
  }

  SafeTensor tensor(const std::string& name, const Json& entry) const {
    const std::string who = "tensor '" + name + "': ";
    if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() ||
        !entry.contains("shape") || !entry["shape"].is_array() || !entry.contains("data_offsets") ||
        !entry["data_offsets"].is_array() || entry["data_offsets"].size() != 2)
      fail(who + "expected {\"dtype\": text, \"shape\": [..], \"data_offsets\": [begin, end]}");
    SafeTensor result;
    result.dtype = entry["dtype"].get<std::string>();
    const std::uint64_t elements = count(who, entry, result.shape);
    const std::uint64_t begin = natural(who + "data_offsets", entry["data_offsets"][0]);
    const std::uint64_t end = natural(who + "data_offsets", entry["data_offsets"][1]);
    if (begin > end || end > data_.size())
      fail(who + "data_offsets [" + std::to_string(begin) + ", " + std::to_string(end) +
           "] are not inside the " + std::to_string(data_.size()) +
           " bytes of data: is the file cut short?");
    // The size of a type that we do not know is the writer's word.
    const std::uint64_t wanted = item_bytes_of(result.dtype).value_or(0) * elements;
    if (item_bytes_of(result.dtype) && end - begin != wanted)
      fail(who + result.dtype + " of shape " + to_text(result.shape) + " needs " +
           std::to_string(wanted) + " bytes, data_offsets give " + std::to_string(end - begin));
    result.bytes = data_.subspan(begin, end - begin);
    return result;
  }

  /// Tensors lie one after the other without gap or overlap, as the format asks.
  void check_layout(const std::map<std::string, SafeTensor, std::less<>>& tensors) const {
    std::vector<std::pair<std::uint64_t, const std::pair<const std::string, SafeTensor>*>> order;
    for (const auto& item : tensors)
      order.emplace_back(static_cast<std::uint64_t>(item.second.bytes.data() - data_.data()),
                         &item);
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first, a.second->second.bytes.size()) <
             std::pair(b.first, b.second->second.bytes.size());
    });
    std::uint64_t expected = 0;
    for (const auto& [begin, item] : order) {
      if (begin != expected)
        fail("tensor '" + item->first + "' begins at byte " + std::to_string(begin) +
             " of the data, " + (begin < expected ? "inside another tensor" : "after a hole") +
             "; expected " + std::to_string(expected));
      expected = begin + item->second.bytes.size();
    }
    if (expected != data_.size())
      fail("the tensors end at byte " + std::to_string(expected) + " of " +
           std::to_string(data_.size()) + " bytes of data");
  }

 private:
  static std::optional<std::uint64_t> item_bytes_of(const std::string& dtype) {
    for (const ItemSize& item : kItemSizes)
      if (item.dtype == dtype) return item.bytes;
    return std::nullopt;
  }

  std::uint64_t natural(const std::string& who, const Json& value) const {
    if (!value.is_number_unsigned())
      fail(who + ": " + value.dump(-1, ' ', true, Json::error_handler_t::replace) +
           " is not a whole number from 0");
    return value.get<std::uint64_t>();
  }

  /// Elements of the shape; never more than the file can hold, so sizes cannot overflow.
  std::uint64_t count(const std::string& who, const Json& entry,
                      std::vector<std::int64_t>& shape) const {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 56;
    std::uint64_t elements = 1;
    for (const Json& size : entry["shape"]) {
      const std::uint64_t value = natural(who + "shape", size);
      if (value > kMost || (value > 0 && elements > kMost / value))
        fail(who + "shape " + entry["shape"].dump() + " is too large");
      elements *= value;
      shape.push_back(static_cast<std::int64_t>(value));
    }
    return elements;
  }

  std::string file_;
  std::span<const std::byte> data_;
};

}  // namespace

std::int64_t SafeTensor::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

struct SafeTensors::Impl {
  explicit Impl(const std::filesystem::path& path) : file(path), name(path.string()) {
    const std::span<const std::byte> all = file.bytes();
    const auto fail = [&](const std::string& what) {
      throw Error(ErrorKind::kData, name + ": " + what);
    };
    if (all.size() < kLengthBytes)
      fail(std::to_string(all.size()) + " bytes are no safetensors file: cut short?");
    const std::uint64_t length = read_little_endian(all.first(kLengthBytes));
    if (length > kLongestHeader || length > all.size() - kLengthBytes)
      fail("header of " + std::to_string(length) + " bytes in a file of " +
           std::to_string(all.size()) + ": cut short, or no safetensors file");
    const HeaderReader reader(name, all.subspan(kLengthBytes + length));
    const Json header = reader.parse(all.subspan(kLengthBytes, length));
    for (const auto& [key, entry] : header.items()) {
      if (key != "__metadata__") {
        tensors.emplace(key, reader.tensor(key, entry));
        continue;
      }
      if (!entry.is_object()) fail("__metadata__ is not an object of texts");
      for (const auto& [word, text] : entry.items()) {
        if (!text.is_string()) fail("__metadata__." + word + " is not a text");
        metadata.emplace(word, text.get<std::string>());
      }
    }
    reader.check_layout(tensors);
  }

  MappedFile file;
  std::string name;
  std::map<std::string, SafeTensor, std::less<>> tensors;
  std::map<std::string, std::string> metadata;
};

SafeTensors::SafeTensors(const std::filesystem::path& file) : impl_(std::make_unique<Impl>(file)) {}
SafeTensors::~SafeTensors() = default;
SafeTensors::SafeTensors(SafeTensors&&) noexcept = default;
SafeTensors& SafeTensors::operator=(SafeTensors&&) noexcept = default;

bool SafeTensors::contains(std::string_view name) const { return impl_->tensors.contains(name); }
const std::map<std::string, SafeTensor, std::less<>>& SafeTensors::tensors() const {
  return impl_->tensors;
}
const std::map<std::string, std::string>& SafeTensors::metadata() const { return impl_->metadata; }

const SafeTensor& SafeTensors::at(std::string_view name) const {
  const auto found = impl_->tensors.find(name);
  if (found != impl_->tensors.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [other, tensor] : impl_->tensors) known.push_back(other);
  const std::string near = nearest_name(name, known);
  throw Error(ErrorKind::kData, impl_->name + ": no tensor '" + std::string(name) + "' among " +
                                    std::to_string(known.size()) +
                                    (near.empty() ? "" : "; the nearest name is '" + near + "'"));
}

std::vector<float> SafeTensors::floats(std::string_view name,
                                       std::span<const std::int64_t> shape) const {
  const SafeTensor& tensor = at(name);
  const std::string who = impl_->name + ": tensor '" + std::string(name) + "': ";
  if (!shape.empty() &&
      !std::equal(shape.begin(), shape.end(), tensor.shape.begin(), tensor.shape.end()))
    throw Error(ErrorKind::kData, who + "shape " + to_text(tensor.shape) + ", expected " +
                                      to_text({shape.begin(), shape.end()}));
  std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
  const bool is_wide = tensor.dtype == "F32";
  if (!is_wide && tensor.dtype != "F16" && tensor.dtype != "BF16")
    throw Error(ErrorKind::kData, who + "dtype " + tensor.dtype + ", expected F32, F16 or BF16");
  const std::size_t item = is_wide ? 4 : 2;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits =
        static_cast<std::uint32_t>(read_little_endian(tensor.bytes.subspan(i * item, item)));
    if (is_wide)
      values[i] = std::bit_cast<float>(bits);
    else
      values[i] = tensor.dtype == "BF16" ? std::bit_cast<float>(bits << 16)
                                         : half_to_float(static_cast<std::uint16_t>(bits));
  }
  return values;
}

void write_safetensors(const std::filesystem::path& path,
                       std::span<const std::pair<std::string, TensorView>> tensors,
                       const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header;
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t end = 0;
  for (const auto& [name, view] : tensors) {
    const std::size_t begin = end;
    end += view.bytes();
    const char* dtype = view.dtype == DType::kFloat32   ? "F32"
                        : view.dtype == DType::kFloat16 ? "F16"
                                                        : "BF16";
    header[name] = {{"dtype", dtype},
                    {"shape", {view.shape.samples, view.shape.tokens, view.shape.hidden}},
                    {"data_offsets", {begin, end}}};
  }
  std::string text = header.is_null() ? "{}" : header.dump();
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');  // data is aligned
  std::vector<std::byte> file(kLengthBytes + text.size() + end);
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    file[i] = static_cast<std::byte>(text.size() >> (8 * i));
  std::memcpy(file.data() + kLengthBytes, text.data(), text.size());
  std::byte* to = file.data() + kLengthBytes + text.size();
  for (const auto& [name, view] : tensors) {
    if (view.bytes() > 0) std::memcpy(to, view.data, view.bytes());
    to += view.bytes();
  }
  write_file(path, file);
}

}  // namespace tersor

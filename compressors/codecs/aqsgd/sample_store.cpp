// SPDX-License-Identifier: Apache-2.0
#include "compressors/codecs/aqsgd/sample_store.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include <unistd.h>

#include "common/error.hpp"

namespace tersor::compressors {
namespace {

[[noreturn]] void fail(const char* what) {
  throw Error(ErrorKind::kIo, std::string("aqsgd: temporary file: ") + what + ": " +
                                  std::strerror(errno) + "; TMPDIR chooses its folder");
}

std::FILE* open_unnamed() {
  const char* folder = std::getenv("TMPDIR");
  std::string path =
      std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/tersor-aqsgd-XXXXXX";
  const int descriptor = mkstemp(path.data());
  if (descriptor < 0) fail("open");
  unlink(path.c_str());
  std::FILE* file = fdopen(descriptor, "w+b");
  if (file == nullptr) fail("open");
  return file;
}

}  // namespace

SampleStore::SampleStore(bool is_in_file) {
  if (is_in_file) file_.reset(open_unnamed());
}

void SampleStore::put(std::int64_t id, std::span<const std::byte> data) {
  if (memory_ != nullptr) {
    place(id, data.size());
    places_.at(id).on_device.copy_in(data.data());
    return;
  }
  Place& place = places_[id];
  place.size = data.size();
  if (!file_) {
    place.data.assign(data.begin(), data.end());
    return;
  }
  if (place.room < data.size()) {
    place.offset = file_end_;
    place.room = data.size();
    file_end_ += static_cast<std::int64_t>(data.size());
  }
  if (pwrite(fileno(file_.get()), data.data(), data.size(), place.offset) !=
      static_cast<ssize_t>(data.size()))
    fail("write");
}

std::span<const std::byte> SampleStore::get(std::int64_t id, std::vector<std::byte>& buffer) const {
  const Place& place = places_.at(id);
  if (memory_ != nullptr) {
    buffer.resize(place.size);
    place.on_device.copy_out(buffer.data());
    return buffer;
  }
  if (!file_) return place.data;
  buffer.resize(place.size);
  if (pread(fileno(file_.get()), buffer.data(), place.size, place.offset) !=
      static_cast<ssize_t>(place.size))
    fail("read");
  return buffer;
}

void SampleStore::move_to(DeviceMemory& memory) {
  if (file_) throw Error(ErrorKind::kUnsupported, "aqsgd: store=file keeps samples on the host");
  memory_ = &memory;
  for (auto& [id, place] : places_) {
    place.on_device = DeviceArray(memory, place.size);
    place.on_device.copy_in(place.data.data());
    place.data.clear();
  }
}

std::span<std::byte> SampleStore::place(std::int64_t id, std::size_t bytes) {
  Place& place = places_[id];
  place.size = bytes;
  if (!place.on_device || place.on_device.bytes() != bytes)
    place.on_device = DeviceArray(*memory_, bytes);
  return {place.on_device.data(), bytes};
}

std::span<std::byte> SampleStore::on_device(std::int64_t id) const {
  const Place& place = places_.at(id);
  return {place.on_device.data(), place.size};
}

std::vector<std::int64_t> SampleStore::ids() const {
  std::vector<std::int64_t> out;
  for (const auto& [id, place] : places_) out.push_back(id);
  return out;
}

std::size_t SampleStore::bytes() const {
  std::size_t bytes = 0;
  for (const auto& [id, place] : places_) bytes += place.size;
  return bytes;
}

void SampleStore::clear() {
  places_.clear();
  file_end_ = 0;
}

}  // namespace tersor::compressors

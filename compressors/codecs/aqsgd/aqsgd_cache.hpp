// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "compressors/codecs/aqsgd/aqsgd.hpp"
#include "compressors/codecs/aqsgd/sample_store.hpp"
#include "compressors/wire/bits.hpp"
#include "compressors/wire/floats.hpp"

namespace tersor::compressors {

/// One sample of a message, a tensor {1, tokens, hidden}.
struct AqSgd::Sample {
  std::int64_t id = 0;
  Shape shape;
  std::size_t first = 0;  ///< element of the message
  std::size_t elements = 0;
};

/// The samples that one side has stored; the bytes are in the cache's format.
class AqSgd::Cache {
 public:
  explicit Cache(bool is_in_file) : store(is_in_file) {}
  bool has(std::int64_t id) const { return store.contains(id); }

  SampleStore store;
};

class AqSgd::CacheState final : public State {
 public:
  explicit CacheState(const AqSgdOptions& options)
      : sender(options.is_in_file),
        receiver(options.is_in_file),
        is_float32_(options.format == AqSgdOptions::Format::kFloat32),
        item_bytes_(is_float32_                                        ? 4
                    : options.format == AqSgdOptions::Format::kFloat16 ? 2
                                                                       : 1) {}

  void move_to(DeviceMemory& memory) override {
    sender.store.move_to(memory);
    receiver.store.move_to(memory);
  }

  std::size_t bytes() const override { return sender.store.bytes() + receiver.store.bytes(); }

  // Per side: count, then (id, size, bytes) of each sample.
  std::vector<std::byte> save() const override {
    std::vector<std::byte> out;
    std::vector<std::byte> buffer;
    const auto put = [&out](std::uint64_t value) {
      const auto raw = std::as_bytes(std::span(&value, 1));
      out.insert(out.end(), raw.begin(), raw.end());
    };
    for (const Cache* side : {&sender, &receiver}) {
      const auto ids = side->store.ids();
      put(ids.size());
      for (const std::int64_t id : ids) {
        const auto data = side->store.get(id, buffer);
        put(static_cast<std::uint64_t>(id));
        put(data.size());
        out.insert(out.end(), data.begin(), data.end());
        if (is_float32_) clear_non_finite(std::span(out).last(data.size()));
      }
    }
    return out;
  }

  void restore(std::span<const std::byte> saved) override {
    struct Update {
      Cache* side;
      std::int64_t id;
      std::span<const std::byte> value;
    };
    std::vector<Update> all;
    PayloadReader reader(saved, "state");
    for (Cache* side : {&sender, &receiver}) {
      const auto count = load<std::uint64_t>(reader.take(8));
      for (std::uint64_t i = 0; i < count; ++i) {
        const auto id = load<std::int64_t>(reader.take(8));
        const auto size = load<std::uint64_t>(reader.take(8));
        if (size % item_bytes_ != 0)
          throw Error(ErrorKind::kPayload, "state: a sample of " + std::to_string(size) +
                                               " bytes is not of this cache's format");
        all.push_back({side, id, {reader.take(size), size}});
      }
    }
    reader.expect_end();
    sender.store.clear();
    receiver.store.clear();
    for (const Update& cached : all) cached.side->store.put(cached.id, cached.value);
  }

  Cache sender;
  Cache receiver;

 private:
  // On a device they wait in the cache until it is next read (float_kernels.cu).
  static void clear_non_finite(std::span<std::byte> values) {
    for (std::size_t i = 0; i + 4 <= values.size(); i += 4)
      store(values.data() + i, finite_or_zero(load<float>(values.data() + i)));
  }

  bool is_float32_;
  std::uint64_t item_bytes_;  // of a value; 1 for a codec's payload, which its decode checks
};

}  // namespace tersor::compressors

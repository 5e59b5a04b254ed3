// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace tersor::workloads {

/// Host memory that works in flight borrow and return, so that a step allocates nothing. It
/// outlives what it lends; not thread-safe.
class ScratchPool {
 public:
  class Lease {
   public:
    Lease(ScratchPool& pool, std::vector<std::byte> bytes)
        : pool_(&pool), bytes_(std::move(bytes)) {}
    ~Lease() {
      if (pool_) pool_->free_.push_back(std::move(bytes_));
    }
    Lease(Lease&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), bytes_(std::move(other.bytes_)) {}
    Lease& operator=(Lease&&) = delete;

    std::byte* data() { return bytes_.data(); }
    std::vector<std::byte>& bytes() { return bytes_; }

   private:
    ScratchPool* pool_;
    std::vector<std::byte> bytes_;
  };

  Lease lend(std::size_t size) {
    std::vector<std::byte> bytes;
    if (!free_.empty()) {
      bytes = std::move(free_.back());
      free_.pop_back();
    }
    bytes.resize(size);
    return {*this, std::move(bytes)};
  }

 private:
  std::vector<std::vector<std::byte>> free_;
};

}  // namespace tersor::workloads

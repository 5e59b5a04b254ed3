// SPDX-License-Identifier: Apache-2.0
#include "common/xxh64_stream.hpp"

#include <xxhash.h>

#include <new>

namespace tersor {
namespace {

XXH64_state_t* state_of(void* state) { return static_cast<XXH64_state_t*>(state); }

}  // namespace

Xxh64Stream::Xxh64Stream() : state_(XXH64_createState()) {
  if (!state_) throw std::bad_alloc();
  XXH64_reset(state_of(state_.get()), 0);
}

void Xxh64Stream::update(std::string_view bytes) {
  XXH64_update(state_of(state_.get()), bytes.data(), bytes.size());
}

std::uint64_t Xxh64Stream::digest() const { return XXH64_digest(state_of(state_.get())); }

void Xxh64Stream::FreeState::operator()(void* state) const noexcept {
  XXH64_freeState(state_of(state));
}

}  // namespace tersor

// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "compressors/api/plugin.hpp"
#include "compressors/c_api/message.hpp"
#include "compressors/c_api/tersor_codecs.h"
#include "compressors/spec/registry.hpp"
#include "compressors/tools/listing.hpp"

using tersor::Error;
using tersor::ErrorKind;
using namespace tersor::compressors;

struct tersor_codec {
  std::shared_ptr<const Codec> codec;
  std::string canonical;
  bool needs_state = false;
};

struct tersor_state {
  std::unique_ptr<State> state;
  // What it was made for:
  std::string codec;  // canonical
  tersor::Shape shape;
  tersor::DType dtype = tersor::DType::kFloat32;
  std::uint32_t ranks = 1;
};

namespace {

struct LastError {
  std::string text;
  int column = 0;
};

LastError& last_error() {
  thread_local LastError error;
  return error;
}

tersor_status status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage: return TERSOR_ERROR_USAGE;
    case ErrorKind::kSpec: return TERSOR_ERROR_SPEC;
    case ErrorKind::kPayload:
    case ErrorKind::kData: return TERSOR_ERROR_PAYLOAD;
    case ErrorKind::kMissing: return TERSOR_ERROR_MISSING;
    case ErrorKind::kUnsupported: return TERSOR_ERROR_UNSUPPORTED;
    default: return TERSOR_ERROR_INTERNAL;
  }
}

tersor_status fail(tersor_status status, const char* text, int column = 0) noexcept {
  try {
    last_error() = {text, column};
  } catch (...) {
    last_error().text.clear();  // no memory for the sentence: the status has to do
  }
  return status;
}

/// Runs a call; no exception leaves it.
template <class Call>
tersor_status guarded(Call&& call) noexcept {
  try {
    call();
    return TERSOR_OK;
  } catch (const Error& error) {
    return fail(status_of(error.kind()), error.what(), error.column());
  } catch (const std::bad_alloc&) {
    return fail(TERSOR_ERROR_MEMORY, "not enough memory");
  } catch (const std::exception& error) {
    return fail(TERSOR_ERROR_INTERNAL, error.what());
  }
}

void expect(bool condition, const char* message) {
  if (!condition) throw Error(ErrorKind::kUsage, message);
}

State* state_of(tersor_state* state) { return state == nullptr ? nullptr : state->state.get(); }
const State* state_of(const tersor_state* state) {
  return state == nullptr ? nullptr : state->state.get();
}

/// Whether a codec has a state from message to message, or between its rounds.
bool has_state(const Codec& codec) {
  try {
    return codec.make_state({4, 64, 64}, tersor::DType::kFloat32, 1) != nullptr;
  } catch (const Error&) {
    return false;  // it does not take this shape, and its own checks have to do
  }
}

std::string owner_text(const std::string& codec, const tersor::Shape& shape, tersor::DType dtype,
                       std::uint32_t ranks) {
  return codec + ", {" + std::to_string(shape.samples) + ", " + std::to_string(shape.tokens) +
         ", " + std::to_string(shape.hidden) + "} " + std::string(to_string(dtype)) + ", ranks " +
         std::to_string(ranks);
}

/// That the state is one of this codec for such messages. A codec may do without at this shape (a
/// closed gate).
void expect_state(const tersor_codec& codec, const tersor_state* state, const MessageParts& parts) {
  if (state != nullptr) {
    const std::uint32_t ranks = parts.context.ranks;
    if (state->codec == codec.canonical && state->shape == parts.shape &&
        state->dtype == parts.dtype && state->ranks == ranks)
      return;
    throw Error(
        ErrorKind::kUsage,
        "the state is for " + owner_text(state->codec, state->shape, state->dtype, state->ranks) +
            "; the message is for " + owner_text(codec.canonical, parts.shape, parts.dtype, ranks));
  }
  if (!codec.needs_state) return;
  expect(codec.codec->make_state(parts.shape, parts.dtype, parts.context.ranks) == nullptr,
         "this codec needs a state: ask tersor_state_create");
}

std::span<const std::byte> bytes_of(const void* data, std::size_t bytes) {
  expect(data != nullptr || bytes == 0, "payload is null");
  return {static_cast<const std::byte*>(data), bytes};
}

std::size_t elements_of(const MessageParts& parts) {
  return static_cast<std::size_t>(parts.shape.elements());
}

}  // namespace

extern "C" {

uint32_t tersor_abi_version(void) { return TERSOR_ABI_VERSION; }
const char* tersor_version(void) { return TERSOR_RELEASE; }
const char* tersor_last_error(void) { return last_error().text.c_str(); }
int32_t tersor_last_error_column(void) { return last_error().column; }

size_t tersor_codec_count(void) {
  std::size_t count = 0;
  guarded([&] { count = registered_codecs().size(); });
  return count;
}

const char* tersor_codec_name(size_t index) {
  const char* name = nullptr;
  guarded([&] {
    const auto& codecs = registered_codecs();
    expect(index < codecs.size(), "there are not that many codecs");
    name = std::next(codecs.begin(), static_cast<std::ptrdiff_t>(index))->first.c_str();
  });
  return name;
}

const char* tersor_list_json(void) {
  static std::string text;
  const char* list = nullptr;
  guarded([&] {
    static std::size_t codecs = 0;
    if (codecs != registered_codecs().size()) {
      text = list_codecs().dump(2);
      codecs = registered_codecs().size();
    }
    list = text.c_str();
  });
  return list;
}

tersor_status tersor_load_plugin(const char* path) {
  const tersor_status status = guarded([&] {
    expect(path != nullptr, "path is null");
    registered_codecs();  // those of the environment first
    load_plugin(path);
  });
  return status == TERSOR_ERROR_UNSUPPORTED ? TERSOR_ERROR_PLUGIN : status;
}

tersor_status tersor_codec_create(const char* spec, tersor_codec** codec) {
  return guarded([&] {
    expect(codec != nullptr, "codec is null");
    *codec = nullptr;
    expect(spec != nullptr, "spec is null");
    auto made = std::make_unique<tersor_codec>();
    made->codec = make_codec(spec);
    made->canonical = made->codec->canonical();
    made->needs_state = has_state(*made->codec);
    *codec = made.release();
  });
}

void tersor_codec_destroy(tersor_codec* codec) { delete codec; }

const char* tersor_codec_canonical(const tersor_codec* codec) {
  return codec == nullptr ? nullptr : codec->canonical.c_str();
}

tersor_status tersor_state_create(const tersor_codec* codec, const tersor_message* message,
                                  tersor_state** state) {
  return guarded([&] {
    expect(codec != nullptr && state != nullptr, "codec or state is null");
    *state = nullptr;
    const MessageParts parts = message_parts(message);
    auto made = std::make_unique<tersor_state>();
    made->state = codec->codec->make_state(parts.shape, parts.dtype, parts.context.ranks);
    made->codec = codec->canonical;
    made->shape = parts.shape;
    made->dtype = parts.dtype;
    made->ranks = parts.context.ranks;
    if (made->state != nullptr) *state = made.release();
  });
}

void tersor_state_destroy(tersor_state* state) { delete state; }

tersor_status tersor_state_save(const tersor_state* state, void* buffer, size_t capacity,
                                size_t* bytes) {
  return guarded([&] {
    expect(state != nullptr && bytes != nullptr, "state or bytes is null");
    expect(buffer != nullptr || capacity == 0, "buffer is null");
    const auto saved = state->state->save();
    *bytes = saved.size();
    if (capacity > 0) std::memcpy(buffer, saved.data(), std::min(capacity, saved.size()));
  });
}

tersor_status tersor_state_restore(tersor_state* state, const void* saved, size_t bytes) {
  return guarded([&] {
    expect(state != nullptr, "state is null");
    state->state->restore(bytes_of(saved, bytes));
  });
}

tersor_status tersor_payload_bytes(const tersor_codec* codec, const tersor_message* message,
                                   const tersor_state* state, size_t* bytes) {
  return guarded([&] {
    expect(codec != nullptr && bytes != nullptr, "codec or bytes is null");
    const MessageParts parts = message_parts(message);
    expect_state(*codec, state, parts);
    *bytes =
        codec->codec->payload_bytes(parts.shape, parts.dtype, parts.context, 0, state_of(state));
  });
}

tersor_status tersor_metadata_bytes(const tersor_codec* codec, const tersor_message* message,
                                    const tersor_state* state, size_t* bytes) {
  return guarded([&] {
    expect(codec != nullptr && bytes != nullptr, "codec or bytes is null");
    const MessageParts parts = message_parts(message);
    expect_state(*codec, state, parts);
    *bytes =
        codec->codec->metadata_bytes(parts.shape, parts.dtype, parts.context, 0, state_of(state));
  });
}

tersor_status tersor_workspace_bytes(const tersor_codec* codec, const tersor_message* message,
                                     size_t* bytes) {
  return guarded([&] {
    expect(codec != nullptr && bytes != nullptr, "codec or bytes is null");
    const MessageParts parts = message_parts(message);
    *bytes = codec->codec->workspace_bytes(parts.shape, parts.dtype, parts.context);
  });
}

tersor_status tersor_encode(const tersor_codec* codec, const tersor_message* message,
                            tersor_state* state, const void* tensor, void* payload, size_t capacity,
                            size_t* bytes) {
  return guarded([&] {
    expect(codec != nullptr && bytes != nullptr, "codec or bytes is null");
    const MessageParts parts = message_parts(message);
    expect_state(*codec, state, parts);
    expect(tensor != nullptr || elements_of(parts) == 0, "tensor is null");
    const std::size_t needed =
        codec->codec->payload_bytes(parts.shape, parts.dtype, parts.context, 0, state_of(state));
    expect(capacity >= needed && (payload != nullptr || needed == 0),
           "payload has no room: ask tersor_payload_bytes");
    *bytes = codec->codec->encode(0, {tensor, parts.shape, parts.dtype},
                                  {static_cast<std::byte*>(payload), needed}, state_of(state),
                                  parts.context);
  });
}

tersor_status tersor_decode(const tersor_codec* codec, const tersor_message* message,
                            tersor_state* state, const void* payload, size_t bytes, float* values) {
  return guarded([&] {
    expect(codec != nullptr, "codec is null");
    const MessageParts parts = message_parts(message);
    expect_state(*codec, state, parts);
    expect(values != nullptr || elements_of(parts) == 0, "values is null");
    codec->codec->decode(bytes_of(payload, bytes), parts.shape, parts.dtype,
                         {values, elements_of(parts)}, state_of(state), parts.context);
  });
}

tersor_status tersor_decode_tensor(const tersor_codec* codec, const tersor_message* message,
                                   tersor_state* state, const void* payload, size_t bytes,
                                   void* tensor) {
  return guarded([&] {
    expect(codec != nullptr, "codec is null");
    const MessageParts parts = message_parts(message);
    expect_state(*codec, state, parts);
    expect(tensor != nullptr || elements_of(parts) == 0, "tensor is null");
    codec->codec->decode_bits(bytes_of(payload, bytes), parts.shape, parts.dtype, tensor,
                              state_of(state), parts.context);
  });
}

tersor_status tersor_decode_accumulate(const tersor_codec* codec, const tersor_message* message,
                                       tersor_state* state, const void* payload, size_t bytes,
                                       float* values) {
  return guarded([&] {
    expect(codec != nullptr, "codec is null");
    const MessageParts parts = message_parts(message);
    expect_state(*codec, state, parts);
    expect(values != nullptr || elements_of(parts) == 0, "values is null");
    codec->codec->decode_accumulate(bytes_of(payload, bytes), parts.shape, parts.dtype,
                                    {values, elements_of(parts)}, state_of(state), parts.context);
  });
}

}  // extern "C"

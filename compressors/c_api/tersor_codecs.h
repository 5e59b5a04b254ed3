/* SPDX-License-Identifier: Apache-2.0 */
/* C interface to tersor's codecs (libtersor_codecs.so), for programs in any language and for plug-ins.
 *
 * Stable: functions and fields are added, never changed or removed, while TERSOR_ABI_VERSION stays; it is also the
 * soname. Handles are opaque. A structure begins with struct_size, its size where the caller was compiled: the
 * library reads that much of it and takes the rest as 0. No exception crosses; a function that can fail returns a
 * status, and tersor_last_error() has the sentence, of the calling thread. Texts are UTF-8 and end with 0.
 * Pointers stay the caller's; nothing is kept after a call, but for handles.
 * A codec may be used by many threads at once, a state by one. */
#ifndef TERSOR_CODECS_H
#define TERSOR_CODECS_H

#include <stddef.h>
#include <stdint.h>

#define TERSOR_ABI_VERSION 1u

#if defined(__GNUC__)
#define TERSOR_API __attribute__((visibility("default")))
#else
#define TERSOR_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tersor_status {
  TERSOR_OK = 0,
  TERSOR_ERROR_USAGE = 1,       /* an argument of the call: null, a wrong size, an index that is not there */
  TERSOR_ERROR_SPEC = 2,        /* a spec that cannot be parsed or composed; see tersor_last_error_column */
  TERSOR_ERROR_PAYLOAD = 3,     /* bytes that no encoder makes */
  TERSOR_ERROR_UNSUPPORTED = 4, /* valid, but not for this shape or in this build */
  TERSOR_ERROR_MISSING = 5,     /* a file that is not there */
  TERSOR_ERROR_PLUGIN = 6,      /* a shared object that is no plug-in of this version */
  TERSOR_ERROR_MEMORY = 7,
  TERSOR_ERROR_INTERNAL = 8     /* a defect of tersor */
} tersor_status;

typedef enum tersor_dtype { TERSOR_FLOAT32 = 0, TERSOR_FLOAT16 = 1, TERSOR_BFLOAT16 = 2 } tersor_dtype;

/* What both ends know of a message: a tensor {samples, tokens, hidden}, row-major, and where it stands. All fields
 * but the first four may be 0 (ranks 0 counts as 1, threads 0 as 1). */
typedef struct tersor_message {
  size_t struct_size; /* sizeof(tersor_message) */
  int64_t samples;
  int64_t tokens;
  int64_t hidden;
  uint32_t dtype;     /* tersor_dtype */
  uint32_t phase;     /* 0 train, 1 evaluation */
  uint64_t seed;
  uint32_t step;
  uint16_t call;      /* micro-batch in the step */
  uint16_t site;
  uint32_t direction; /* 0 forward, 1 backward */
  uint32_t rank;      /* encode: the sender; decode: whose payload it is */
  uint32_t ranks;
  uint32_t threads;
  const int64_t* sample_ids; /* null, or one per sample (aqsgd) */
  size_t sample_id_count;
  void* workspace;    /* null, or workspace_bytes bytes of scratch: then a call allocates nothing */
  size_t workspace_bytes;
  int64_t element_offset; /* index of this tensor's first element in the whole tensor */
  uint32_t second_round;  /* 1: round two of a two-step collective */
  uint32_t reserved;      /* 0 */
} tersor_message;

typedef struct tersor_codec tersor_codec;
typedef struct tersor_state tersor_state;

/* TERSOR_ABI_VERSION of the library, and its release, e.g. "0.1.0". */
TERSOR_API uint32_t tersor_abi_version(void);
TERSOR_API const char* tersor_version(void);

/* The last failure of this thread, "" if none; valid until the next failing call. The column (from 1) is that of the
 * mistake in a spec, else 0. */
TERSOR_API const char* tersor_last_error(void);
TERSOR_API int32_t tersor_last_error_column(void);

/* Registered codecs, by name; an index past the end gives null. tersor_list_json() has parameters, properties and
 * which are plug-ins (as "tersor list codecs --json"). All are valid until the next tersor_load_plugin. */
TERSOR_API size_t tersor_codec_count(void);
TERSOR_API const char* tersor_codec_name(size_t index);
TERSOR_API const char* tersor_list_json(void);

/* Loads a codec from a shared object (tersor_plugin.h) into the registry; it stays for the life of the process and is
 * labelled as a prototype. Not while another thread uses the library. */
TERSOR_API tersor_status tersor_load_plugin(const char* path);

/* Builds a codec from a spec such as "topk(ratio=0.01)"; *codec is the caller's to destroy. */
TERSOR_API tersor_status tersor_codec_create(const char* spec, tersor_codec** codec);
TERSOR_API void tersor_codec_destroy(tersor_codec* codec);
/* Valid as long as the codec. */
TERSOR_API const char* tersor_codec_canonical(const tersor_codec* codec);

/* State of a codec at one site and direction, for messages of this shape, dtype and ranks, starting from zero. *state is
 * null for codecs that have none; every function takes null there. The sender and the receiver have one each. A call with
 * a state of another codec (by its canonical spec), shape, dtype or ranks gives TERSOR_ERROR_USAGE. */
TERSOR_API tersor_status tersor_state_create(const tersor_codec* codec, const tersor_message* message,
                                             tersor_state** state);
TERSOR_API void tersor_state_destroy(tersor_state* state);
/* Copies at most `capacity` bytes; *bytes is how many the state has. buffer may be null with capacity 0. Restore takes
 * what a state of the same codec, shape and ranks saved; bytes that do not fit give TERSOR_ERROR_PAYLOAD and change
 * nothing. */
TERSOR_API tersor_status tersor_state_save(const tersor_state* state, void* buffer, size_t capacity, size_t* bytes);
TERSOR_API tersor_status tersor_state_restore(tersor_state* state, const void* saved, size_t bytes);

/* Bytes of the payload (an upper bound where sizes vary), the part of it that is metadata, and of the scratch. */
TERSOR_API tersor_status tersor_payload_bytes(const tersor_codec* codec, const tersor_message* message,
                                              const tersor_state* state, size_t* bytes);
TERSOR_API tersor_status tersor_metadata_bytes(const tersor_codec* codec, const tersor_message* message,
                                               const tersor_state* state, size_t* bytes);
TERSOR_API tersor_status tersor_workspace_bytes(const tersor_codec* codec, const tersor_message* message,
                                                size_t* bytes);

/* tensor: samples * tokens * hidden elements of dtype. Writes the payload of the first round to `payload` and its size
 * to *bytes; TERSOR_ERROR_USAGE where capacity is less than tersor_payload_bytes. */
TERSOR_API tersor_status tersor_encode(const tersor_codec* codec, const tersor_message* message, tersor_state* state,
                                       const void* tensor, void* payload, size_t capacity, size_t* bytes);
/* values: room for all elements, float32. */
TERSOR_API tersor_status tersor_decode(const tersor_codec* codec, const tersor_message* message, tersor_state* state,
                                       const void* payload, size_t bytes, float* values);
/* The same, rounded once to dtype. */
TERSOR_API tersor_status tersor_decode_tensor(const tersor_codec* codec, const tersor_message* message,
                                              tersor_state* state, const void* payload, size_t bytes, void* tensor);
/* values += decoded: the sum at a site, one rank after the other. */
TERSOR_API tersor_status tersor_decode_accumulate(const tersor_codec* codec, const tersor_message* message,
                                                  tersor_state* state, const void* payload, size_t bytes,
                                                  float* values);

#ifdef __cplusplus
}
#endif

#endif

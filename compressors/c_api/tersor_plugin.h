/* SPDX-License-Identifier: Apache-2.0 */
/* A codec in a shared object: a prototype that tersor's programs load (TERSOR_PLUGINS=FILE[:FILE..], or
 * tersor_load_plugin) beside their own codecs. It is labelled as a prototype wherever codecs are listed or recorded.
 *
 * The object exports tersor_plugin_entry. What it returns lives as long as the process. The rules of tersor_codecs.h
 * hold: no exception leaves a function, structures begin with their size. The codec has one round and no state,
 * crosses by gather, and its payload size follows from the message alone. Functions run on many threads at once. */
#ifndef TERSOR_PLUGIN_H
#define TERSOR_PLUGIN_H

#include "tersor_codecs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tersor_parameter_kind {
  TERSOR_PARAMETER_INTEGER = 0,
  TERSOR_PARAMETER_REAL = 1,
  TERSOR_PARAMETER_CHOICE = 2
} tersor_parameter_kind;

typedef struct tersor_parameter {
  size_t struct_size;
  const char* name;
  uint32_t kind;            /* tersor_parameter_kind */
  uint32_t reserved;        /* 0 */
  const char* default_text; /* as in a spec */
  double low;               /* integer, real: the allowed range, both ends included */
  double high;
  const char* const* choices; /* choice: the words, a null behind the last */
  const char* meaning;      /* one line */
} tersor_parameter;

/* What the codec promises (METHODS section 1, "Properties"). */
#define TERSOR_PROMISES_BIT_EXACT 1u    /* equal payloads on every machine and for any number of threads */
#define TERSOR_PROMISES_TOKEN_LOCAL 2u  /* a row's decode depends on that row alone */
#define TERSOR_PROMISES_SAMPLE_LOCAL 4u
#define TERSOR_PROMISES_LOSSLESS 8u

typedef struct tersor_plugin {
  size_t struct_size;  /* sizeof(tersor_plugin) */
  const char* name;    /* as in a spec: small letters, digits, underscores */
  uint32_t version;    /* raised when payload bytes change */
  uint32_t promises;   /* TERSOR_PROMISES_* */
  const char* summary; /* one line */
  const char* source;  /* paper and section */
  const tersor_parameter* parameters;
  size_t parameter_count;
  /* values: the checked value of each parameter, in order, as text. Returns null where they do not go together, and
   * writes why to `why` (why_bytes bytes, ends with 0). */
  void* (*create)(const char* const* values, char* why, size_t why_bytes);
  void (*destroy)(void* codec);
  /* Of a message that has elements. */
  size_t (*payload_bytes)(const void* codec, const tersor_message* message);
  size_t (*metadata_bytes)(const void* codec, const tersor_message* message);
  /* Writes payload_bytes(..) bytes. */
  void (*encode)(const void* codec, const tersor_message* message, const void* tensor, void* payload);
  /* payload has payload_bytes(..) bytes, of any content: writes all values and returns 0, or returns 1 where no
   * encoder makes these bytes. */
  int (*decode)(const void* codec, const tersor_message* message, const void* payload, float* values);
} tersor_plugin;

/* abi_version: TERSOR_ABI_VERSION of the program that asks. Null where the plug-in does not know that version. */
TERSOR_API const tersor_plugin* tersor_plugin_entry(uint32_t abi_version);

#ifdef __cplusplus
}
#endif

#endif

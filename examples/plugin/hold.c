/* SPDX-License-Identifier: Apache-2.0 */
/* hold(step=2): sends every step-th value of a row, and the receiver holds it until the next. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tersor_plugin.h"

typedef struct hold {
  int64_t step;
} hold;

static const tersor_parameter kParameters[] = {
    {sizeof(tersor_parameter), "step", TERSOR_PARAMETER_INTEGER, 0, "2", 1, 1024, NULL, "values that one stands for"}};

static void* create(const char* const* values, char* why, size_t why_bytes) {
  hold* codec = malloc(sizeof *codec);
  if (codec == NULL) {
    snprintf(why, why_bytes, "no memory");
    return NULL;
  }
  codec->step = strtoll(values[0], NULL, 10);
  return codec;
}

static size_t item_bytes(const tersor_message* message) { return message->dtype == TERSOR_FLOAT32 ? 4 : 2; }

static int64_t sent_per_row(const hold* codec, const tersor_message* message) {
  return (message->hidden + codec->step - 1) / codec->step;
}

static size_t payload_bytes(const void* codec, const tersor_message* message) {
  return (size_t)(message->samples * message->tokens * sent_per_row(codec, message)) * item_bytes(message);
}

static size_t metadata_bytes(const void* codec, const tersor_message* message) {
  (void)codec;
  (void)message;
  return 0;
}

static void encode(const void* codec, const tersor_message* message, const void* tensor, void* payload) {
  const int64_t step = ((const hold*)codec)->step;
  const size_t item = item_bytes(message);
  const char* row = tensor;
  char* out = payload;
  for (int64_t r = 0; r < message->samples * message->tokens; ++r, row += (size_t)message->hidden * item)
    for (int64_t i = 0; i < message->hidden; i += step, out += item) memcpy(out, row + (size_t)i * item, item);
}

static float from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static float float16_value(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
  const uint32_t exponent = half >> 10 & 31u;
  const uint32_t mantissa = half & 1023u;
  if (exponent == 0) return (sign != 0 ? -1.0f : 1.0f) * (float)mantissa * 0x1p-24f;
  return from_bits(sign | (exponent == 31 ? 255u : exponent + 112u) << 23 | mantissa << 13);
}

static float value_at(const char* from, uint32_t dtype) {
  uint16_t half;
  float value;
  if (dtype == TERSOR_FLOAT32) {
    memcpy(&value, from, sizeof value);
    return value;
  }
  memcpy(&half, from, sizeof half);
  return dtype == TERSOR_FLOAT16 ? float16_value(half) : from_bits((uint32_t)half << 16);
}

static int decode(const void* codec, const tersor_message* message, const void* payload, float* values) {
  const int64_t step = ((const hold*)codec)->step;
  const char* from = payload;
  for (int64_t r = 0; r < message->samples * message->tokens; ++r)
    for (int64_t i = 0; i < message->hidden; i += step, from += item_bytes(message)) {
      const int64_t end = i + step < message->hidden ? i + step : message->hidden;
      for (int64_t j = i; j < end; ++j) *values++ = value_at(from, message->dtype);
    }
  return 0;
}

static const tersor_plugin kPlugin = {
    sizeof(tersor_plugin),
    "hold",
    1,
    TERSOR_PROMISES_BIT_EXACT | TERSOR_PROMISES_TOKEN_LOCAL | TERSOR_PROMISES_SAMPLE_LOCAL,
    "every step-th value of a row, held until the next",
    "an example",
    kParameters,
    1,
    create,
    free,
    payload_bytes,
    metadata_bytes,
    encode,
    decode};

const tersor_plugin* tersor_plugin_entry(uint32_t abi_version) {
  return abi_version == TERSOR_ABI_VERSION ? &kPlugin : NULL;
}

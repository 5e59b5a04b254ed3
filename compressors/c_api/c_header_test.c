/* SPDX-License-Identifier: Apache-2.0 */
/* The headers are C, and the layout of version 1 stays: another compiler's caller depends on it. */
#include "tersor_plugin.h"

#define SAME(expression, value) _Static_assert((expression) == (value), #expression " is part of the interface")

SAME(sizeof(tersor_message), 120);
SAME(offsetof(tersor_message, samples), 8);
SAME(offsetof(tersor_message, dtype), 32);
SAME(offsetof(tersor_message, phase), 36);
SAME(offsetof(tersor_message, seed), 40);
SAME(offsetof(tersor_message, step), 48);
SAME(offsetof(tersor_message, call), 52);
SAME(offsetof(tersor_message, site), 54);
SAME(offsetof(tersor_message, direction), 56);
SAME(offsetof(tersor_message, rank), 60);
SAME(offsetof(tersor_message, ranks), 64);
SAME(offsetof(tersor_message, threads), 68);
SAME(offsetof(tersor_message, sample_ids), 72);
SAME(offsetof(tersor_message, sample_id_count), 80);
SAME(offsetof(tersor_message, workspace), 88);
SAME(offsetof(tersor_message, workspace_bytes), 96);
SAME(offsetof(tersor_message, element_offset), 104);
SAME(offsetof(tersor_message, second_round), 112);
SAME(sizeof(tersor_parameter), 64);
SAME(sizeof(tersor_plugin), 104);
SAME(TERSOR_ERROR_INTERNAL, 8);

/* A round trip written in C: the largest difference, or -1. */
double c_round_trip(const char* spec, const float* values, int64_t count, float* decoded) {
  tersor_codec* codec = NULL;
  unsigned char payload[1024];
  size_t bytes = 0;
  double largest = -1;
  tersor_message message = {.struct_size = sizeof message, .samples = 1, .tokens = 1, .hidden = count};
  if (tersor_codec_create(spec, &codec) != TERSOR_OK) return -1;
  if (tersor_encode(codec, &message, NULL, values, payload, sizeof payload, &bytes) == TERSOR_OK &&
      tersor_decode(codec, &message, NULL, payload, bytes, decoded) == TERSOR_OK) {
    largest = 0;
    for (int64_t i = 0; i < count; ++i) {
      const double difference = (double)values[i] - (double)decoded[i];
      const double size = difference < 0 ? -difference : difference;
      if (size > largest) largest = size;
    }
  }
  tersor_codec_destroy(codec);
  return largest;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Plug-ins that must be refused; TERSOR_BROKEN says which. */
#include <stdlib.h>
#include <string.h>

#include "tersor_plugin.h"

static void* create(const char* const* values, char* why, size_t why_bytes) {
  (void)values;
  strncpy(why, "never works", why_bytes);
  return NULL;
}
static size_t bytes(const void* codec, const tersor_message* message) {
  (void)codec;
  (void)message;
  return 1;
}
static void encode(const void* codec, const tersor_message* message, const void* tensor, void* payload) {
  (void)codec;
  (void)message;
  (void)tensor;
  (void)payload;
}
static int decode(const void* codec, const tersor_message* message, const void* payload, float* values) {
  (void)codec;
  (void)message;
  (void)payload;
  (void)values;
  return 1;
}

const tersor_plugin* tersor_plugin_entry(uint32_t abi_version) {
  static tersor_plugin plugin;
  static const tersor_parameter parameter = {
      sizeof(tersor_parameter), "bits", TERSOR_PARAMETER_INTEGER, 0, "many", 1, 8, NULL, "no number"};
  const char* how = getenv("TERSOR_BROKEN");
  const tersor_plugin whole = {sizeof plugin, "broken", 1,     0,    "",   "", NULL,
                               0,             create,   free,  bytes, bytes, encode, decode};
  (void)abi_version;
  plugin = whole;
  if (how == NULL) return &plugin;
  if (strcmp(how, "version") == 0) return NULL;
  if (strcmp(how, "size") == 0) plugin.struct_size = 8;
  if (strcmp(how, "name") == 0) plugin.name = "Broken Name";
  if (strcmp(how, "taken") == 0) plugin.name = "topk";
  if (strcmp(how, "function") == 0) plugin.decode = NULL;
  if (strcmp(how, "parameter") == 0) {
    plugin.parameters = &parameter;
    plugin.parameter_count = 1;
  }
  return &plugin;
}

// SPDX-License-Identifier: Apache-2.0
// libtersor_codecs.so as its users see it: nothing but the header is included.
#include "compressors/c_api/tersor_codecs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

extern "C" double c_round_trip(const char* spec, const float* values, std::int64_t count,
                               float* decoded);

namespace {

tersor_message message_of(std::int64_t samples, std::int64_t tokens, std::int64_t hidden) {
  tersor_message message{};
  message.struct_size = sizeof message;
  message.samples = samples;
  message.tokens = tokens;
  message.hidden = hidden;
  return message;
}

struct Codec {
  explicit Codec(const char* spec) { REQUIRE(tersor_codec_create(spec, &handle) == TERSOR_OK); }
  ~Codec() { tersor_codec_destroy(handle); }
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;
  tersor_codec* handle = nullptr;
};

std::vector<std::byte> encode(const Codec& codec, const tersor_message& message, const float* x,
                              tersor_state* state = nullptr) {
  std::size_t bytes = 0;
  REQUIRE(tersor_payload_bytes(codec.handle, &message, state, &bytes) == TERSOR_OK);
  std::vector<std::byte> payload(bytes);
  REQUIRE(tersor_encode(codec.handle, &message, state, x, payload.data(), bytes, &bytes) ==
          TERSOR_OK);
  payload.resize(bytes);
  return payload;
}

std::string listed(const char* name, const char* field) {
  const auto list = nlohmann::json::parse(tersor_list_json());
  for (const auto& codec : list.at("codecs"))
    if (codec.at("name") == name) return codec.value(field, "");
  return "not listed";
}

}  // namespace

TEST_CASE("c api: versions, list, canonical form") {
  CHECK(tersor_abi_version() == TERSOR_ABI_VERSION);
  CHECK(std::string(tersor_version()) == TERSOR_RELEASE);
  CHECK(tersor_codec_count() >= 20);
  CHECK(std::string(tersor_codec_name(0)) == "aqsgd");
  CHECK(tersor_codec_name(tersor_codec_count()) == nullptr);
  CHECK(std::string(tersor_last_error()) == "there are not that many codecs");
  const Codec codec("topk( index=ef, ratio=0.10 )");
  CHECK(std::string(tersor_codec_canonical(codec.handle)) == "topk(ratio=0.1,index=ef)");
}

TEST_CASE("c api: a payload by hand, decoded, accumulated, rounded") {
  const float x[] = {0.5f, -2.0f, 0.25f, 1.0f};
  const Codec codec("topk(k=1,index=u16)");
  const tersor_message message = message_of(1, 1, 4);
  const auto payload = encode(codec, message, x);
  const unsigned char expected[] = {1, 0, 0, 0, 0, 0xC0};  // index 1, -2.0f
  REQUIRE(payload.size() == sizeof expected);
  CHECK(std::memcmp(payload.data(), expected, sizeof expected) == 0);
  std::size_t metadata = 0;
  CHECK(tersor_metadata_bytes(codec.handle, &message, nullptr, &metadata) == TERSOR_OK);
  CHECK(metadata == 2);
  float y[4] = {9, 9, 9, 9};
  CHECK(tersor_decode(codec.handle, &message, nullptr, payload.data(), payload.size(), y) ==
        TERSOR_OK);
  CHECK(std::vector<float>(y, y + 4) == std::vector<float>{0, -2, 0, 0});
  CHECK(tersor_decode_accumulate(codec.handle, &message, nullptr, payload.data(), payload.size(),
                                 y) == TERSOR_OK);
  CHECK(std::vector<float>(y, y + 4) == std::vector<float>{0, -4, 0, 0});
  tersor_message half = message;
  half.dtype = TERSOR_BFLOAT16;
  const std::uint16_t bits[] = {0x3F80, 0, 0xC000, 0};
  std::size_t bytes = 0;
  std::byte sent[4];
  CHECK(tersor_encode(codec.handle, &half, nullptr, bits, sent, sizeof sent, &bytes) == TERSOR_OK);
  std::uint16_t back[4];
  CHECK(tersor_decode_tensor(codec.handle, &half, nullptr, sent, bytes, back) == TERSOR_OK);
  CHECK(back[2] == 0xC000);
  CHECK(back[0] == 0);
  float decoded[4];
  CHECK(c_round_trip("none", x, 4, decoded) == 0.0);
  CHECK(c_round_trip("quantize(bits=8)", x, 4, decoded) < 0.05);
}

TEST_CASE("c api: state is kept, saved and restored") {
  const std::vector<float> x{1.0f, 0.25f, 0.5f, -0.125f};
  const Codec codec("ef(topk(k=1))");
  const tersor_message message = message_of(1, 1, 4);
  tersor_state* state = nullptr;
  REQUIRE(tersor_state_create(codec.handle, &message, &state) == TERSOR_OK);
  REQUIRE(state != nullptr);
  encode(codec, message, x.data(), state);
  std::size_t bytes = 0;
  REQUIRE(tersor_state_save(state, nullptr, 0, &bytes) == TERSOR_OK);
  std::vector<std::byte> saved(bytes);
  REQUIRE(tersor_state_save(state, saved.data(), bytes, &bytes) == TERSOR_OK);
  const auto second = encode(codec, message, x.data(), state);  // 0.5 + 0.5 beats 1
  REQUIRE(tersor_state_restore(state, saved.data(), bytes) == TERSOR_OK);
  CHECK(encode(codec, message, x.data(), state) == second);
  CHECK(tersor_state_restore(state, saved.data(), bytes - 1) == TERSOR_ERROR_PAYLOAD);
  tersor_state_destroy(state);
  const Codec gate("gate(ef(quantize),min_bytes=1000)");  // closed for 16 bytes: nothing to keep
  CHECK(encode(gate, message, x.data(), nullptr).size() == 16);
  const Codec plain("none");
  CHECK(tersor_state_create(plain.handle, &message, &state) == TERSOR_OK);
  CHECK(state == nullptr);
}

TEST_CASE("c api: a state serves the codec and the messages that it was made for") {
  const std::vector<float> x(2 * 3 * 8, 1.0f);
  const Codec codec("ef(topk( k=1 ))");
  tersor_message message = message_of(2, 3, 8);
  tersor_state* state = nullptr;
  REQUIRE(tersor_state_create(codec.handle, &message, &state) == TERSOR_OK);
  const auto refused = [&](const Codec& other, const tersor_message& m, const std::string& of,
                           const std::string& asked) {
    std::byte payload[1024];
    float y[48] = {};
    std::size_t bytes = 99;
    const auto check = [&](tersor_status status) {
      CHECK(status == TERSOR_ERROR_USAGE);
      CHECK(std::string(tersor_last_error()) ==
            "the state is for " + of + "; the message is for " + asked);
    };
    check(tersor_payload_bytes(other.handle, &m, state, &bytes));
    check(tersor_metadata_bytes(other.handle, &m, state, &bytes));
    check(tersor_encode(other.handle, &m, state, x.data(), payload, sizeof payload, &bytes));
    CHECK(bytes == 99);
    check(tersor_decode(other.handle, &m, state, payload, 8, y));
    check(tersor_decode_tensor(other.handle, &m, state, payload, 8, y));
    check(tersor_decode_accumulate(other.handle, &m, state, payload, 8, y));
  };
  const std::string own = "ef(topk(k=1)), {2, 3, 8} float32, ranks 1";
  refused(Codec("ef21(topk(k=1))"), message, own, "ef21(topk(k=1)), {2, 3, 8} float32, ranks 1");
  refused(Codec("powersgd"), message, own, "powersgd, {2, 3, 8} float32, ranks 1");
  refused(Codec("none"), message, own, "none, {2, 3, 8} float32, ranks 1");
  refused(codec, message_of(2, 4, 6), own, "ef(topk(k=1)), {2, 4, 6} float32, ranks 1");
  tersor_message half = message;
  half.dtype = TERSOR_BFLOAT16;
  refused(codec, half, own, "ef(topk(k=1)), {2, 3, 8} bfloat16, ranks 1");
  tersor_message many = message;
  many.ranks = 2;
  refused(codec, many, own, "ef(topk(k=1)), {2, 3, 8} float32, ranks 2");
  message.ranks = 1;  // the same as 0
  message.step = 7;
  encode(Codec("ef(topk(k=1))"), message, x.data(), state);
  tersor_state_destroy(state);
}

TEST_CASE("c api: a saved state that does not fit is refused") {
  const Codec codec("powersgd(rank=3)");
  const tersor_message message = message_of(2, 3, 8);
  tersor_state* state = nullptr;
  REQUIRE(tersor_state_create(codec.handle, &message, &state) == TERSOR_OK);
  const std::vector<float> x(2 * 3 * 8, 1.0f);
  std::int64_t saved[3 + 8] = {2, 3, 8};  // vectors for rank 1
  CHECK(tersor_state_restore(state, saved, sizeof saved) == TERSOR_ERROR_PAYLOAD);
  saved[0] = saved[2] = std::int64_t{1} << 31;
  CHECK(tersor_state_restore(state, saved, 24) == TERSOR_ERROR_PAYLOAD);
  CHECK(tersor_state_restore(state, saved, 28) == TERSOR_ERROR_PAYLOAD);
  CHECK(encode(codec, message, x.data(), state).size() == 2 * 3 * 3 * sizeof(float));
  tersor_state_destroy(state);
}

TEST_CASE("c api: every mistake has its status, and nothing is written") {
  tersor_codec* none = nullptr;
  CHECK(tersor_codec_create("topk(ratio=1.5)", &none) == TERSOR_ERROR_SPEC);
  CHECK(std::string(tersor_last_error()).find("ratio 1.5 not in (0, 1]") != std::string::npos);
  CHECK(tersor_last_error_column() == 12);
  CHECK(none == nullptr);
  CHECK(tersor_codec_create(nullptr, &none) == TERSOR_ERROR_USAGE);
  CHECK(tersor_codec_create("none", nullptr) == TERSOR_ERROR_USAGE);
  tersor_codec_destroy(nullptr);
  const Codec codec("quantize");
  const float x[] = {1, 2, 3, 4};
  std::byte payload[64];
  std::size_t bytes = 99;
  tersor_message message = message_of(1, 1, 4);
  CHECK(tersor_encode(codec.handle, &message, nullptr, x, payload, 3, &bytes) ==
        TERSOR_ERROR_USAGE);
  CHECK(bytes == 99);
  CHECK(tersor_encode(codec.handle, nullptr, nullptr, x, payload, 64, &bytes) ==
        TERSOR_ERROR_USAGE);
  CHECK(tersor_encode(codec.handle, &message, nullptr, nullptr, payload, 64, &bytes) ==
        TERSOR_ERROR_USAGE);
  float y[4] = {7, 7, 7, 7};
  CHECK(tersor_decode(codec.handle, &message, nullptr, payload, 5, y) == TERSOR_ERROR_PAYLOAD);
  CHECK(y[0] == 7.0f);
  const auto refused = [&](auto change) {
    tersor_message bad = message_of(1, 1, 4);
    change(bad);
    return tersor_payload_bytes(codec.handle, &bad, nullptr, &bytes) == TERSOR_ERROR_USAGE;
  };
  CHECK(refused([](auto& m) { m.struct_size = 16; }));
  CHECK(refused([](auto& m) { m.hidden = -1; }));
  CHECK(refused([](auto& m) { m.samples = m.tokens = std::int64_t{1} << 40; }));
  CHECK(refused([](auto& m) { m.dtype = 3; }));
  CHECK(refused([](auto& m) { m.phase = 2; }));
  CHECK(refused([](auto& m) { m.direction = 2; }));
  CHECK(refused([](auto& m) { m.rank = 1; }));
  CHECK(refused([](auto& m) { m.sample_id_count = 3; }));
  tersor_message shorter = message;  // a caller of an older version
  shorter.struct_size = offsetof(tersor_message, seed);
  shorter.step = 0xFFFFFFFF;
  CHECK(tersor_payload_bytes(codec.handle, &shorter, nullptr, &bytes) == TERSOR_OK);
  const Codec u16("topk(k=1,index=u16)");
  const tersor_message wide = message_of(1, 1, 70000);
  CHECK(tersor_payload_bytes(u16.handle, &wide, nullptr, &bytes) == TERSOR_ERROR_UNSUPPORTED);
}

TEST_CASE("c api: a codec without the state that it needs is refused, whichever it is") {
  const auto list = nlohmann::json::parse(tersor_list_json());
  const tersor_message message = message_of(2, 64, 64);
  const std::vector<float> x(2 * 64 * 64, 1.0f);
  int needy = 0;
  for (const auto& entry : list.at("codecs")) {
    std::vector<std::string> specs = entry.at("examples");
    specs.push_back(entry.at("name"));
    for (const std::string& spec : specs) {
      tersor_codec* codec = nullptr;
      if (tersor_codec_create(spec.c_str(), &codec) != TERSOR_OK) continue;
      INFO(spec);
      tersor_state* state = nullptr;
      const bool is_needy =
          tersor_state_create(codec, &message, &state) == TERSOR_OK && state != nullptr;
      tersor_state_destroy(state);
      std::vector<std::byte> payload(1 << 20);
      std::size_t bytes = 0;
      const auto status =
          tersor_encode(codec, &message, nullptr, x.data(), payload.data(), payload.size(), &bytes);
      if (is_needy) CHECK(status != TERSOR_OK);
      needy += is_needy ? 1 : 0;
      tersor_codec_destroy(codec);
    }
  }
  CHECK(needy >= 5);
}

TEST_CASE("c api: a plug-in becomes a codec, labelled as a prototype") {
  CHECK(listed("hold", "name") == "not listed");
  REQUIRE(tersor_load_plugin(TERSOR_EXAMPLE_PLUGIN) == TERSOR_OK);
  CHECK(tersor_load_plugin(TERSOR_EXAMPLE_PLUGIN) == TERSOR_OK);  // it is there already
  CHECK(listed("hold", "prototype") == "hold.so");
  CHECK(listed("topk", "prototype").empty());
  CHECK(listed("hold", "signature") == "hold(step=2)");
  const float x[] = {1, 2, 3, 4, 5, -6, 7, 8, 9, 10};
  const Codec codec("hold(step=3)");
  const tersor_message message = message_of(1, 2, 5);
  CHECK(encode(codec, message, x).size() == 16);
  float y[10];
  const auto payload = encode(codec, message, x);
  REQUIRE(tersor_decode(codec.handle, &message, nullptr, payload.data(), 16, y) == TERSOR_OK);
  CHECK(std::vector<float>(y, y + 10) == std::vector<float>{1, 1, 1, 4, 4, -6, -6, -6, 9, 9});
  REQUIRE(tersor_decode_accumulate(codec.handle, &message, nullptr, payload.data(), 16, y) ==
          TERSOR_OK);
  CHECK(y[9] == 18.0f);
  CHECK(tersor_decode(codec.handle, &message, nullptr, payload.data(), 15, y) ==
        TERSOR_ERROR_PAYLOAD);
  tersor_codec* none = nullptr;
  CHECK(tersor_codec_create("hold(step=0)", &none) == TERSOR_ERROR_SPEC);
  const Codec inside("ef(hold(step=3))");  // wrappers take it like any other
  CHECK(std::string(tersor_codec_canonical(inside.handle)) == "ef(hold(step=3))");
}

TEST_CASE("c api: what is no plug-in is refused with the reason") {
  const auto refusal = [](const char* path, const char* how) {
    REQUIRE(::setenv("TERSOR_BROKEN", how, 1) == 0);
    CHECK(tersor_load_plugin(path) == TERSOR_ERROR_PLUGIN);
    return std::string(tersor_last_error());
  };
  using Catch::Contains;
  CHECK(tersor_load_plugin("nowhere.so") == TERSOR_ERROR_MISSING);
  CHECK(tersor_load_plugin(nullptr) == TERSOR_ERROR_USAGE);
  CHECK_THAT(refusal("CHANGELOG.md", ""), Contains("CHANGELOG.md"));
  CHECK_THAT(refusal(TERSOR_BROKEN_PLUGIN, "version"), Contains("does not know version 1"));
  CHECK_THAT(refusal(TERSOR_BROKEN_PLUGIN, "size"), Contains("8 bytes"));
  CHECK_THAT(refusal(TERSOR_BROKEN_PLUGIN, "name"), Contains("no name of small letters"));
  CHECK_THAT(refusal(TERSOR_BROKEN_PLUGIN, "taken"), Contains("'topk' already"));
  CHECK_THAT(refusal(TERSOR_BROKEN_PLUGIN, "function"), Contains("is missing"));
  CHECK_THAT(refusal(TERSOR_BROKEN_PLUGIN, "parameter"), Contains("bits's default is no integer"));
  REQUIRE(::setenv("TERSOR_BROKEN", "", 1) == 0);
  CHECK(tersor_load_plugin(TERSOR_BROKEN_PLUGIN) == TERSOR_OK);
  tersor_codec* none = nullptr;
  CHECK(tersor_codec_create("broken", &none) == TERSOR_ERROR_SPEC);
  CHECK_THAT(tersor_last_error(), Contains("never works"));
}

TEST_CASE("c api: a plug-in that others could have written is refused unless forced") {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() / ("tersor-plugin-" + std::to_string(::getpid()));
  fs::create_directory(folder);
  const fs::path plugin = folder / "copy.so";
  fs::copy_file(TERSOR_BROKEN_PLUGIN, plugin);
  REQUIRE(::setenv("TERSOR_BROKEN", "name", 1) == 0);
  const auto refusal = [&] {
    CHECK(tersor_load_plugin(plugin.c_str()) == TERSOR_ERROR_PLUGIN);
    return std::string(tersor_last_error());
  };
  using Catch::Contains;
  const auto trusted = Contains("no name of small letters");  // its code ran
  CHECK_THAT(refusal(), trusted);
  REQUIRE(::chmod(plugin.c_str(), 0666) == 0);
  CHECK_THAT(refusal(),
             Contains("copy.so may be written by all") && Contains("TERSOR_TRUST_PLUGINS"));
  REQUIRE(::chmod(plugin.c_str(), 0644) == 0);
  REQUIRE(::chmod(folder.c_str(), 01777) == 0);
  CHECK_THAT(refusal(), Contains("may be written by all"));
  REQUIRE(::setenv("TERSOR_TRUST_PLUGINS", "1", 1) == 0);
  CHECK_THAT(refusal(), trusted);
  REQUIRE(::unsetenv("TERSOR_TRUST_PLUGINS") == 0);
  REQUIRE(::chmod(folder.c_str(), 0700) == 0);
  if (::geteuid() == 0) {
    REQUIRE(::chown(plugin.c_str(), 65534, 65534) == 0);
    CHECK_THAT(refusal(), Contains("belongs to user 65534"));
  }
  fs::remove_all(folder);
}

// SPDX-License-Identifier: Apache-2.0
#include "compressors/api/plugin.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>

#include "common/error.hpp"
#include "common/number.hpp"
#include "compressors/api/workspace.hpp"
#include "compressors/base/leaf_codec.hpp"
#include "compressors/c_api/message.hpp"
#include "compressors/c_api/tersor_plugin.h"
#include "compressors/spec/registry.hpp"

namespace tersor::compressors {
namespace {

/// One codec of a plug-in, with its checked arguments.
class PluginCodec : public LeafCodec {
 public:
  PluginCodec(const tersor_plugin& plugin, void* codec, std::string canonical)
      : LeafCodec(std::move(canonical), Exchange::kGather), plugin_(plugin), codec_(codec) {}
  ~PluginCodec() override { plugin_.destroy(codec_); }
  PluginCodec(const PluginCodec&) = delete;
  PluginCodec& operator=(const PluginCodec&) = delete;

  Properties properties() const override {
    Properties p;
    p.bit_exact = promises(TERSOR_PROMISES_BIT_EXACT);
    if (!p.bit_exact) p.tolerance = 1e-3;
    p.lossless = promises(TERSOR_PROMISES_LOSSLESS);
    p.token_local = promises(TERSOR_PROMISES_TOKEN_LOCAL);
    p.sample_local = p.token_local || promises(TERSOR_PROMISES_SAMPLE_LOCAL);
    p.deterministic = false;  // nothing says that step and rank are not used
    p.nonfinite_spread = Spread::kTensor;
    return p;
  }

 private:
  bool promises(std::uint32_t what) const { return (plugin_.promises & what) != 0; }

  Sizes sizes(const Shape& shape, DType dtype) const override {
    const tersor_message message = c_message(shape, dtype, {});
    const std::size_t all = plugin_.payload_bytes(codec_, &message);
    const std::size_t metadata = plugin_.metadata_bytes(codec_, &message);
    if (metadata > all)
      throw Error(ErrorKind::kUnsupported, std::string(plugin_.name) + ": the plug-in counts " +
                                               std::to_string(metadata) + " bytes of metadata in " +
                                               std::to_string(all));
    return {metadata, all - metadata};
  }

  void write(const TensorView& in, std::byte* out, const Context& context) const override {
    const tersor_message message = c_message(in.shape, in.dtype, context);
    plugin_.encode(codec_, &message, in.data, out);
  }

  void read(const std::byte* payload, const Shape& shape, DType dtype, bool is_accumulated,
            float* out, const Context& context) const override {
    const tersor_message message = c_message(shape, dtype, context);
    const auto decode = [&](float* to) {
      if (plugin_.decode(codec_, &message, payload, to) != 0)
        throw Error(ErrorKind::kPayload,
                    std::string(plugin_.name) + ": the plug-in refuses the payload");
    };
    if (!is_accumulated) return decode(out);
    Scratch scratch(context);
    const auto values = scratch.take<float>(shape.elements());
    decode(values.data());
    for (std::size_t i = 0; i < values.size(); ++i) out[i] += values[i];
  }

  const tersor_plugin& plugin_;
  void* codec_;
};

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::kUnsupported, "plug-in " + path + ": " + why);
}

bool is_name(const char* text) {
  if (text == nullptr || *text < 'a' || *text > 'z') return false;
  return std::strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == std::strlen(text);
}

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

Parameter parameter_of(const tersor_parameter& from, const std::string& path) {
  if (from.struct_size < sizeof(tersor_parameter) || !is_name(from.name) ||
      from.default_text == nullptr)
    refuse(path, "a parameter without size, name or default");
  const std::string meaning = text_of(from.meaning);
  switch (from.kind) {
    case TERSOR_PARAMETER_INTEGER: {
      const auto value = parse_integer(from.default_text);
      if (!value) refuse(path, std::string(from.name) + "'s default is no integer");
      return Parameter::integer(from.name, *value, static_cast<std::int64_t>(from.low),
                                static_cast<std::int64_t>(from.high), meaning);
    }
    case TERSOR_PARAMETER_REAL:
      if (!parse_real(from.default_text))
        refuse(path, std::string(from.name) + "'s default is no number");
      return Parameter::real(from.name, from.default_text, from.low, from.high, false, meaning);
    case TERSOR_PARAMETER_CHOICE: {
      std::vector<std::string> words;
      for (const char* const* word = from.choices; word != nullptr && *word != nullptr; ++word)
        words.emplace_back(*word);
      if (std::find(words.begin(), words.end(), from.default_text) == words.end())
        refuse(path, std::string(from.name) + "'s default is none of its choices");
      return Parameter::choice(from.name, words, meaning, from.default_text);
    }
    default: refuse(path, std::string(from.name) + " is of an unknown kind");
  }
}

std::string value_text(const Parameter& parameter, const Arguments& arguments) {
  switch (parameter.kind) {
    case Parameter::Kind::kInteger: return std::to_string(arguments.integer(parameter.name));
    case Parameter::Kind::kReal: return format_number(arguments.real(parameter.name));
    default: return arguments.choice(parameter.name);
  }
}

std::shared_ptr<const Codec> make(const tersor_plugin& plugin,
                                  const std::vector<Parameter>& parameters,
                                  const Arguments& arguments) {
  std::vector<std::string> texts;
  for (const Parameter& parameter : parameters) texts.push_back(value_text(parameter, arguments));
  std::vector<const char*> values;
  for (const std::string& text : texts) values.push_back(text.c_str());
  char why[256] = "";
  void* codec = plugin.create(values.data(), why, sizeof why);
  if (codec == nullptr) {
    why[sizeof why - 1] = '\0';
    throw Error(ErrorKind::kSpec, std::string(plugin.name) + ": " + why);
  }
  return std::make_shared<PluginCodec>(plugin, codec, arguments.canonical());
}

CodecInfo info_of(const tersor_plugin& plugin, const std::string& path) {
  if (plugin.struct_size < sizeof(tersor_plugin))
    refuse(path, "its table has " + std::to_string(plugin.struct_size) + " bytes, " +
                     std::to_string(sizeof(tersor_plugin)) + " at least are needed");
  if (!is_name(plugin.name)) refuse(path, "its codec has no name of small letters");
  if (plugin.create == nullptr || plugin.destroy == nullptr || plugin.payload_bytes == nullptr ||
      plugin.metadata_bytes == nullptr || plugin.encode == nullptr || plugin.decode == nullptr)
    refuse(path, "a function of its table is missing");
  if (is_registered(plugin.name))
    refuse(path, "there is a codec or preset '" + std::string(plugin.name) + "' already");
  CodecInfo info;
  info.name = plugin.name;
  info.version = static_cast<int>(plugin.version);
  info.summary = text_of(plugin.summary);
  info.source = text_of(plugin.source);
  info.plugin = std::filesystem::path(path).filename().string();
  for (std::size_t i = 0; i < plugin.parameter_count; ++i)
    info.parameters.push_back(parameter_of(plugin.parameters[i], path));
  info.make = [&plugin, parameters = info.parameters](const Arguments& arguments) {
    return make(plugin, parameters, arguments);
  };
  return info;
}

/// Loading a file runs it. Throws where others than root and this user could have put it there:
/// by its owner, its mode, or that of a folder on its way.
void expect_trusted(const std::string& given, const std::filesystem::path& file) {
  const char* force = std::getenv("TERSOR_TRUST_PLUGINS");
  if (force != nullptr && std::string_view(force) == "1") return;
  for (std::filesystem::path at = file;; at = at.parent_path()) {
    struct stat status {};
    if (::stat(at.c_str(), &status) != 0) refuse(given, at.string() + ": " + std::strerror(errno));
    const auto distrust = [&](const std::string& why) {
      refuse(given, at.string() + " " + why +
                        ", so others may have put code of theirs there; move the plug-in, or set "
                        "TERSOR_TRUST_PLUGINS=1 to load it all the same");
    };
    const bool is_foreign = status.st_uid != 0 && status.st_uid != ::geteuid();
    if (is_foreign) distrust("belongs to user " + std::to_string(status.st_uid));
    // In a sticky folder (/tmp) nobody replaces what is not theirs, but anybody may add a file.
    const bool is_sticky = (status.st_mode & S_ISVTX) != 0;
    const bool is_far = at != file && at != file.parent_path();
    if ((status.st_mode & S_IWOTH) != 0 && !(is_sticky && is_far))
      distrust("may be written by all");
    if (at == at.root_path()) return;
  }
}

}  // namespace

void load_plugin(const std::string& path) {
  static std::set<std::string> loaded;
  std::error_code failure;
  const auto file = std::filesystem::canonical(path, failure);
  if (failure) throw Error(ErrorKind::kMissing, "plug-in " + path + ": no such file");
  if (loaded.contains(file.string())) return;
  expect_trusted(path, file);
  // Never closed: codecs of it may live until the process ends.
  void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) refuse(path, text_of(::dlerror()));
  using Entry = const tersor_plugin* (*)(std::uint32_t);
  const auto entry = reinterpret_cast<Entry>(::dlsym(handle, "tersor_plugin_entry"));
  if (entry == nullptr) refuse(path, "it exports no tersor_plugin_entry");
  const tersor_plugin* plugin = entry(TERSOR_ABI_VERSION);
  if (plugin == nullptr)
    refuse(path,
           "it does not know version " + std::to_string(TERSOR_ABI_VERSION) + " of the interface");
  CodecRegistrar(info_of(*plugin, file.string()));
  loaded.insert(file.string());
}

void load_plugins_of_environment() {
  const char* given = std::getenv("TERSOR_PLUGINS");
  std::string rest = text_of(given);
  while (!rest.empty()) {
    const std::size_t end = rest.find(':');
    const std::string path = rest.substr(0, end);
    if (!path.empty()) load_plugin(path);
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
  }
}

}  // namespace tersor::compressors

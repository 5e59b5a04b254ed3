// SPDX-License-Identifier: Apache-2.0
#include "compressors/spec/registry.hpp"
#include "compressors/spec/check_spec.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "common/error.hpp"

using namespace tersor;
using namespace tersor::compressors;
namespace fs = std::filesystem;

namespace {

/// A codec that does nothing: it is there to be named in specs.
class Probe : public Codec {
 public:
  Probe(std::string canonical, bool is_learned)
      : canonical_(std::move(canonical)), is_learned_(is_learned) {}
  std::string canonical() const override { return canonical_; }
  Properties properties() const override {
    Properties p;
    p.learned = is_learned_;
    return p;
  }
  Exchange exchange(int) const override { return Exchange::kGather; }
  std::size_t payload_bytes(const Shape&, DType, const Context&, int, const State*) const override {
    return 0;
  }
  std::size_t metadata_bytes(const Shape&, DType, const Context&, int,
                             const State*) const override {
    return 0;
  }
  std::size_t encode(int, const TensorView&, std::span<std::byte>, State*,
                     const Context&) const override {
    return 0;
  }
  void decode(std::span<const std::byte>, const Shape&, DType, std::span<float>, State*,
              const Context&) const override {}

 private:
  std::string canonical_;
  bool is_learned_;
};

CodecInfo probe_info(const std::string& name, std::vector<Parameter> parameters) {
  CodecInfo info;
  info.name = name;
  info.parameters = std::move(parameters);
  info.make = [name](const Arguments& arguments) {
    return std::make_shared<Probe>(arguments.canonical(), name == "probe_learned");
  };
  return info;
}

CodecInfo probe_wrapper() {
  CodecInfo info =
      probe_info("probe_wrapper", {Parameter::codec("codec", "the wrapped codec"),
                                   Parameter::integer("block", 128, 1, 1024, "block")});
  info.refuses = [](std::string_view, std::string_view name, const Codec&) {
    return name == "probe" ? std::string("it takes no probe") : std::string();
  };
  return info;
}

CodecInfo probe_pair() {
  CodecInfo info =
      probe_info("probe_pair", {Parameter::codec("inner", ""), Parameter::codec("outer", "")});
  info.is_outermost = true;
  return info;
}

CodecInfo probe_cache() {
  Parameter cache = Parameter::codec("cache", "");
  cache.default_text = "float32";
  cache.choices = {"float32", "float16"};
  return probe_info("probe_cache", {Parameter::codec("codec", ""), cache});
}

const CodecRegistrar kProbe(
    probe_info("probe", {Parameter::real("ratio", "0.01", 0, 1, true, "share"),
                         Parameter::optional_integer("k", 1, 2147483647, "count", "ratio"),
                         Parameter::choice("index", {"auto", "i64", "bitmap"}, "coding"),
                         Parameter::boolean("shared", true, "who draws"),
                         Parameter::integer("dim", 50, 1, 100, "size")}));
const CodecRegistrar kProbeSize(probe_info("probe_size", {Parameter::integer("dim", std::nullopt, 1,
                                                                             100, "size")}));
const CodecRegistrar kProbeLearned(probe_info("probe_learned", {}));
const CodecRegistrar kProbeWrapper(probe_wrapper());
const CodecRegistrar kProbePair(probe_pair());
const CodecRegistrar kProbeCache(probe_cache());
const PresetRegistrar kPreset({"probe_preset", "probe(ratio=0.5,index=i64)", "for this test"});

/// The message without the text that it points into.
std::string refusal(const std::string& spec) {
  try {
    make_codec(spec);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kSpec);
    const std::string text = error.what();
    return text.substr(0, text.find(" of '"));
  }
  return "accepted";
}

}  // namespace

TEST_CASE("canonical forms: declared order, no defaults, shortest numbers") {
  CHECK(canonical_spec(" probe ( ) ") == "probe");
  CHECK(canonical_spec("probe(index=auto, ratio=0.010, shared=true)") == "probe");
  CHECK(canonical_spec("probe(shared=false,ratio=1e-5)") == "probe(ratio=0.00001,shared=false)");
  CHECK(canonical_spec("probe(k=+007)") == "probe(k=7)");
  CHECK(canonical_spec("probe(ratio=1.0)") == "probe(ratio=1)");
  CHECK(canonical_spec("probe_preset") == "probe(ratio=0.5,index=i64)");
  CHECK(canonical_spec("probe_wrapper(probe_size(dim=3), block=128)") ==
        "probe_wrapper(probe_size(dim=3))");
  CHECK(canonical_spec("probe_pair(outer=probe,inner=none)") == "probe_pair(none,probe)");
  CHECK(canonical_spec("probe_cache(none,cache=float16)") == "probe_cache(none,cache=float16)");
  CHECK(canonical_spec("probe_cache(none,cache=float32)") == "probe_cache(none)");
  CHECK(canonical_spec("probe_cache(none,cache=probe(ratio=0.01))") ==
        "probe_cache(none,cache=probe)");
}

TEST_CASE("refusals name value, limit, nearest name and column") {
  CHECK(refusal("probe(ratio=1.5)") == "probe: ratio 1.5 not in (0, 1] (column 13");
  CHECK(refusal("probe(ratio=0)") == "probe: ratio 0 not in (0, 1] (column 13");
  CHECK(refusal("probe(ratio=nan)") == "probe: ratio 'nan' is no number (column 13");
  CHECK(refusal("probe(dim=0)") == "probe: dim 0 not in [1, 100] (column 11");
  CHECK(refusal("probe(dim=99999999999999999999)") ==
        "probe: dim 99999999999999999999 not in [1, 100] (column 11");
  CHECK(refusal("probe(dim=4.5)") == "probe: dim '4.5' is no integer (column 11");
  CHECK(refusal("probe(dim=4,dim=4)") == "probe: dim is given twice (column 13");
  CHECK(refusal("probe(k=2, ratio=0.1)") == "probe: give ratio or k, not both (column 12");
  CHECK(refusal("probe(indx=i64)").find("unknown parameter 'indx'; did you mean 'index'?") !=
        std::string::npos);
  CHECK(refusal("probe(index=bitmaps)").find("did you mean 'bitmap'?") != std::string::npos);
  CHECK(refusal("probr").find("unknown codec 'probr'; did you mean 'probe'?") != std::string::npos);
  CHECK(refusal("probe(7)").find("unexpected argument '7'") != std::string::npos);
  CHECK(refusal("probe(dim=probe(k=1))") == "probe: dim is no codec: 'probe(k=1)' (column 11");
  CHECK(refusal("probe_size") == "probe_size: dim is missing (column 11");
  CHECK(refusal("probe_wrapper") == "probe_wrapper: a codec (codec) is missing (column 14");
  CHECK(refusal("probe_wrapper(codec=none)").find("unknown parameter 'codec'") !=
        std::string::npos);
  CHECK(refusal("probe_wrapper(none,none)").find("unexpected argument 'none'") !=
        std::string::npos);
  CHECK(refusal("probe_wrapper(nope)").find("(column 15") != std::string::npos);
}

TEST_CASE("compositions: outermost only, nothing learned inside, the wrapper's own rule") {
  CHECK(refusal("probe_wrapper(probe_pair(none,none))") ==
        "probe_wrapper: probe_pair must stand outermost (column 15");
  CHECK(refusal("probe_wrapper(probe_learned)") ==
        "probe_wrapper: it takes no learned codec, and probe_learned is one (column 15");
  CHECK(refusal("probe_wrapper(probe(k=3))") == "probe_wrapper: it takes no probe (column 15");
  CHECK(refusal("probe_cache(none,cache=probe_learned)").find("no learned codec") !=
        std::string::npos);
  CHECK(refusal("probe_wrapper(none)") == "accepted");
}

TEST_CASE("arguments: defaults, absence and the wrong name") {
  const CheckedSpec checked = check_spec("probe(index=i64)");
  CHECK(checked.arguments.real("ratio") == 0.01);
  CHECK_FALSE(checked.arguments.optional_integer("k"));
  CHECK(checked.arguments.integer("dim") == 50);
  CHECK(checked.arguments.boolean("shared"));
  CHECK(checked.arguments.is_given("index"));
  CHECK_FALSE(checked.arguments.is_given("ratio"));
  CHECK_THROWS_AS(checked.arguments.integer("nope"), Error);
  CHECK_THROWS_AS(checked.arguments.integer("k"), Error);
  CHECK(check_spec("probe_cache(none)").arguments.codec("cache") == nullptr);
  CHECK(check_spec("probe_cache(none)").arguments.codec("codec")->canonical() == "none");
}

TEST_CASE("describe tells name, parameters, properties and what is wrapped") {
  const auto json = describe(*make_codec("probe_wrapper(probe_size(dim=3))"));
  CHECK(json["name"] == "probe_wrapper");
  CHECK(json["variant"] == "corrected");
  CHECK(json["params"]["block"] == 128);
  CHECK(json["params"]["codec"] == "probe_size(dim=3)");
  CHECK(json["inner"][0]["params"]["dim"] == 3);
  CHECK(json["properties"]["exchange"][0] == "gather");
  CHECK(json["strength"].is_null());
  CHECK(json["is_reference"] == false);
}

TEST_CASE("what codecs declare for tables is theirs, and one of all is the reference") {
  std::vector<std::string> references;
  for (const auto& [name, info] : registered_codecs()) {
    INFO(name);
    if (!info.reference.empty()) references.push_back(info.reference);
    if (info.strength)
      CHECK(std::any_of(info.parameters.begin(), info.parameters.end(),
                        [&](const Parameter& p) { return p.name == info.strength->parameter; }));
  }
  REQUIRE(references.size() == 1);
  CHECK(canonical_spec(references[0]) == references[0]);
  // METHODS, section 1: ratios are quoted against bfloat16.
  const auto reference = describe(*make_codec("cast(format=bf16)"));
  CHECK(reference["is_reference"] == true);
  CHECK(reference["strength"] == "format");
  CHECK(reference["stronger"].is_null());
  CHECK(describe(*make_codec("cast(format=fp16)"))["is_reference"] == false);
  const auto topk = describe(*make_codec("topk"));
  CHECK(topk["strength"] == "ratio");
  CHECK(topk["stronger"] == "lower");
  CHECK(describe(*make_codec("topk(k=5)"))["strength"] == "k");
}

TEST_CASE("every codec has a folder with a README, and every folder a codec") {
  std::set<std::string> folders;
  for (const auto& entry : fs::directory_iterator("compressors/codecs")) {
    const std::string name = entry.path().filename();
    if (!fs::exists(entry.path() / (name + ".cpp"))) continue;
    folders.insert(name);
    INFO(name);
    CHECK(fs::exists(entry.path() / "README.md"));
  }
  std::set<std::string> registered;
  for (const auto& [name, info] : registered_codecs())
    if (!name.starts_with("probe") && !name.starts_with("example")) registered.insert(name);
  CHECK(registered == folders);
  for (const auto& [name, preset] : registered_presets()) {
    INFO(name);
    CHECK_NOTHROW(make_codec(expand_presets(name, {8, 128, 1024}, DType::kFloat16)));
  }
}

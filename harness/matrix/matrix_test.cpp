// SPDX-License-Identifier: Apache-2.0
#include "harness/matrix/matrix.hpp"

#include <catch2/catch.hpp>
#include <cctype>
#include <set>
#include <utility>

#include "common/error.hpp"
#include "compressors/spec/registry.hpp"
#include "harness/matrix/run_filter.hpp"

using tersor::harness::JsonText;
using tersor::harness::load_profiles;
using tersor::harness::Matrix;
using tersor::harness::RunFilter;

namespace {

Matrix matrix(const std::string& text, bool allow_many = false) {
  return Matrix(JsonText(text, "m.json"), load_profiles(), allow_many);
}

std::string refusal(const std::string& text) {
  try {
    const Matrix made = matrix(text);
    return "accepted, with " + std::to_string(made.size()) + " runs";
  } catch (const tersor::Error& error) {
    CHECK(error.kind() == tersor::ErrorKind::kUsage);
    return error.what();
  }
}

std::vector<std::string> labels(const Matrix& made) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < made.size(); ++i) all.push_back(made.at(i).label);
  return all;
}

}  // namespace

TEST_CASE("a matrix is the product of its axes, seed by seed, then the includes") {
  const Matrix made = matrix(R"json({"name": "m",
    "defaults": {"model": "minilm-l6", "micro_batch": 8, "layers": "last:3"},
    "matrix": {"compressor": ["none", "topk(ratio=0.05)"], "hardware": ["cpu-tp1", "cpu-tp2"],
               "dataset": ["mrpc"], "stage": ["finetune"], "seed": [7, 5]},
    "exclude": [{"compressor": "topk(ratio=0.05)", "hardware": "cpu-tp1"}],
    "include": [{"compressor": "cast", "hardware": "cpu-tp4", "dataset": "sst2", "seed": 7},
                {"compressor": "cast", "hardware": "cpu-tp4", "dataset": "sst2", "seed": 9}]
})json");
  CHECK(labels(made) ==
        std::vector<std::string>{
            "none  mrpc  cpu-tp1  seed 7", "none  mrpc  cpu-tp2  seed 7",
            "topk(ratio=0.05)  mrpc  cpu-tp2  seed 7", "cast  sst2  cpu-tp4  seed 7",
            "none  mrpc  cpu-tp1  seed 5", "none  mrpc  cpu-tp2  seed 5",
            "topk(ratio=0.05)  mrpc  cpu-tp2  seed 5", "cast  sst2  cpu-tp4  seed 9"});
  CHECK(made.at(0).block == 0);
  CHECK(made.at(3).block == 0);
  CHECK(made.at(4).block == 1);
  CHECK(made.at(7).block == 2);
  const auto run = made.at(2);
  CHECK(run.cell.model.name == "minilm-l6");
  CHECK(run.cell.training.micro_batch == 8);
  CHECK(run.cell.compression.layers == "last:3");
  CHECK(run.cell.hardware.tp == 2);
  CHECK(run.cell.training.learning_rate == 1e-4);
  CHECK(made.at(3).cell.hardware.tp == 4);
}

TEST_CASE("specs are canonical, sweeps and presets are expanded, any key is an axis") {
  const Matrix made = matrix(R"json({"name": "m",
    "presets": {"small": {"tp": "topk(ratio=0.05)", "tp.backward": "quantize(bits=8)"},
                "tiny": "quantize(bits=2)"},
    "matrix": {"compressor": ["cast( format = bf16 )", "small", "tiny",
                              "topk(ratio={0.1, 0.2})",
                              {"tp": "quantize(bits={4,3})", "tp.backward": "{none,cast}"}],
               "learning_rate": [1e-4, 0.002], "dropout": 0.1}})json");
  CHECK(made.size() == 9 * 2);
  std::set<std::string> codecs;
  for (std::size_t i = 0; i < made.size(); ++i)
    codecs.insert(tersor::harness::compressor_label(made.at(i).cell.compression.codecs));
  CHECK(codecs == std::set<std::string>{
                      "cast", "topk(ratio=0.05) tp.backward=quantize", "quantize(bits=2)",
                      "topk(ratio=0.1)", "topk(ratio=0.2)", "quantize(bits=4)", "quantize(bits=3)",
                      "quantize(bits=4) tp.backward=cast", "quantize(bits=3) tp.backward=cast"});
  CHECK(made.at(1).label == "cast  synthetic  cpu-tp1  seed 1  learning_rate=0.002");
  CHECK(made.at(1).cell.model.dropout == 0.1);
}

TEST_CASE(
    "a grid is a profile or written in place, and one spec is its tensor and pipeline sites") {
  const Matrix made = matrix(R"json({"name": "m",
    "matrix": {"compressor": ["none", "topk(ratio=0.05)", {"pp.gradient": "sign"}],
               "hardware": ["cpu-tp2", {"base": "cpu", "tp": 2, "pp": 2},
                            {"base": "cpu-emulated-tp2", "pp": 3}]},
    "exclude": [{"compressor": "none", "hardware": "cpu-tp2-pp2"},
                {"compressor": "topk(ratio=0.05)", "hardware": "cpu-tp2"}],
    "include": [{"compressor": "sign", "hardware": "cpu-pp2"}]})json");
  CHECK(labels(made) ==
        std::vector<std::string>{
            "none  synthetic  cpu-tp2  seed 1", "none  synthetic  cpu-emulated-tp2-pp3  seed 1",
            "topk(ratio=0.05) pp=topk(ratio=0.05)  synthetic  cpu-tp2-pp2  seed 1",
            "topk(ratio=0.05) pp=topk(ratio=0.05)  synthetic  cpu-emulated-tp2-pp3  seed 1",
            "none pp.gradient=sign  synthetic  cpu-tp2  seed 1",
            "none pp.gradient=sign  synthetic  cpu-tp2-pp2  seed 1",
            "none pp.gradient=sign  synthetic  cpu-emulated-tp2-pp3  seed 1",
            "sign pp=sign  synthetic  cpu-pp2  seed 1"});
  const auto refused = [](const std::string& hardware) {
    return refusal(R"({"name": "m", "matrix": {"hardware": [)" + hardware + "]}}");
  };
  CHECK_THAT(refused("3"), Catch::Contains(R"({"base": "cpu", "tp": 2, "pp": 2})"));
  CHECK_THAT(refused(R"({"tp": 2})"), Catch::Contains("as its \"base\""));
  CHECK_THAT(refused(R"({"base": "cpu", "pp": 0})"),
             Catch::StartsWith("m.json:1:") && Catch::Contains("pp 0"));
  CHECK_THAT(refused(R"({"base": "cpu", "stages": 2})"), Catch::Contains("unknown key 'stages'"));
  CHECK_THAT(refused(R"({"base": "cpu", "tp": 2}, "cpu-tp2")"), Catch::Contains("stands twice"));
}

TEST_CASE("presets of the papers are written out for the cell, also in a filter") {
  const Matrix made = matrix(R"json({"name": "m", "defaults": {"sequence": 16, "micro_batch": 8},
    "matrix": {"compressor": ["T3", "ef(T3-bian)", "Q1"], "micro_batch": [8, 4]}})json");
  REQUIRE(made.size() == 6);
  CHECK(made.at(0).cell.compression.codecs.at("tp") == "topk(k=6400)");
  CHECK(made.at(1).cell.compression.codecs.at("tp") == "topk(k=3200)");
  CHECK(made.at(2).cell.compression.codecs.at("tp") == "ef(topk(k=6400,index=i64))");
  CHECK(made.at(4).cell.compression.codecs.at("tp") == "quantize(bits=2)");
  CHECK_THAT(made.at(1).label, Catch::StartsWith("T3  synthetic"));
  const tersor::harness::RunFilter filter({"compressor=T3"});
  CHECK(filter.matches(made.at(0)));
  CHECK(filter.matches(made.at(1)));
  CHECK_FALSE(filter.matches(made.at(2)));
}

TEST_CASE("the matrix all-codecs has every codec that may stand at a tensor site") {
  const Matrix all(Matrix::open("all-codecs"), load_profiles());
  std::set<std::string> words;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const auto& [site, spec] : all.at(i).cell.compression.codecs) {
      std::string word;
      for (const char c : spec + " ") {
        if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
          word += c;
        } else {
          words.insert(std::exchange(word, ""));
        }
      }
    }
  for (const auto& [name, info] : tersor::compressors::registered_codecs()) {
    INFO(name);
    CHECK(words.count(name) == (name == "aqsgd" ? 0 : 1));
  }
}

TEST_CASE("codecs that cannot stand at a tensor site are refused with the reason") {
  const auto with = [](const std::string& compressor) {
    return R"json({"name": "m", "matrix": {"compressor": )json" + compressor + "}}";
  };
  CHECK_THAT(refusal(with(R"json(["none", "aqsgd(topk)"])json")),
             Catch::StartsWith("m.json:1:49: aqsgd(topk) ") &&
                 Catch::Contains("is for pipeline sites, not for 'tp'"));
  CHECK_THAT(refusal(with(R"json({"tp.backward": "partial(none)"})json")),
             Catch::Contains("by themselves"));
  CHECK_THAT(refusal(with(R"json("hadamard(partial(none))")json")),
             Catch::Contains("write partial(hadamard(..))"));
}

TEST_CASE("mistakes in a matrix are pointed at, before anything starts") {
  const auto axis = [](const std::string& text) {
    return R"json({"name": "m", "matrix": {)json" + text + "}}";
  };
  // {"name": "m", "matrix": {  is 25 bytes long
  CHECK_THAT(refusal(axis(R"json("compressor": ["none", "tpok"])json")),
             Catch::StartsWith("m.json:1:50: ") && Catch::Contains("did you mean 'topk'?"));
  CHECK_THAT(refusal(axis(R"json("compressor": "topk(ratio=1.5)")json")),
             Catch::StartsWith("m.json:1:52: ") && Catch::Contains("ratio 1.5 not in (0, 1]"));
  CHECK_THAT(refusal(axis(R"json("compressor": "topk(rato=1)")json")), Catch::Contains("rato"));
  CHECK_THAT(refusal(axis(R"json("compressor": {"tq": "none"})json")),
             Catch::Contains("unknown site 'tq'"));
  CHECK_THAT(refusal(axis(R"json("compressor": [3])json")),
             Catch::Contains("must be a codec spec"));
  CHECK_THAT(refusal(axis(R"json("compressor": {"tp.backward": "autoencoder"})json")),
             Catch::Contains("learned codec cannot be used at the gradient site"));
  CHECK_THAT(refusal(axis(R"json("dataset": ["mrcp"])json")), Catch::Contains("mrpc"));
  CHECK_THAT(refusal(axis(R"json("dataset": ["wikitext-2"])json")),
             Catch::Contains("'wikitext-2' is running text for language models"));
  CHECK_THAT(refusal(axis(R"json("dataset": ["/some/text.txt"])json")),
             Catch::Contains("is running text for language models"));
  CHECK_THAT(refusal(axis(R"json("hardware": ["cpu-tp3"])json")),
             Catch::StartsWith("m.json:1:39: unknown hardware profile 'cpu-tp3'; did you mean "));
  CHECK_THAT(refusal(axis(R"json("model": ["bert"])json")),
             Catch::Contains("unknown model 'bert'"));
  CHECK_THAT(
      refusal(axis("\n  \"micro_bach\": [8]")),
      Catch::StartsWith("m.json:2:3: unknown key 'micro_bach'; did you mean 'micro_batch'?"));
  CHECK_THAT(refusal(axis("\n  \"micro_batch\": [8,\n 0]")),
             Catch::StartsWith("m.json:3:2: cell: micro_batch 0 not in [1, "));
  CHECK_THAT(refusal(axis(R"json("seed": [-1])json")),
             Catch::Contains("seed must be a whole number"));
  CHECK_THAT(refusal(axis(R"json("seed": [])json")), Catch::Contains("seed: an empty list"));
  CHECK_THAT(refusal(axis(R"json("compressor": ["topk(ratio={0.1,)"])json")),
             Catch::StartsWith("m.json:1:"));
  CHECK_THAT(refusal(R"json({"name": "m", "matrx": {}})json"),
             Catch::StartsWith("m.json:1:15: unknown key 'matrx'; did you mean 'matrix'?"));
  CHECK_THAT(refusal(R"json({"matrix": {"seed": 1}})json"), Catch::Contains("needs a \"name\""));
  CHECK_THAT(refusal(R"json({"name": "m", "defaults": {"seed": [1, 2]}})json"),
             Catch::Contains("a default is one value"));
  CHECK_THAT(refusal(R"json({"name": "m", "presets": {"topk": "cast"}})json"),
             Catch::Contains("would hide the codec"));
  CHECK_THAT(refusal(R"json({"name": "m"})json"), Catch::Contains("no run"));
  CHECK_THAT(refusal(R"json([])json"), Catch::Contains("is a JSON object"));
}

TEST_CASE("strings that would write to the terminal are refused") {
  CHECK_THAT(refusal("{\"name\": \"a\\u001b[31mXX\"}"),
             Catch::StartsWith("m.json:1:10: 'a\\x1b[31mXX' has a character that controls"));
  CHECK_THAT(refusal("{\"name\": \"a\\u202eb\"}"), Catch::Contains("'a\\xe2\\x80\\xaeb' has"));
  CHECK_THAT(refusal("{\"name\": \"a\",\n \"presets\": {\"\\u0000\": {}}}"),
             Catch::StartsWith("m.json:2:14: '\\x00' has"));
  CHECK_THAT(refusal("{\"name\": \"a\\nb\"}"), Catch::EndsWith("is one line without tabs"));
}

TEST_CASE("a text that is no JSON is refused with line and column") {
  CHECK_THAT(refusal("{\"name\": \"m\",\n  \"matrix\": {,}}"),
             Catch::StartsWith("m.json:2:14: not JSON"));
  CHECK_THAT(refusal(""), Catch::StartsWith("m.json:1:1: not JSON"));
  CHECK_THAT(refusal("{\"name\": \"m\", \"matrix\": {\"seed\": 1, \"seed\": 2}}"),
             Catch::StartsWith("m.json:1:37: the key \"seed\" is given twice"));
  CHECK_THAT(refusal(std::string(100, '[') + std::string(100, ']')),
             Catch::Contains("nested deeper"));
  CHECK_THAT(refusal("\xEF\xBB\xBF{\"name\": 1}"), Catch::Contains("needs a \"name\""));
  CHECK_THROWS_AS(Matrix::open("no/such/file.json"), tersor::Error);
  CHECK_THROWS_WITH(Matrix::open("quikstart"), Catch::Contains("did you mean 'quickstart'?"));
}

TEST_CASE("excludes and includes that contradict are refused") {
  const std::string axes =
      R"json("matrix": {"compressor": ["none", "cast"], "dataset": ["mrpc", "sst2"], "seed": [1, 2]})json";
  const auto with = [&](const std::string& rest) {
    return R"json({"name": "m", )json" + axes + ",\n" + rest + "}";
  };
  CHECK(refusal(with(
            R"json("exclude": [{"dataset": "mrpc", "compressor": "cast(format=bf16)"}])json")) ==
        "accepted, with 6 runs");
  CHECK(refusal(with(R"json("exclude": [{"dataset": "mrpc", "seed": [1, 2]}])json")) ==
        "accepted, with 4 runs");
  CHECK_THAT(
      refusal(with(R"json("exclude": [{"dataset": "cola"}])json")),
      Catch::StartsWith("m.json:2:25: contradictory exclude: no run of the matrix has dataset "
                        "'cola'"));
  CHECK_THAT(refusal(with(R"json("exclude": [{"sequence": 64}])json")),
             Catch::Contains("contradictory"));
  CHECK_THAT(refusal(with(R"json("exclude": [{"dataset": "sst3"}])json")), Catch::Contains("sst2"));
  CHECK_THAT(refusal(with(R"json("exclude": [{}])json")), Catch::Contains("takes every run away"));
  CHECK_THAT(refusal(with(R"json("exclude": [{"seed": [1, 2]}])json")),
             Catch::Contains("leaves no run"));
  CHECK_THAT(refusal(with(R"json("exclude": [{"dataset": "mrpc"}],
                             "include": [{"dataset": "mrpc", "sequence": 64}])json")),
             Catch::Contains("is taken away by exclude 1 at line 2"));
  CHECK_THAT(
      refusal(with(R"json("include": [{"compressor": "cast", "dataset": "mrpc", "seed": 2}])json")),
      Catch::Contains("is in the matrix already"));
  CHECK_THAT(refusal(with(R"json("include": [{"sequence": 64}, {"sequence": 64}])json")),
             Catch::Contains("given twice"));
  CHECK_THAT(
      refusal(R"json({"name": "m", "matrix": {"compressor": ["topk", "topk(ratio=0.01)"]}})json"),
      Catch::Contains("stands twice"));
}

TEST_CASE("ten million runs are refused with their count, and cost nothing before") {
  std::string seeds = "0";
  for (int seed = 1; seed < 10; ++seed) seeds.append(",").append(std::to_string(seed));
  std::string ratios = "0.001";
  for (int i = 2; i <= 1000; ++i)
    ratios.append(i < 1000 ? ",0." : ",1.").append(std::to_string(1000 + i).substr(1));
  const std::string text = R"json({"name": "m", "matrix": {"seed": [)json" + seeds + R"json(],
    "compressor": {"tp": "topk(ratio={)json" +
                           ratios + R"json(})", "tp.backward": "randk(ratio={)json" + ratios +
                           R"json(})"}}})json";
  CHECK_THAT(refusal(text), Catch::StartsWith("m.json:1:25: 10000000 runs (seed 10 x compressor "
                                              "1000000) before excludes: more than 10000 are "
                                              "refused; give --yes"));
  CHECK_THAT(
      refusal(R"json({"name": "m", "matrix": {"compressor": "topk(ratio={{1,1},{1,1,1}})"}})json"),
      Catch::Contains("stands twice"));

  std::string many = "0";
  for (int seed = 1; seed < 20000; ++seed) many.append(",").append(std::to_string(seed));
  const std::string large = R"json({"name": "m", "matrix": {"seed": [)json" + many + "]}}";
  CHECK_THAT(refusal(large), Catch::Contains("20000 runs (seed 20000)"));
  const Matrix made = matrix(large, true);
  CHECK(made.size() == 20000);
  CHECK(made.at(19999).seed == 19999);
  CHECK(made.at(19999).block == 19999);
}

TEST_CASE("filters choose runs") {
  const Matrix made = matrix(R"json({"name": "m", "matrix": {
    "compressor": ["none", "topk(ratio=0.1)", {"tp": "quantize(bits=4)", "tp.backward": "cast"}],
    "hardware": ["cpu-tp1", "cpu-tp2"], "seed": [1, 2]}})json");
  const auto count = [&](const std::vector<std::string>& expressions) {
    const RunFilter filter(expressions);
    std::size_t n = 0;
    for (std::size_t i = 0; i < made.size(); ++i) n += filter.matches(made.at(i)) ? 1 : 0;
    return n;
  };
  CHECK(count({}) == 12);
  CHECK(count({"seed=1"}) == 6);
  CHECK(count({"seed!=1"}) == 6);
  CHECK(count({"compressor=topk*"}) == 4);
  CHECK(count({"compressor=none,topk(ratio=0.10)", "hardware=cpu-tp2"}) == 4);
  CHECK(count({"compressor.tp.backward=cast(format=bf16)"}) == 4);
  CHECK(count({"hardware.tp=2", "compressor=quantize*"}) == 2);
  CHECK(count({"learning_rate=1e-4"}) == 12);  // 0.0001
  CHECK(count({"learning_rate=1e-5"}) == 0);
  CHECK(count({"clip=1"}) == 12);  // 1.0
  CHECK(count({"dataset=nothing"}) == 0);
  CHECK_THROWS_WITH(RunFilter({"sed=1"}), Catch::Contains("did you mean 'seed'?"));
  CHECK_THROWS_WITH(RunFilter({"topk"}), Catch::Contains("is not key=value"));
  CHECK_THROWS_AS(RunFilter({"compressor=tpok"}), tersor::Error);
}

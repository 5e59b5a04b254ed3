// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "common/error.hpp"
#include "compressors/spec/check_spec.hpp"
#include "compressors/spec/registry.hpp"

using namespace tersor;
using namespace tersor::compressors;

namespace {

std::string canonical(const std::string& preset, const Shape& shape, DType dtype) {
  return canonical_spec(expand_presets(preset, shape, dtype));
}

std::size_t payload(const std::string& spec, const Shape& shape, DType dtype) {
  return make_codec(spec)->payload_bytes(shape, dtype, {});
}

}  // namespace

// METHODS section 4, micro-batch 8 x 128 of BERT-Large: t = 1024 tokens, e = 50 and 100.
TEST_CASE("presets of Bian et al. are the specs of its notation") {
  const Shape shape{8, 128, 1024};
  const auto is = [&](const char* name, const char* spec) {
    CHECK(canonical(name, shape, DType::kFloat16) == spec);
  };
  is("A1", "autoencoder");
  is("A2-bian", "autoencoder(dim=100)");
  is("T1-bian", "topk(k=10240,index=i64)");
  is("T2-bian", "topk(k=20480,index=i64)");
  is("T3-bian", "topk(k=51200,index=i64)");
  is("T4-bian", "topk(k=102400,index=i64)");
  is("T3", "topk(k=51200)");
  is("T4", "topk(k=102400)");
  is("R1-bian", "randk(k=10240,shared=false,index=i64)");
  is("R4-bian", "randk(k=102400,shared=false,index=i64)");
  is("R1", "randk(k=51200)");
  is("R3", "randk(k=51200)");
  is("R2", "randk(k=102400)");
  is("Q1", "quantize(bits=2)");
  is("Q2-bian", "quantize(bits=4,variant=bian)");
  is("Q3", "quantize");
  is("P1-bian", "powersgd(rank=50,reduction=mean)");
  is("P2", "powersgd(rank=100)");
}

TEST_CASE("presets T1 and T2 as published have the autoencoder's bytes in float16") {
  for (const Shape& shape : {Shape{8, 128, 1024}, Shape{32, 512, 1024}, Shape{32, 128, 768}}) {
    const auto tokens = static_cast<std::size_t>(shape.rows());
    for (const auto& [name, dim] : {std::pair{"T1-bian", 50u}, {"T2-bian", 100u}})
      CHECK(payload(canonical(name, shape, DType::kFloat16), shape, DType::kFloat16) ==
            2 * tokens * dim);
  }
}

TEST_CASE("presets T1 and T2 corrected are the largest Top-K within the autoencoder's bytes") {
  const Shape shapes[] = {{8, 128, 1024}, {32, 32, 384}, {4, 8, 256}, {3, 5, 77}, {1, 1, 4096}};
  for (const Shape& shape : shapes)
    for (const DType dtype : {DType::kFloat32, DType::kFloat16})
      for (const auto& [name, dim] : {std::pair{"T1", 50u}, {"T2", 100u}}) {
        const std::string spec = canonical(name, shape, dtype);
        const std::int64_t k = check_spec(spec).arguments.optional_integer("k").value();
        INFO(name << " " << spec << " hidden " << shape.hidden);
        const std::size_t limit = static_cast<std::size_t>(shape.rows()) * dim * item_bytes(dtype);
        CHECK(payload(spec, shape, dtype) <= limit);
        if (k < shape.elements())
          CHECK(payload("topk(k=" + std::to_string(k + 1) + ")", shape, dtype) > limit);
      }
}

TEST_CASE("presets that depend on the message stand inside wrappers, and need a message") {
  CHECK(expand_presets("ef( T3 )", {1, 2, 64}, DType::kFloat32) == "ef(topk(k=100))");
  CHECK(expand_presets("ef(Q1)", {1, 2, 64}, DType::kFloat32) == "ef(Q1)");
  CHECK(canonical_spec("ef(Q1)") == "ef(quantize(bits=2))");
  CHECK(depends_on_message("gate(ef(T1))"));
  CHECK_FALSE(depends_on_message("gate(ef(Q1))"));
  CHECK_THROWS_WITH(make_codec("ef(T1)"), Catch::Contains("preset 'T1' depends on the message") &&
                                              Catch::Contains("column 4"));
}

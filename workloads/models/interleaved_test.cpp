// SPDX-License-Identifier: Apache-2.0
// Two micro-batches in flight: each has the draws, sample ids and caches that it would have alone.
#include <catch2/catch.hpp>
#include <map>

#include "workloads/stages/job_for_test.hpp"

using namespace tersor;
using namespace tersor::workloads;
using namespace tersor::workloads::testing;

namespace {

using Gradients = std::map<std::string, std::vector<float>>;

struct Recorded : MessageRecorder {
  void record(ErrorSample sample) override { errors.push_back(std::move(sample)); }
  void record(StoredMessage message) override { messages.push_back(std::move(message)); }
  std::vector<ErrorSample> errors;
  std::vector<StoredMessage> messages;
};

/// One micro-batch: its forward, its backward, and what they gave.
struct Flight {
  Flight(std::uint32_t the_step, std::uint16_t the_call) : step(the_step), call(the_call) {}

  void forward(Setup& setup) {
    datasets::Batch batch = make_random_batch(call, setup.config.training.micro_batch, 16);
    for (std::int64_t& id : batch.sample_ids) id += 100 * call;
    logits = setup.model->forward(batch, make_pass({.step = step,
                                                    .call = call,
                                                    .sample_ids = batch.sample_ids,
                                                    .samples_errors = true,
                                                    .stores_messages = true,
                                                    .recorder = recorded}));
  }

  void backward(Setup& setup) {
    logits.mul(logits).sum().backward();
    for (Parameter& parameter : setup.model->parameters().all()) {
      at::Tensor& gradient = parameter.value.mutable_grad();
      if (!gradient.defined()) continue;
      gradient = gradient.contiguous();
      const std::span<const float> values = floats_of(gradient);
      gradients[parameter.name + "@" + std::to_string(parameter.rank)].assign(values.begin(),
                                                                              values.end());
      gradient = at::Tensor();
    }
  }

  std::uint32_t step;
  std::uint16_t call;
  at::Tensor logits;
  Gradients gradients{};
  std::shared_ptr<Recorded> recorded = std::make_shared<Recorded>();
};

/// "FaFbBaBb": forwards and backwards of the two micro-batches a and b of one step.
void fly(Setup& setup, const std::string& order, Flight& a, Flight& b) {
  for (std::size_t i = 0; i < order.size(); i += 2) {
    Flight& flight = order[i + 1] == 'a' ? a : b;
    order[i] == 'F' ? flight.forward(setup) : flight.backward(setup);
  }
}

protocol::Cell config_of(const std::string& forward, const std::string& backward) {
  protocol::Cell config = make_config(forward);
  config.compression.codecs["tp.backward"] = backward;
  config.model.dropout = 0.1;
  return config;
}

void check_equal(const Flight& found, const Flight& expected) {
  CHECK(found.gradients == expected.gradients);
  const auto& messages = found.recorded->messages;
  REQUIRE(messages.size() == expected.recorded->messages.size());
  CHECK(messages.size() == 8);  // two sites in each of two layers, both ways
  for (std::size_t i = 0; i < messages.size(); ++i) {
    CHECK(messages[i].site_name == expected.recorded->messages[i].site_name);
    CHECK(messages[i].bits == expected.recorded->messages[i].bits);
  }
  const auto& errors = found.recorded->errors;
  REQUIRE(errors.size() == expected.recorded->errors.size());
  for (std::size_t i = 0; i < errors.size(); ++i) {
    CHECK(errors[i].step == expected.step);
    CHECK(errors[i].sum_relative_l2 == expected.recorded->errors[i].sum_relative_l2);
  }
}

const char* const kOrders[] = {"FaFbBaBb", "FaFbBbBa", "FbFaBaBb", "FbFaBbBa"};

}  // namespace

TEST_CASE("interleaved: draws are those of each micro-batch alone") {
  for (const char* spec :
       {"randk(ratio=0.3)", "randk(ratio=0.3,shared=false)", "quantize(bits=4,rounding=stochastic)",
        "twostep(quantize(bits=4,scope=token,rounding=stochastic))"}) {
    const protocol::Cell config = config_of(spec, spec);
    Setup first(2, config), second(2, config);
    Flight a(3, 0), b(3, 1);
    fly(first, "FaBa", a, b);
    fly(second, "FbBb", a, b);
    REQUIRE(a.gradients != b.gradients);
    for (const char* order : kOrders) {
      INFO(spec << " " << order);
      Setup setup(2, config);
      Flight c(3, 0), d(3, 1);
      fly(setup, order, c, d);
      check_equal(c, a);
      check_equal(d, b);
    }
  }
}

TEST_CASE("interleaved: channels of ranks' own stay with their micro-batch") {
  const protocol::Cell config =
      config_of("partial(quantize(bits=8,rounding=stochastic))", "quantize(rounding=stochastic)");
  Setup first(2, config), second(2, config);
  Flight a(3, 0), b(3, 1);
  fly(first, "FaBa", a, b);
  fly(second, "FbBb", a, b);
  for (const char* order : kOrders) {
    INFO(order);
    Setup setup(2, config);
    Flight c(3, 0), d(3, 1);
    fly(setup, order, c, d);
    CHECK(c.gradients == a.gradients);
    CHECK(d.gradients == b.gradients);
  }
}

// The residual is one per site and direction: it meets messages in the order in which they come.
TEST_CASE("interleaved: error feedback is that of the same messages one after the other") {
  const std::string spec = "ef(topk(ratio=0.1))";
  const auto check = [&](const protocol::Cell& config, const char* order, const char* alike) {
    INFO(order << " as " << alike);
    Setup expected_setup(2, config), setup(2, config);
    for (const std::uint32_t step : {0U, 1U}) {
      Flight a(step, 0), b(step, 1), c(step, 0), d(step, 1);
      fly(expected_setup, alike, a, b);
      fly(setup, order, c, d);
      check_equal(c, a);
      check_equal(d, b);
    }
  };
  check(config_of(spec, spec), "FaFbBaBb", "FaBaFbBb");
  check(config_of(spec, spec), "FbFaBbBa", "FbBbFaBa");
  check(config_of(spec, "randk(ratio=0.3)"), "FaFbBbBa", "FaBaFbBb");
  check(config_of("randk(ratio=0.3)", spec), "FaFbBbBa", "FbBbFaBa");
}

// A cell may not put aqsgd at a tensor site; its caches show whose sample ids a backward has.
TEST_CASE("interleaved: caches by sample are those of each micro-batch alone") {
  protocol::Cell config = config_of("aqsgd(topk(ratio=0.1))", "aqsgd(topk(ratio=0.1))");
  config.compression.loopback = true;
  Setup first(1, config), second(1, config);
  std::vector<Flight> alone_a, alone_b;
  for (const std::uint32_t step : {0U, 1U, 2U}) {
    Flight a(step, 0), b(step, 1);
    fly(first, "FaBa", a, b);
    fly(second, "FbBb", a, b);
    alone_a.push_back(a);
    alone_b.push_back(b);
  }
  REQUIRE(alone_a[1].gradients != alone_a[0].gradients);
  for (const char* order : kOrders) {
    Setup setup(1, config);
    for (const std::uint32_t step : {0U, 1U, 2U}) {
      INFO(order << " step " << step);
      Flight c(step, 0), d(step, 1);
      fly(setup, order, c, d);
      check_equal(c, alone_a[step]);
      check_equal(d, alone_b[step]);
    }
  }
}

TEST_CASE("interleaved: a call beyond 16 bits is refused, not cut") {
  CHECK(pass_call(65535) == 65535);
  CHECK_THROWS_WITH(pass_call(65536), Catch::Contains("65536"));
}

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "common/error.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/verify/suite/measures.hpp"

namespace tersor::compressors::suite {

void check_damaged_payloads(const Subject& subject) {
  if (subject.codec->rounds() > 1) return;  // a payload of one round alone has no decoded tensor
  const Context context = some_context();
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{3, 5, 7}, Shape{2, 2, 33}, Shape{1, 2, 129}}) {
    if (!takes(subject, shape, DType::kFloat16, context)) continue;
    const Tensor in = make_tensor(shape, DType::kFloat16, Fill::kNormal);
    INFO(describe(subject, in));
    const auto payload = encode(subject, in, context, make_state(subject, in, context).get());
    const auto try_decode = [&](const std::vector<std::byte>& damaged) {
      try {
        decode(subject, damaged, in, context, make_state(subject, in, context).get());
        return true;
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kPayload)
          FAIL_CHECK("a damaged payload gives the error kind '" << to_string(error.kind())
                                                                << "': " << error.what());
        return false;
      }
    };
    for (std::size_t bytes = 0; bytes < payload.size(); ++bytes)
      if (subject.properties.fixed_size &&
          try_decode({payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(bytes)})) {
        FAIL_CHECK("a payload cut to " << bytes << " of " << payload.size() << " bytes decodes");
        break;
      }
    auto longer = payload;
    longer.push_back(std::byte{0});
    if (try_decode(longer)) FAIL_CHECK("a payload with a byte too many decodes");
    const std::size_t step = std::max<std::size_t>(1, payload.size() * 8 / 4096);
    for (std::size_t bit = 0; bit < payload.size() * 8; bit += step) {
      auto flipped = payload;
      flipped[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
      try_decode(flipped);  // any meaning or refusal will do, inside the buffer
    }
    for (const std::byte fill : {std::byte{0x00}, std::byte{0xFF}, std::byte{0x7F}})
      try_decode(std::vector<std::byte>(payload.size(), fill));
  }
}

void check_state(const Subject& subject) {
  Context context = some_context();
  if (!takes(subject, kMiddle, DType::kFloat32, context)) return;
  const auto tensor = [](std::uint32_t salt) {
    return make_tensor(kMiddle, DType::kFloat32, Fill::kNormal, salt);
  };
  const auto send = [&](const Tensor& in, State* state) {
    if (subject.codec->rounds() == 1) return encode(subject, in, context, state);
    const auto out = all_rounds(subject, in, context, state);
    std::vector<std::byte> decoded(out.size() * sizeof(float));
    if (!decoded.empty()) std::memcpy(decoded.data(), out.data(), decoded.size());
    return decoded;
  };
  if (subject.codec->rounds() > 1) context.ranks = 1;
  const auto state = make_state(subject, tensor(0), context);
  // What a codec of several rounds stores between them is no state from message to message.
  const bool is_stateful = subject.properties.state != StateKind::kNone;
  if (is_stateful || subject.codec->rounds() == 1) CHECK((state != nullptr) == is_stateful);
  if (!is_stateful || state == nullptr) return;
  const auto copy = make_state(subject, tensor(0), context);
  for (std::uint32_t step = 0; step < 2; ++step) {
    context.step = step;
    send(tensor(step), state.get());
  }
  const auto saved = state->save();
  CHECK(state->bytes() > 0);
  REQUIRE_FALSE(saved.empty());
  copy->restore(saved);
  CHECK(copy->save() == saved);
  context.phase = Phase::kEval;
  send(tensor(9), state.get());
  CHECK(state->save() == saved);  // an evaluation changes nothing
  context.phase = Phase::kTrain;
  for (std::uint32_t step = 2; step < 4; ++step) {
    context.step = step;
    if (send(tensor(step), state.get()) != send(tensor(step), copy.get()))
      FAIL_CHECK("the restored state gives another message at step " << step);
  }
  for (const auto& damaged :
       {std::vector<std::byte>{}, std::vector<std::byte>(saved.begin(), saved.end() - 1)}) {
    const auto before = copy->save();
    CHECK_THROWS_AS(copy->restore(damaged), Error);
    CHECK(copy->save() == before);  // a refused state changes nothing
  }
}

}  // namespace tersor::compressors::suite

// SPDX-License-Identifier: Apache-2.0
#include "reports/engine/draw.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/cache_folder.hpp"
#include "common/error.hpp"
#include "common/process.hpp"
#include "reports/engine/context.hpp"

namespace tersor::reports {
namespace {

constexpr std::chrono::seconds kLongest{120};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::string python_for_figures() {
  if (const std::string chosen = variable("TERSOR_PYTHON"); !chosen.empty()) return chosen;
  const auto own = cache_folder() / "venv/bin/python3";
  std::error_code code;
  return std::filesystem::exists(own, code) ? own.string() : "python3";
}

std::string draw(const std::vector<Figure*>& figures) {
  if (figures.empty()) return "";
  nlohmann::ordered_json specifications = nlohmann::ordered_json::array();
  for (const Figure* figure : figures) specifications.push_back(figure->specification);
  const std::string program = python_for_figures();
  const std::string remedy = "; scripts/setup makes the environment, TERSOR_PYTHON names another";
  try {
    ProcessSpec process;
    process.arguments = {program, "-c", std::string(embedded_file("engine/draw.py"))};
    const auto result =
        nlohmann::json::parse(run_process(process, specifications.dump(), kLongest));
    if (result.contains("error"))
      return program + ": " + result.at("error").get<std::string>() + remedy;
    for (std::size_t i = 0; i < figures.size(); ++i)
      figures[i]->svg = result.at("svg").at(i).get<std::string>();
    return "";
  } catch (const Error& error) {
    return error.what() + remedy;
  } catch (const nlohmann::json::exception&) {
    return program + " gave no answer that can be read" + remedy;
  }
}

}  // namespace tersor::reports

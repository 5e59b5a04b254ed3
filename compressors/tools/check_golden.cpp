// SPDX-License-Identifier: Apache-2.0
#include "compressors/tools/golden.hpp"

#include <set>

#include "common/error.hpp"
#include "common/files.hpp"
#include "common/hash.hpp"
#include "compressors/spec/grammar.hpp"
#include "compressors/spec/registry.hpp"
#include "compressors/tools/golden_case.hpp"

namespace tersor::compressors {
namespace {

using nlohmann::json;

/// Every codec that a spec names, outermost first.
void collect_codecs(const SpecNode& node, std::vector<std::string>& names) {
  names.push_back(node.word);
  for (const SpecArgument& argument : node.arguments)
    if (argument.key.empty() || argument.value.has_parentheses || argument.key == "inner" ||
        argument.key == "outer")
      collect_codecs(argument.value, names);
}

std::vector<std::string> codecs_of(const std::string& spec) {
  std::vector<std::string> names;
  try {
    collect_codecs(parse_spec(spec), names);
  } catch (const Error&) {
    names.clear();  // no spec at all: nothing is missing for it
  }
  return names;
}

/// Counts one check: equal, skipped for want of a codec, or different.
class Checker {
 public:
  Checker(GoldenReport& report, std::set<std::string> known)
      : report_(report), known_(std::move(known)) {}

  template <class Check>
  void run(const std::string& group, const std::string& name, const std::string& spec,
           Check check) {
    GoldenCount& count = report_.groups[group];
    if (const std::string missing = missing_codec(spec); !missing.empty()) {
      ++count.skipped;
      ++report_.skipped_codecs[missing];
      return;
    }
    try {
      check();
      ++count.equal;
    } catch (const GoldenDifference& difference) {
      ++count.different;
      report_.differences.push_back(name + ": " + difference.text);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kData || error.kind() == ErrorKind::kMissing) throw;
      if (error.kind() == ErrorKind::kUnsupported) {
        ++count.skipped;
        ++report_.skipped_codecs[spec];
        return;
      }
      ++count.different;
      report_.differences.push_back(name + ": " + error.what());
    }
  }

 private:
  /// A codec of the format (some case of the folder uses it) that this build does not have.
  std::string missing_codec(const std::string& spec) const {
    for (const std::string& name : codecs_of(spec))
      if (known_.contains(name) && !registered_codecs().contains(name) &&
          !registered_presets().contains(name))
        return name;
    return "";
  }

  GoldenReport& report_;
  std::set<std::string> known_;
};

Purpose purpose_of(const std::string& name, const json& manifest) {
  return static_cast<Purpose>(manifest.at("purposes").at(name).get<std::uint32_t>());
}

void check_stream(const json& entry, const json& manifest) {
  const std::string name = entry.at("purpose");
  const Context context = golden_context(entry, {});
  const Purpose purpose = purpose_of(name, manifest);
  const bool is_fixed = name == "signs" || name == "matrix";
  const bool with_rank = name == "randk" || name == "rounding" || name == "second_rounding";
  const Stream stream =
      is_fixed ? context.fixed_random(purpose) : context.random(purpose, with_rank);
  expect_same("key 0", entry.at("key").at(0).get<std::uint64_t>(), stream.key[0]);
  expect_same("key 1", entry.at("key").at(1).get<std::uint64_t>(), stream.key[1]);
  expect_same("c1", entry.at("c1").get<std::uint64_t>(), stream.c1);
  expect_same("c2", entry.at("c2").get<std::uint64_t>(), stream.c2);
  expect_same("c3", entry.at("c3").get<std::uint64_t>(), stream.c3);
  std::uint64_t index = entry.value("first", std::uint64_t{0});
  for (std::size_t i = 0; i < entry.at("draw32").size(); ++i, ++index) {
    const std::string at = " of element " + std::to_string(index);
    expect_same("32-bit draw" + at, entry.at("draw32").at(i).get<std::uint64_t>(),
                stream.draw32(index));
    expect_same("16-bit draw" + at, entry.at("draw16").at(i).get<std::uint64_t>(),
                stream.draw16(index));
  }
}

void check_specs(Checker& checker, const json& manifest) {
  for (const auto& [text, form] : manifest.at("canonical").items())
    checker.run("canonical", "canonical form of '" + text + "'", text, [&] {
      expect_same("canonical form", form.get<std::string>(), canonical_spec(text));
    });
  for (const auto& entry : manifest.at("refused")) {
    const std::string text = entry;
    checker.run("refused", "'" + text + "'", text, [&] {
      try {
        make_codec(text);
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::kSpec) return;
        throw;
      }
      throw GoldenDifference{"is not refused"};
    });
  }
}

std::set<std::string> codecs_of_folder(const json& manifest) {
  std::set<std::string> known;
  const auto add = [&](const std::string& spec) {
    for (const std::string& name : codecs_of(spec)) known.insert(name);
  };
  for (const auto& entry : manifest.at("cases")) add(entry.at("spec"));
  for (const auto& [text, form] : manifest.at("canonical").items()) {
    add(text);
    add(form);
  }
  return known;
}

}  // namespace

GoldenCount GoldenReport::total() const {
  GoldenCount sum;
  for (const auto& [group, count] : groups) {
    sum.equal += count.equal;
    sum.skipped += count.skipped;
    sum.different += count.different;
  }
  return sum;
}

GoldenReport check_golden(const std::filesystem::path& folder, const GoldenOptions& options) {
  const auto path = folder / "manifest.json";
  const std::vector<std::byte> text = read_file(path);
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::kData,
                path.string() + ": no manifest of golden cases (" + why +
                    "); give the folder that has theirs, with inputs and payloads");
  };
  GoldenReport report;
  try {
    const json manifest = json::parse(reinterpret_cast<const char*>(text.data()),
                                      reinterpret_cast<const char*>(text.data()) + text.size());
    if (!manifest.is_object()) refuse("it is no JSON object");
    if (manifest.at("format") != 1)
      throw Error(ErrorKind::kData,
                  path.string() + ": format " + manifest.at("format").dump() + " is not 1");
    Checker checker(report, codecs_of_folder(manifest));
    GoldenFiles files(folder);
    for (const auto& entry : manifest.at("cases")) {
      const std::string name = entry.at("name");
      if (name.find(options.filter) == std::string::npos) continue;
      checker.run(entry.at("kind"), name, entry.at("spec"),
                  [&] { run_golden_case(files, entry, options); });
    }
    if (!options.filter.empty()) return report;
    for (const auto& entry : manifest.at("streams"))
      checker.run("streams", "stream " + entry.at("purpose").get<std::string>(), "",
                  [&] { check_stream(entry, manifest); });
    for (const auto& [name, low] : manifest.at("xxh64_low").items())
      checker.run("xxh64_low", "XXH64 of '" + name + "'", "", [&] {
        expect_same("low 32 bits", low.get<std::uint64_t>(), xxh64(name) & 0xFFFFFFFFu);
      });
    check_specs(checker, manifest);
  } catch (const json::exception& error) {
    // "[json.exception.out_of_range.403] key 'format' not found"
    const std::string what = error.what();
    const std::size_t end = what.find("] ");
    refuse(end == std::string::npos ? what : what.substr(end + 2));
  }
  return report;
}

}  // namespace tersor::compressors

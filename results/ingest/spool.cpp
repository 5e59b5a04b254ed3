// SPDX-License-Identifier: Apache-2.0
#include "results/ingest/spool.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <variant>

#include "common/error.hpp"
#include "common/json_parse.hpp"
#include "common/number.hpp"
#include "results/ingest/spool_lines.hpp"

namespace tersor::results {
namespace {

namespace fs = std::filesystem;

using protocol::LineReader;

/// Takes the records of one rank in order and refuses what may not follow what.
class RankReader {
 public:
  explicit RankReader(RankSpool& spool) : spool_(spool) {}

  void take(const LineReader& line) {
    const std::string type = line.type();
    if (!spool_.start && type != protocol::Start::kType)
      line.fail("type", "must be 'start' in the first record");
    if (spool_.end) line.fail("type", "comes after the 'end' record");
    std::visit([&](auto&& record) { take(line, std::move(record)); }, protocol::read_record(line));
  }

 private:
  void take(const LineReader& line, protocol::Start start) {
    if (spool_.start) line.fail("type", "comes twice in this file");
    if (start.rank != spool_.rank)
      line.fail("rank", std::to_string(start.rank) + " does not belong in the file of rank " +
                            std::to_string(spool_.rank));
    spool_.start = std::move(start);
  }

  void take(const LineReader& line, protocol::Step step) {
    if (spool_.rank == 0 && !step.training) line.fail("loss", "is missing");
    if (step.step != static_cast<std::int64_t>(spool_.steps.size()))
      line.fail("step", std::to_string(step.step) + " is not the " +
                            std::to_string(spool_.steps.size()) +
                            " that is due: steps count from 0, without a gap");
    const std::int64_t last = spool_.steps.empty() ? 0 : spool_.steps.back().epoch;
    if (step.epoch != last && (spool_.steps.empty() || step.epoch != last + 1))
      line.fail("epoch", std::to_string(step.epoch) + " does not follow epoch " +
                             std::to_string(last) + ": epochs count from 0, without a gap");
    spool_.steps.push_back(step);
  }

  void take(const LineReader& line, protocol::Eval eval) {
    const std::int64_t begun = spool_.steps.empty() ? 0 : spool_.steps.back().epoch + 1;
    if (eval.epoch > begun)
      line.fail("epoch", std::to_string(eval.epoch) + " is evaluated before it has begun: " +
                             std::to_string(begun) + " did");
    if (!evals_.emplace(eval.epoch, eval.inference, eval.split).second)
      line.fail("epoch", std::to_string(eval.epoch) + " was evaluated twice on " + eval.split +
                             " with inference " + eval.inference);
    spool_.evals.push_back(std::move(eval));
  }

  void take(const LineReader& line, protocol::MessageError error) {
    if (!errors_.emplace(error.step, error.site, error.site_name).second)
      line.fail("site", std::to_string(error.site) + " (" + error.site_name +
                            ") comes twice at step " + std::to_string(error.step));
    spool_.errors.push_back(std::move(error));
  }

  void take(const LineReader& line, protocol::Traffic traffic) {
    std::vector<std::string> name;
    for (const auto& [key, text] : protocol::kTrafficTexts) name.push_back(traffic.*text);
    if (!traffic_.insert(std::move(name)).second)
      line.fail("site",
                "comes twice with the same name, direction, phase, collective, dtype "
                "and spec");
    spool_.traffic.push_back(std::move(traffic));
  }

  void take(const LineReader& line, protocol::Memory memory) {
    if (spool_.memory) line.fail("type", "comes twice in this file");
    spool_.memory = memory;
  }

  void take(const LineReader& line, protocol::End end) {
    const auto steps = static_cast<std::int64_t>(spool_.steps.size());
    if (end.steps && *end.steps != steps)
      line.fail("steps",
                "says " + std::to_string(*end.steps) + ", the file has " + std::to_string(steps));
    if (end.records && *end.records != spool_.records)
      line.fail("records", "says " + std::to_string(*end.records) +
                               " before this one, the file has " + std::to_string(spool_.records));
    spool_.end = std::move(end);
  }

  RankSpool& spool_;
  std::set<std::tuple<std::int64_t, std::int64_t, std::string>> errors_;
  std::set<std::tuple<std::int64_t, std::string, std::string>> evals_;
  std::set<std::vector<std::string>> traffic_;
};

bool is_whole_object(std::string_view line) {
  try {
    return parse_json<nlohmann::json>(line, "").is_object();
  } catch (const Error&) {  // torn
    return false;
  }
}

RankSpool read_rank(const fs::path& path, int rank) {
  RankSpool spool;
  spool.rank = rank;
  spool.file = path.string();
  RankReader reader(spool);
  const SpoolBytes read =
      read_spool_lines(path, [&](std::string_view line, int number, bool has_end) {
        if (!has_end && !is_whole_object(line)) {
          spool.torn_bytes = static_cast<std::int64_t>(line.size());
          return;
        }
        reader.take(LineReader(line, spool.file, number));
        spool.records = number;
      });
  spool.hash = read.hash;
  spool.bytes = read.bytes;
  return spool;
}

/// r of "rank<r>.jsonl".
std::optional<int> rank_of(const std::string& name) {
  constexpr std::string_view kPrefix = "rank";
  constexpr std::string_view kSuffix = ".jsonl";
  const std::string_view text = name;
  if (!text.starts_with(kPrefix) || !text.ends_with(kSuffix) ||
      text.size() <= kPrefix.size() + kSuffix.size())
    return std::nullopt;
  const std::string_view digits =
      text.substr(kPrefix.size(), text.size() - kPrefix.size() - kSuffix.size());
  const auto rank = parse_integer(digits);
  if (!rank || *rank < 0 || *rank > 1 << 20 || std::to_string(*rank) != digits) return std::nullopt;
  return static_cast<int>(*rank);
}

}  // namespace

Spool read_spool(const fs::path& folder) {
  std::error_code code;
  if (fs::status(folder, code).type() == fs::file_type::not_found)
    throw Error(ErrorKind::kMissing, folder.string() + ": there is no such spool folder");
  std::vector<std::pair<int, fs::path>> files;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code))
    if (const auto rank = rank_of(entry->path().filename().string()))
      files.emplace_back(*rank, entry->path());
  if (code)
    throw Error(ErrorKind::kData,
                folder.string() + ": the spool folder cannot be read: " + code.message());
  std::sort(files.begin(), files.end());
  Spool spool;
  for (const auto& [rank, path] : files) spool.ranks.push_back(read_rank(path, rank));
  return spool;
}

std::optional<protocol::Verdict> claimed_verdict(const Spool& spool) {
  using protocol::Status;
  std::int64_t world = static_cast<std::int64_t>(spool.ranks.size());
  std::int64_t ok = 0;
  std::optional<protocol::Verdict> worst;
  // A rank that lost its peer tells less than the peer.
  const auto severity = [](const protocol::Verdict& verdict) {
    if (verdict.cause == protocol::Cause::kLostPeer) return 0;
    return verdict.status == Status::kOom ? 3 : verdict.status == Status::kDiverged ? 2 : 1;
  };
  for (const RankSpool& rank : spool.ranks) {
    if (rank.start) world = std::max(world, rank.start->world);
    if (!rank.end) continue;
    const protocol::Verdict verdict = rank.end->verdict();
    if (verdict.status == Status::kOk)
      ++ok;
    else if (!worst || severity(verdict) > severity(*worst))
      worst = verdict;
  }
  if (worst) return worst;
  if (world > 0 && ok == world) return protocol::Verdict{};
  return std::nullopt;
}

}  // namespace tersor::results

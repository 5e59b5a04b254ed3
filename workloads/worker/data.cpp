// SPDX-License-Identifier: Apache-2.0
#include "workloads/worker/data.hpp"

#include "common/error.hpp"
#include "common/hex.hpp"

namespace tersor::workloads {

JobData load_data(const protocol::JobFile& job) {
  const protocol::Cell::Data& config = job.config.data;
  const datasets::DatasetInfo& info = datasets::find_dataset(config.name);
  const std::filesystem::path root = datasets::find_data_root(job.data_root);
  const datasets::Split train =
      datasets::load(info, root, datasets::SplitName::kTrain, config.train_rows);
  const datasets::Split dev =
      datasets::load(info, root, datasets::SplitName::kDev, config.eval_rows);
  if (dev.examples.empty()) throw Error(ErrorKind::kData, "the dev split has no rows");
  const auto tokenizer = datasets::make_tokenizer(info, job.vocabulary, train);
  const auto encode = [&](const datasets::Split& split) {
    return std::make_unique<TokenSource>(
        datasets::encode_split(info, split, *tokenizer, config.sequence));
  };
  JobData data{info, encode(train), encode(dev), tokenizer->vocabulary_size(), {}};
  data.facts = {{"name", info.name},
                {"train_rows", data.train->rows()},
                {"eval_rows", data.dev->rows()},
                {"train_hash", hex(train.content_hash)},
                {"eval_hash", hex(dev.content_hash)},
                {"subset", info.subset_rule}};
  data.facts["best_accuracy"] = info.best_accuracy ? nlohmann::ordered_json(*info.best_accuracy)
                                                   : nlohmann::ordered_json(nullptr);
  return data;
}

}  // namespace tersor::workloads

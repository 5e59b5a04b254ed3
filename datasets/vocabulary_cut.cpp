// SPDX-License-Identifier: Apache-2.0
#include "datasets/vocabulary_cut.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "common/error.hpp"
#include "common/hash.hpp"
#include "datasets/corpus.hpp"

namespace tersor::datasets {
namespace {

/// The ids of a split, rows or running text.
std::vector<std::int32_t> ids_of(const DatasetInfo& info, const std::filesystem::path& root,
                                 SplitName split, const Tokenizer* tokenizer) {
  if (info.content != Content::kRows) return read_stream(info, root, split, tokenizer).ids;
  std::vector<std::int32_t> ids;
  for (const Example& example : load(info, root, split).examples)
    for (const std::string& text : {example.text_a, example.text_b}) {
      const std::vector<std::int32_t> some = tokenizer->encode(text);
      ids.insert(ids.end(), some.begin(), some.end());
    }
  return ids;
}

std::vector<SplitName> splits_of(const DatasetInfo& info) {
  std::vector<SplitName> splits;
  for (const FileFact& file : info.files) splits.push_back(file.split);
  return splits.empty() ? std::vector{SplitName::kTrain, SplitName::kDev} : splits;
}

class CutTokenizer final : public Tokenizer {
 public:
  CutTokenizer(std::unique_ptr<Tokenizer> whole, VocabularyCut cut)
      : whole_(std::move(whole)), cut_(std::move(cut)) {}
  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> ids = whole_->encode(text);
    cut_.apply(ids);
    return ids;
  }
  std::int32_t vocabulary_size() const override {
    return static_cast<std::int32_t>(cut_.kept.size());
  }
  std::int32_t pad_id() const override { return renumbered(whole_->pad_id()); }
  std::int32_t cls_id() const override { return renumbered(whole_->cls_id()); }
  std::int32_t sep_id() const override { return renumbered(whole_->sep_id()); }
  std::int32_t mask_id() const override {
    return whole_->mask_id() < 0 ? -1 : renumbered(whole_->mask_id());
  }

 private:
  std::int32_t renumbered(std::int32_t id) const {
    std::vector<std::int32_t> one{id};
    cut_.apply(one);
    return one.front();
  }

  std::unique_ptr<Tokenizer> whole_;
  VocabularyCut cut_;
};

}  // namespace

void VocabularyCut::apply(std::vector<std::int32_t>& ids) const {
  for (std::int32_t& id : ids) {
    const auto found = std::lower_bound(kept.begin(), kept.end(), id);
    if (found == kept.end() || *found != id)
      throw Error(ErrorKind::kUsage,
                  "token " + std::to_string(id) + " does not occur in the corpus that the " +
                      std::to_string(kept.size()) + " tokens of the vocabulary were cut to");
    id = static_cast<std::int32_t>(found - kept.begin());
  }
}

VocabularyCut cut_vocabulary(const DatasetInfo& info, const std::filesystem::path& data_root,
                             const Tokenizer* tokenizer) {
  TERSOR_CHECK(tokenizer != nullptr || info.content == Content::kTokens,
               info.name + " is text and needs a tokenizer");
  std::set<std::int32_t> kept;
  for (const SplitName split : splits_of(info)) {
    std::vector<std::int32_t> ids = ids_of(info, data_root, split, tokenizer);
    std::sort(ids.begin(), ids.end());
    kept.insert(ids.begin(), std::unique(ids.begin(), ids.end()));
  }
  if (tokenizer != nullptr)
    for (const std::int32_t id :
         {tokenizer->pad_id(), tokenizer->cls_id(), tokenizer->sep_id(), tokenizer->mask_id()})
      if (id >= 0) kept.insert(id);
  VocabularyCut cut;
  cut.kept.assign(kept.begin(), kept.end());
  std::string bytes;
  for (const std::int32_t id : cut.kept)
    for (int shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<char>(static_cast<std::uint32_t>(id) >> shift));
  cut.hash = xxh64(bytes);
  return cut;
}

std::unique_ptr<Tokenizer> cut_tokenizer(std::unique_ptr<Tokenizer> tokenizer, VocabularyCut cut) {
  return std::make_unique<CutTokenizer>(std::move(tokenizer), std::move(cut));
}

}  // namespace tersor::datasets

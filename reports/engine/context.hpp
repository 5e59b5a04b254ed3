// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "results/query/reader.hpp"

namespace tersor::reports {

/// One cell of the database (everything but the seed), with how its seeds ended.
struct CellInfo {
  std::int64_t id = 0;
  std::string codec;
  std::int64_t seeds = 0;
  std::int64_t ok = 0;
  std::int64_t diverged = 0;
  std::string reason;  ///< why there is no ok run: "failed: ...", "infeasible: ..."
};

/// Cells that differ in the codec only: what may be compared.
struct Group {
  std::string hash;
  std::string dataset, hardware, kind, model, stage;
  /// Axes that tell it from other groups of its data set and hardware; "one rank, codecs off".
  std::string detail;
  std::int64_t tp = 1;
  /// By codec. Where a codec has several cells (its version changed), the newest with an ok run.
  std::map<std::string, CellInfo> cells;

  bool is_timed() const { return kind == "measured" || kind == "shaped"; }
  /// "sst2 on cpu-tp2 (measured)", with the detail.
  std::string label() const;
  /// "sst2 · cpu-tp2", with the detail: a column heading.
  std::string short_label() const;
};

/// Groups of one kind and model, shown in one table.
struct Panel {
  std::string kind, model, stage;
  std::vector<const Group*> groups;
  std::string label() const;
};

/// What every item of a report needs from the database, read once.
class Context {
 public:
  explicit Context(results::Reader& reader);

  const std::vector<Group>& groups() const { return groups_; }
  /// By kind (measured, shaped, emulated, modelled), then model and stage: kinds never share a
  /// table.
  std::vector<Panel> panels() const;
  /// Codecs of the groups in the order in which their cells were added, `none` and the reference
  /// first.
  std::vector<std::string> codecs(const std::vector<const Group*>& groups) const;

  /// How a codec is shown: its spec, with the parameter that it declares as its strength also where
  /// that has its default, e.g. "topk(ratio=0.01)" for "topk".
  std::string title(const std::string& codec) const;
  /// Whether ratios are quoted against this spec (METHODS, section 1), as its codec declares.
  bool is_reference(const std::string& codec) const;
  /// `none` and the reference.
  bool is_baseline(const std::string& codec) const;
  /// The reference cell of a group, or null.
  const CellInfo* reference_of(const Group& group) const;
  /// The reference in full and in short, "cast(format=bf16)" and "cast"; where the database has no
  /// such codec, what it stands for.
  const std::string& reference_title() const { return reference_title_; }
  const std::string& reference_name() const { return reference_name_; }

  /// Runs a query file of an item's folder ("tables/accuracy/query.sql").
  results::QueryResult query(std::string_view file);
  results::Reader& reader() { return reader_; }

 private:
  results::Reader& reader_;
  std::vector<Group> groups_;
  std::map<std::string, std::string> titles_;  ///< by spec
  std::set<std::string> references_;           ///< specs: one, or more ways to write it
  std::string reference_title_ = "16-bit floats";
  std::string reference_name_ = "16-bit";
};

/// The text of a file of this room, by its path below reports/.
std::string_view embedded_file(std::string_view path);

/// "not run", or the reason of the cell.
std::string missing_reason(const Group& group, const std::string& codec);

/// Values of one query row by column name.
class RowView {
 public:
  RowView(const results::QueryResult& result, std::size_t row) : result_(result), row_(row) {}
  std::string text(const std::string& column) const;
  std::int64_t integer(const std::string& column) const;
  std::optional<double> number(const std::string& column) const;

 private:
  const results::Value& value(const std::string& column) const;
  const results::QueryResult& result_;
  std::size_t row_;
};

}  // namespace tersor::reports

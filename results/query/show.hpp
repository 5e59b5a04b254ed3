// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "results/query/reader.hpp"

namespace tersor::results {

/// What `tersor show` can show: runs, accuracy, speed, traffic.
std::vector<std::string> show_names();

struct ShowOptions {
  std::string where;        ///< SQL expression over the view's columns; empty: all rows
  bool is_complete = true;  ///< all columns of the view; else those that a person needs
  QueryLimits limits;
};

/// One row a run (`runs`), else one row for everything but the seed, with mean, deviation and n.
/// Incomplete rows leave out the axes in which the shown rows do not differ. Throws Error(kUsage)
/// on another name or a `where` that is not one expression.
QueryResult show(Reader& reader, std::string_view name, const ShowOptions& options);

}  // namespace tersor::results

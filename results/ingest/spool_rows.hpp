// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "results/db/store.hpp"
#include "results/ingest/spool.hpp"

namespace SQLite {
class Database;
}

namespace tersor::results {

/// Stores the spool under the run, in the caller's transaction. What an earlier call stored is
/// replaced; the same spool again changes nothing.
void store_spool(SQLite::Database& db, RunId run, const Spool& spool);

}  // namespace tersor::results

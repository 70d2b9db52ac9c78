// SPDX-License-Identifier: Apache-2.0
// The columns that TrackingReader reads, and the searches as SQL. Whatever users write is bound to
// a question mark; the texts that a statement refers to are those of the search, which must outlive
// it.
#pragma once

#include <vector>

#include "base/result.h"
#include "store/database/sqlite.h"
#include "store/tracking.h"

namespace berth::store {

inline constexpr const char* kExperimentColumns =
    "e.workspace, e.id, e.name, e.artifact_location, e.deleted, e.created_at, e.updated_at, "
    "e.maker";
inline constexpr const char* kRunColumns =
    "r.number, r.id, r.experiment, r.name, r.user, r.status, r.started_at, r.ended_at, r.deleted, "
    "r.job, (SELECT artifact_location FROM experiments WHERE workspace = r.workspace AND "
    "id = r.experiment), r.maker";
inline constexpr const char* kModelColumns =
    "m.number, m.id, m.experiment, m.name, m.type, m.source_run, m.status, m.status_message, "
    "m.deleted, m.created_at, m.updated_at, (SELECT artifact_location FROM experiments WHERE "
    "workspace = m.workspace AND id = m.experiment), m.maker";

/// InvalidArgument: something is compared or ordered by that the table does not have.
Result<Sql> experiment_search(const Search& search);
Result<Sql> run_search(const Search& search);
Result<Sql> logged_model_search(const Search& search, const std::vector<DatasetFilter>& datasets);

}  // namespace berth::store

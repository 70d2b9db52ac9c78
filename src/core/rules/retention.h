// SPDX-License-Identifier: Apache-2.0
// How long what is over stays.
#pragma once

#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "core/state.h"
#include "model/workspace.h"

namespace berth::core {

Status check_retention(const model::Retention& retention);

/// Jobs that ended before this may be due, later ones are not; none: nothing ever is.
std::optional<WallTime> due_before(const model::Retention& retention, WallTime now);

enum class Fate { Keep, DropLogs, Delete };
/// What the rules say of a job. One that is not over, or bears the tag `berth.keep`, is kept.
Fate fate_of(const model::Retention& retention, const model::Job& job, WallTime now);

/// A job that is not over and reads what that one left; none when nobody does.
std::optional<model::JobKey> reader_of(const State& state, const model::JobKey& job);

}  // namespace berth::core

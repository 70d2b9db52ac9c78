// SPDX-License-Identifier: Apache-2.0
// What the token of a job reaches in its workspace: its own run, its children, its inputs and
// outputs, and what it makes; more only where the workspace says so (Workspace::job_access).
//
// The door has let the caller in: a job's token is for tracking in its own workspace. These look at
// what it wants there. They pass everybody else, whose roles the door has asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/assets/asset.h"
#include "model/tracking.h"
#include "server/door/call.h"
#include "store/tracking.h"

namespace berth::server {

enum class Touch { Read, Write };

// Forbidden says what is not reached, and what would change that.

Status check_reach(const Call& call, const model::Run& run, Touch touch);
Status check_reach(const Call& call, const model::Experiment& experiment, Touch touch);
/// Making runs and logged models in it.
Status check_may_add_to(const Call& call, const model::Experiment& experiment);
Status check_reach(const Call& call, const model::LoggedModel& model, Touch touch);
Status check_reach(const Call& call, const model::AssetContainer& model, Touch touch);
Status check_reach(const Call& call, const model::Asset& version, Touch touch);
/// Aliases and stages: others go by them, so making a model or a version is not enough.
Status check_may_promote(const Call& call, const model::AssetContainer& model);
/// A blob, or a folder (without a '/' at its end).
Status check_place(const Call& call, const std::string& container, const std::string& path,
                   Touch touch);
/// The same for an address on a datastore; others are not ours to protect.
Status check_address(const Call& call, const std::string& uri, Touch touch);
/// What cannot be told apart by whose it is.
Status check_reads_all(const Call& call, std::string_view what);

/// What a search is held to; nothing: it shows all.
Result<std::optional<store::JobReach>> search_reach(const Call& call);

/// The sequence of the job whose token it is, to be noted on what it makes; 0: nobody's.
std::int64_t maker_of(const Call& call);

}  // namespace berth::server

// SPDX-License-Identifier: Apache-2.0
// What the disk gets of a change of the State.
#pragma once

#include "core/state.h"
#include "store/store.h"

namespace berth::server {

/// Adds what `more` touched to `all`.
void merge(core::Touched& all, core::Touched&& more);

/// Rows of everything touched, as it is now; what is gone from the state is deleted.
void add_rows(const core::State& state, const core::Touched& touched, store::Batch& batch);

/// The jobs and deployments among them that are over: the state need not keep them once that is on
/// disk.
core::EntityKeys ended_among(const core::State& state, const core::Touched& touched);

}  // namespace berth::server

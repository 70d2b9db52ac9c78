// SPDX-License-Identifier: Apache-2.0
// Work that is made of other work: what its parent asks for next, by the same look at the State
// that places jobs. server/plane/decider.h asks whenever a parent or a child of one has changed.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "core/state.h"

namespace berth::core {

/// A child is to be there. Its place in the order of submission and its time are not known here.
struct SubmitChild {
  model::Job child{};
};
/// It is to end as soon as may be.
struct CancelChild {
  model::JobKey child{};
};
/// The parent is over.
struct SetParentStatus {
  model::JobStatus status = model::JobStatus::Completed;
  std::optional<model::JobError> error{};
};

using Order = std::variant<SubmitChild, CancelChild, SetParentStatus>;

/// What a parent that is not over orders now. Each order, carried out, changes what the next call
/// sees, and nothing is ordered twice: when nothing is ordered, the parent waits for a child.
std::vector<Order> step(const State& state, const model::Job& parent);

/// A parent in the State that makes its children itself, and that the job names as its parent or
/// may need the name of for a child; nullptr: none.
const model::Job* controlling_parent(const State& state, const model::Job& job);

// Arrays.

/// The most children that one array has.
inline constexpr int kLongestArray = 1000;
/// Its index, as a child is told.
inline constexpr const char* kArrayIndexVariable = "BERTH_ARRAY_INDEX";

/// How many children it has, over or not or still to come.
int length_of(const model::ArrayWork& array);
/// The key of a child: "<parent>_<index>".
model::JobKey child_key(const model::JobKey& parent, int index);

}  // namespace berth::core

// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/experiment_ids.h"

#include <algorithm>

namespace berth::store {
namespace {

constexpr std::size_t kMostNames = 1000;  // Of which one is found soon enough again.

}  // namespace

void ExperimentIds::note(const Batch& batch) {
  for (const Write& write : batch) {
    if (const auto* job = std::get_if<Put<model::Job>>(&write)) {
      last_sequence_ = std::max(last_sequence_, job->value.sequence);
    } else if (renames(write)) {
      forget();
    }
  }
}

bool ExperimentIds::renames(const Write& write) {
  if (std::holds_alternative<Erase<model::Workspace>>(write)) return true;
  const auto* track = std::get_if<Track>(&write);
  return track != nullptr && std::holds_alternative<PutExperiment>(track->change);
}

void ExperimentIds::forget() {
  settled_ = last_sequence_;
  ids_.clear();
}

std::optional<std::string> ExperimentIds::find(const model::Job& job) const {
  if (!speaks_of(job)) return std::nullopt;
  const auto found = ids_.find({job.key.workspace, job.spec->experiment_name});
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

void ExperimentIds::learn(const model::Job& job, const std::string& id) {
  if (!speaks_of(job)) return;
  if (ids_.size() >= kMostNames) ids_.clear();
  ids_[{job.key.workspace, job.spec->experiment_name}] = id;
}

}  // namespace berth::store

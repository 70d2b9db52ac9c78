// SPDX-License-Identifier: Apache-2.0
#include "core/controller.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::core {
namespace {

using model::JobStatus;

model::Job child_of(const model::Job& parent, const model::ArrayWork& array, int index) {
  model::Job child{.key = child_key(parent.key, index), .spec = parent.spec};
  model::CommandWork work = array.each;
  work.environment_variables[kArrayIndexVariable] = std::to_string(index);
  child.spec.edit().work = std::move(work);
  child.spec.edit().parent_job_name = parent.key.name;
  if (!parent.display_name.empty()) {
    child.display_name = fmt::format("{}_{}", parent.display_name, index);
  }
  child.tags = parent.tags;
  child.properties = parent.properties;
  child.created_by = parent.created_by;
  child.created_by_user = parent.created_by_user;
  child.code_digest = parent.code_digest;
  return child;
}

std::vector<Order> cancel_children(const State& state, const model::Job& parent) {
  std::vector<Order> orders;
  const auto children = state.children.find(parent.key);
  if (children == state.children.end()) return orders;
  for (const model::JobKey& child : children->second) {
    if (!state.jobs.at(child).cancel_requested) orders.emplace_back(CancelChild{child});
  }
  return orders;
}

std::vector<Order> submit_children(const model::Job& parent, const model::ArrayWork& array,
                                   const model::Children& tally) {
  std::vector<Order> orders;
  const int length = length_of(array);
  const int at_once = array.at_once > 0 ? array.at_once : length;
  const int most = std::min(length, tally.submitted + at_once - tally.going_on());
  for (int nth = tally.submitted; nth < most; ++nth) {
    orders.emplace_back(SubmitChild{child_of(parent, array, array.first + nth)});
  }
  return orders;
}

/// Of a parent with no children left, neither going on nor to come.
SetParentStatus judge_parent(const model::Job& parent, int length, const model::Children& tally) {
  if (tally.completed == length) return {.status = JobStatus::Completed};
  if (parent.cancel_requested) return {.status = JobStatus::Canceled};
  return {.status = JobStatus::Failed,
          .error = model::JobError{
              .code = "ChildrenFailed",
              .message = fmt::format("of its {} jobs {} failed and {} were canceled", length,
                                     tally.failed, tally.canceled)}};
}

std::vector<Order> step_array(const State& state, const model::Job& parent,
                              const model::ArrayWork& array, const model::Children& tally) {
  const int length = length_of(array);
  const bool all_submitted = tally.submitted == length || parent.cancel_requested;
  if (all_submitted && tally.going_on() == 0) return {judge_parent(parent, length, tally)};
  if (parent.cancel_requested) return cancel_children(state, parent);
  return submit_children(parent, array, tally);
}

}  // namespace

std::vector<Order> step(const State& state, const model::Job& parent) {
  const auto* array = std::get_if<model::ArrayWork>(&parent.spec->work);
  const auto* tally = std::get_if<model::Children>(&parent.holding);
  if (array == nullptr || tally == nullptr) return {};
  return step_array(state, parent, *array, *tally);
}

int length_of(const model::ArrayWork& array) { return array.last - array.first + 1; }

model::JobKey child_key(const model::JobKey& parent, int index) {
  return {parent.workspace, fmt::format("{}_{}", parent.name, index)};
}

const model::Job* controlling_parent(const State& state, const model::Job& job) {
  const std::string& name = job.key.name;
  for (const std::string& parent : {job.spec->parent_job_name, name.substr(0, name.rfind('_'))}) {
    const auto found = state.jobs.find({job.key.workspace, parent});
    if (found == state.jobs.end()) continue;
    if (std::holds_alternative<model::Children>(found->second.holding)) return &found->second;
  }
  return nullptr;
}

}  // namespace berth::core

// SPDX-License-Identifier: Apache-2.0
#include "core/placement.h"

#include <algorithm>

#include "core/schedule.h"
#include "core/service.h"

namespace berth::core {
namespace {

/// Jobs that fit no node because it will not be there for long enough, or that are to wait before
/// they are run again; past so many, the walk ends.
constexpr int kMostPassedOver = 1000;

std::size_t instances(const model::Job& job) {
  return static_cast<std::size_t>(nodes_of_attempt(job.spec));
}

}  // namespace

bool outlives(const model::Node& node, const model::Job& job, WallTime now) {
  constexpr auto kToSettle = std::chrono::seconds(15);  // Fetching before, delivering after.
  if (!node.ends_at) return true;
  return now + job.spec->timeout.value_or(std::chrono::seconds(0)) + kToSettle < *node.ends_at;
}

Placement::Placement(const State& state, const model::TargetId& target, WallTime now)
    : state_(state),
      target_(target),
      now_(now),
      index_(index_of(state, target)),
      next_vacant_(index_.vacant.begin()),
      next_roomy_(index_.roomy.begin()) {}

/// Nobody waits at a node that works ahead while another one is free.
bool Placement::load_next(bool may_wait) {
  if (next_vacant_ != index_.vacant.end()) {
    const model::Node& node = state_.nodes.at(*next_vacant_++);
    open_.push_back({.node = &node, .room = node.slots - jobs_at(state_, node)});
    filled_.push_back(&node);
    return true;
  }
  return may_wait && load_room_to_wait();
}

bool Placement::load_room_to_wait() {
  while (next_filled_ < filled_.size()) {
    const model::Node& node = *filled_[next_filled_++];
    if (node.ahead <= 0) continue;
    open_.push_back({.node = &node, .room = node.ahead, .is_to_wait = true});
    return true;
  }
  if (next_roomy_ == index_.roomy.end()) return false;
  const model::Node& node = state_.nodes.at(*next_roomy_++);
  const int room = node.slots + node.ahead - jobs_at(state_, node);
  open_.push_back({.node = &node, .room = room, .is_to_wait = true});
  return true;
}

std::vector<Placement::Vacancy*> Placement::fitting(const model::Job& job, std::size_t nodes) {
  std::size_t fit = 0;
  std::vector<std::size_t> found;
  const bool may_wait = nodes == 1 && !is_kept_free_;  // Members of a gang begin together.
  for (std::size_t at = 0; fit < nodes && (at < open_.size() || load_next(may_wait)); ++at) {
    if (open_[at].is_to_wait && !may_wait) continue;
    if (outlives(*open_[at].node, job, now_)) {
      found.push_back(at);
      ++fit;
    } else {
      open_[at].was_refused = true;
    }
  }
  std::vector<Vacancy*> vacancies;
  for (const std::size_t at : found) vacancies.push_back(&open_[at]);
  return vacancies;
}

bool Placement::may_ever_run(const model::Job& job) const {
  const model::Cluster* cluster = cluster_of(state_, target_);
  return cluster == nullptr || instances(job) <= static_cast<std::size_t>(cluster->scale.max_nodes);
}

bool Placement::place(const model::Job& job) {
  const std::size_t need = instances(job);
  if (!may_ever_run(job)) return false;
  std::vector<Vacancy*> vacancies = fitting(job, need);
  const bool can_start = vacancies.size() == need;
  if (!can_start && need == 1) return false;
  // A gang that cannot start yet keeps what is there: whoever took one of these nodes, or waited at
  // one that is still busy, would delay it.
  if (!can_start) is_kept_free_ = true;
  JobPlaced placed{.job = job.key, .at = now_};
  for (Vacancy* vacancy : vacancies) {
    placed.nodes.push_back(vacancy->node->id);
    vacancy->room -= 1;
  }
  std::erase_if(open_, [this](const Vacancy& vacancy) {
    return vacancy.room <= 0 || (vacancy.is_to_wait && is_kept_free_);
  });
  if (can_start) placed_.push_back(std::move(placed));
  return can_start;
}

std::vector<JobPlaced> Placement::run() {
  int passed_over = 0;
  for (const auto& [standing, key] : index_.line) {
    if (passed_over >= kMostPassedOver) break;
    if (open_.empty() && !load_next(!is_kept_free_)) break;
    const model::Job& job = state_.jobs.at(key);
    if (!is_due(job, now_) || !place(job)) ++passed_over;
  }
  return std::move(placed_);
}

std::vector<model::NodeId> Placement::short_lived() const {
  std::vector<model::NodeId> nodes;
  for (const Vacancy& vacancy : open_) {
    if (vacancy.was_refused && !vacancy.is_to_wait && !state_.held.contains(vacancy.node->id)) {
      nodes.push_back(vacancy.node->id);
    }
  }
  return nodes;
}

}  // namespace berth::core

// SPDX-License-Identifier: Apache-2.0
#include "server/plane/idleness.h"

namespace berth::server {

using model::NodeId;

void Idleness::note_members(const model::Job& job) {
  for (const model::Member& member : members_of(job)) concerned_.push_back(member.node);
}

/// The nodes that an event's jobs hold: whether they are idle may change with it.
void Idleness::before(const core::Event& event) {
  concerned_.clear();
  std::visit(
      [&](const auto& fact) {
        if constexpr (requires { state_.jobs.find(fact.job); }) {
          const auto job = state_.jobs.find(fact.job);
          if (job != state_.jobs.end()) note_members(job->second);
        }
        if constexpr (requires { fact.nodes; }) concerned_ = fact.nodes;
      },
      event);
  // With a node the attempts that it had a share in end, on other nodes as well.
  if (const auto* gone = std::get_if<core::NodeGone>(&event)) {
    for (const model::Job* job : core::jobs_on(state_, gone->node)) note_members(*job);
  }
}

void Idleness::after(const core::Touched& touched) {
  for (const NodeId& node : concerned_) look_at(node);
  for (const NodeId& node : touched.of<model::Node>()) look_at(node);
}

void Idleness::look_at(const NodeId& node) {
  const auto found = state_.nodes.find(node);
  const bool is_idle = found != state_.nodes.end() &&
                       found->second.status == model::NodeStatus::Ready &&
                       !state_.held.contains(node);
  if (is_idle) {
    since_.try_emplace(node, clock_.now().mono);
  } else {
    since_.erase(node);
  }
}

}  // namespace berth::server

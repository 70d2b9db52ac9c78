// SPDX-License-Identifier: Apache-2.0
#include "server/fleet/service_gate.h"

#include <fmt/format.h>

#include "model/site_kind.h"
#include "server/plane/attempt.h"

namespace berth::server {

using model::AttemptRef;
using model::Job;
using model::JobKey;

namespace {

/// An answer may be long in the making: a model may be loaded for it first.
constexpr io::UpstreamOptions kToServices{.head_timeout = std::chrono::minutes(5)};

const Job* live_service(const core::State& state, const JobKey& key) {
  const auto found = state.jobs.find(key);
  const bool is_live = found != state.jobs.end() && !model::is_terminal(found->second.status) &&
                       model::service_of(found->second.spec) != nullptr;
  return is_live ? &found->second : nullptr;
}

bool is_ready(const Job& job) {
  if (!model::holds_nodes(job) || job.cancel_requested || job.is_yielding) return false;
  const auto& endpoint = members_of(job).front().endpoint;
  return endpoint && endpoint->state == model::EndpointState::Ready && endpoint->port > 0 &&
         endpoint->port <= 65535;
}

}  // namespace

bool ServiceGate::goes_on(const AttemptRef& attempt) const {
  const Job* job = live_service(state_, attempt.job);
  return job != nullptr && model::holds_nodes(*job) && attempt_of(*job) == attempt;
}

bool ServiceGate::is_of_this_machine(const model::NodeId& id) const {
  const auto node = state_.nodes.find(id);
  if (node == state_.nodes.end()) return false;
  const auto site = state_.sites.find(node->second.site);
  return site != state_.sites.end() && model::traits_of(site->second).shares_machine;
}

Result<std::shared_ptr<io::Upstream>> ServiceGate::open(const Job& job) {
  const model::Member& member = members_of(job).front();
  const AttemptRef attempt = attempt_of(job);
  Way& way = ways_[job.key];
  if (way.to != nullptr && way.attempt == attempt) return way.to;
  if (way.to != nullptr) way.to->abandon();
  way = {.attempt = attempt};
  if (is_of_this_machine(member.node)) {
    const auto port = static_cast<std::uint16_t>(member.endpoint->port);
    way.to = TRY(io::Upstream::at_port(loop_, "127.0.0.1", port, kToServices));
  } else {
    way.to = io::Upstream::of_parked(loop_, kToServices);
  }
  return way.to;
}

Result<std::shared_ptr<io::Upstream>> ServiceGate::way_to(const JobKey& service) {
  const Job* job = live_service(state_, service);
  if (job == nullptr) {
    return fail(Code::NotFound, fmt::format("no service '{}' in this workspace", service.name));
  }
  if (is_ready(*job)) return open(*job);
  return fail(Code::Unavailable, fmt::format("service '{}' is not ready", service.name));
}

Result<std::shared_ptr<io::Upstream>> ServiceGate::parking_of(const model::NodeId& node,
                                                              const AttemptRef& attempt) {
  const bool is_held = goes_on(attempt) && holds(state_, node, attempt);
  if (!is_held || is_of_this_machine(node)) {
    return fail(Code::Forbidden, fmt::format("node '{}' has no such service", node.text));
  }
  return open(state_.jobs.at(attempt.job));
}

void ServiceGate::job_changed(const JobKey& job) {
  const auto way = ways_.find(job);
  if (way == ways_.end() || goes_on(way->second.attempt)) return;
  way->second.to->abandon();
  ways_.erase(way);
}

}  // namespace berth::server

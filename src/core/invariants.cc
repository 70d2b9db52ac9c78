// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/check.h"
#include "core/deployment_controller.h"
#include "core/index.h"
#include "core/state.h"
#include "model/compute_kind.h"

namespace berth::core {
namespace {

using model::JobStatus;

bool is_under_way(JobStatus status) {
  return status == JobStatus::Starting || status == JobStatus::Preparing ||
         status == JobStatus::Running || status == JobStatus::Finalizing ||
         status == JobStatus::CancelRequested;
}

void check_holding(const State&, const model::Job&, const model::None&) {}

void check_holding(const State& state, const model::Job& job, const model::Members& held) {
  CHECK(!has_children(job.spec->work), "a job of children holds no nodes");
  CHECK(job.placed_at, "a job that holds a node knows since when");
  const auto count = static_cast<std::size_t>(nodes_of_attempt(job.spec));
  CHECK(held.members.size() == count, "a gang holds all its nodes or none");
  std::set<model::NodeId> nodes;
  for (const model::Member& member : held.members) {
    CHECK(nodes.insert(member.node).second, "a gang has each of its nodes once");
    CHECK(!member.endpoint || model::service_of(job.spec) != nullptr,
          "only a service has an endpoint");
    CHECK(member.outcome.has_value() == member.ended_at.has_value(), "a member's end has its time");
    CHECK(member.outcome || state.nodes.contains(member.node), "a node that is worked on exists");
  }
  CHECK(std::ranges::any_of(held.members, [](const auto& each) { return !each.outcome; }),
        "an attempt whose members have all ended is over");
}

void check_holding(const State& state, const model::Job& job, const model::EngineRun& run) {
  const model::Compute* compute = compute_of(state, target_of(job));
  CHECK(compute != nullptr && model::traits_of(*compute).takes_attempts,
        "a compute that takes attempts is there as long as one of them");
  CHECK(run.is_taken || run.phase == JobStatus::Starting,
        "an attempt goes on in an engine that is known to have it");
  CHECK(!job.is_yielding, "an attempt in an engine takes nobody's place");
  CHECK(job.cancel_requested || job.status == run.phase,
        "a job is as far as the attempt in its engine");
  CHECK(!has_children(job.spec->work), "an engine runs no job of children");
  CHECK(job.placed_at && !run.engine.empty(),
        "a job that an engine has knows since when, and which");
}

void check_holding(const State& state, const model::Job& job, const model::Children& tally) {
  CHECK(has_children(job.spec->work), "only work that is made of children holds children");
  const auto children = state.children.find(job.key);
  const std::size_t going_on = children == state.children.end() ? 0 : children->second.size();
  CHECK(static_cast<std::size_t>(tally.going_on()) == going_on,
        "a parent counts the children that are over, and only those");
  CHECK(!job.is_yielding, "a job of children takes nobody's place");
}

void check_job(const State& state, const model::Job& job) {
  const bool holds = model::holds_anything(job);
  CHECK(is_under_way(job.status) == holds,
        "a job holds something exactly while an attempt goes on");
  CHECK(!holds || job.attempt >= 1, "a job that holds something has an attempt");
  CHECK(holds || job.status == JobStatus::Queued || is_terminal(job.status),
        "a job waits, holds something or is over");
  CHECK(is_terminal(job.status) == job.ended_at.has_value(),
        "exactly a job that is over has an end");
  CHECK((job.status == JobStatus::CancelRequested) == (job.cancel_requested && holds),
        "a job whose cancel is under way says so");
  CHECK(holds || !job.is_yielding, "only an attempt can yield");
  CHECK(job.status != JobStatus::Queued || !has_children(job.spec->work),
        "a job of children waits for nothing itself");
  CHECK(job.status != JobStatus::Queued || !job.cancel_requested,
        "a job that is to be cancelled does not wait");
  CHECK(job.status != JobStatus::Queued || (!job.placed_at && !job.started_at),
        "a job that waits has no attempt that began");
  const bool is_service = model::service_of(job.spec) != nullptr;
  CHECK(!job.not_before || (is_service && job.status == JobStatus::Queued),
        "only a service that waits to be run again waits for a time");
  CHECK(job.restarts == 0 || is_service, "only a service is restarted");
  std::visit([&](const auto& holding) { check_holding(state, job, holding); }, job.holding);
}

void check_node(const State& state, const model::Node& node) {
  const auto held = state.held.find(node.id);
  const std::size_t jobs = held == state.held.end() ? 0 : held->second.size();
  const model::Compute* compute = compute_of(state, node.target);
  CHECK(compute != nullptr, "a compute is there as long as one of its nodes");
  CHECK(jobs <= 2 || model::traits_of(*compute).shares_nodes,
        "a node that is not shared has one job at a time, and one that waits for its end");
  CHECK(!node.is_dismissed || node.status == model::NodeStatus::Leaving ||
            node.status == model::NodeStatus::Preempted,
        "only a node that goes was dismissed");
}

/// Nobody's token or role outlives its user or its workspace.
void check_access(const State& state) {
  const auto check = [&](const auto& thing) {
    CHECK(state.access.users.contains(thing.user), "a token or role has a user");
    CHECK(thing.workspace.text.empty() || state.workspaces.contains(thing.workspace),
          "a token or role is for a workspace that exists");
  };
  for (const auto& [id, token] : state.access.tokens) check(token);
  for (const auto& [id, assignment] : state.access.assignments) check(assignment);
}

void check_site(const State& state, const std::string& name, const SiteUse& use) {
  std::size_t devices = 0;
  for (const auto& [id, node] : state.nodes) {
    const bool takes_room = model::traits_of(compute_of(state, node.target)).takes_room;
    if (node.site == name && takes_room) devices += node.gpus.size();
  }
  CHECK(devices == use.gpus.size(), "no device belongs to two nodes");
}

/// A line says what became of a step, and a step waits for those that it names.
void check_line(const model::TemplateDeployment& deployment,
                const std::vector<const model::DeploymentOperation*>& lines, std::size_t index) {
  const model::DeploymentOperation& line = *lines[index];
  CHECK(line.number == static_cast<int>(index) + 1,
        "lines are settled in order, and none is left out");
  CHECK(is_over(line.state), "a line that is settled says how");
  CHECK(!deployment.steps || index < deployment.steps->size(), "a line is of a step");
  if (!deployment.steps) return;
  const model::DeploymentStep& step = (*deployment.steps)[index];
  CHECK(line.resource == step.resource, "a line is of its own step");
  bool all_there = true;
  for (const int earlier : step.after) {
    CHECK(earlier >= 1 && earlier < line.number, "a step waits for earlier ones only");
    const auto state = lines[static_cast<std::size_t>(earlier) - 1]->state;
    all_there = all_there && state == model::DeploymentState::Succeeded;
  }
  CHECK(all_there == (line.state != model::DeploymentState::Canceled),
        "a resource is tried exactly when all that it depends on is there");
}

void check_deployment(const State& state, const model::TemplateDeployment& deployment) {
  using model::DeploymentState;
  const auto lines = lines_of(state, deployment);
  for (std::size_t index = 0; index < lines.size(); ++index) check_line(deployment, lines, index);
  const bool is_live = !is_over(deployment.state);
  CHECK(!is_live || (deployment.state == DeploymentState::Accepted) == lines.empty(),
        "a deployment runs from its first line on");
  CHECK(is_live || deployment.sealed.empty(), "nothing is kept sealed for what is over");
  CHECK(!is_live || (deployment.outputs.empty() && deployment.error_code.empty()),
        "only what is over has a result");
  const bool has_failed = std::ranges::any_of(
      lines, [](const auto* line) { return line->state != DeploymentState::Succeeded; });
  const bool is_whole = deployment.steps && lines.size() == deployment.steps->size();
  CHECK(deployment.state != DeploymentState::Succeeded || (is_whole && !has_failed),
        "a deployment has succeeded when all its resources have");
}

void check_deployments(const State& state) {
  std::set<std::string> ids;
  for (const auto& [key, deployment] : state.deployments) {
    CHECK(key == key_of(deployment), "a deployment lies under its own name");
    CHECK(ids.insert(deployment.id).second, "no two deployments have one id");
    check_deployment(state, deployment);
  }
  for (const auto& [key, line] : state.operations) {
    CHECK(ids.contains(key.deployment), "a line goes with its deployment");
  }
}

}  // namespace

void check_invariants(const State& state) {
  check_access(state);
  check_deployments(state);
  std::set<std::int64_t> sequences;
  for (const auto& [key, job] : state.jobs) {
    CHECK(key == job.key, "a job lies under its own key");
    CHECK(sequences.insert(job.sequence).second, "no two jobs have one sequence");
    check_job(state, job);
  }
  for (const auto& [id, node] : state.nodes) {
    CHECK(id == node.id, "a node lies under its own id");
    check_node(state, node);
  }
  for (const auto& [site, use] : state.site_use) check_site(state, site, use);
  State rebuilt = state;
  rebuild_indexes(rebuilt);
  CHECK(rebuilt.queued == state.queued, "the queued jobs are exactly counted");
  CHECK(rebuilt.children == state.children, "the parents have exactly the children that say so");
  CHECK(rebuilt.held == state.held, "the nodes hold exactly the jobs that say so");
  CHECK(rebuilt.targets == state.targets, "the targets count exactly what is there");
  CHECK(rebuilt.site_use == state.site_use, "the sites are used exactly by their nodes");
  CHECK(rebuilt.under_way == state.under_way, "the jobs under way are exactly counted");
}

}  // namespace berth::core

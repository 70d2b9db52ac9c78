// SPDX-License-Identifier: Apache-2.0
#include "server/plane/computes_desk.h"

#include <fmt/format.h>

#include "base/text.h"
#include "core/rules/compute_rules.h"
#include "model/compute_kind.h"
#include "server/plane/jobs_desk.h"
#include "server/plane/site_kinds.h"

namespace berth::server {
namespace {

using core::State;
using model::Compute;
using model::ComputeKey;
using model::Job;
using model::JobKey;
using model::Site;

const Site* find_site(const State& state, std::string_view name) {
  for (const auto& [key, site] : state.sites) {
    if (equals_ignoring_case(key, name)) return &site;
  }
  return nullptr;
}

/// Jobs of a cluster that are not over.
std::vector<JobKey> work_of(const State& state, const ComputeKey& compute) {
  std::vector<JobKey> work;
  const model::TargetId target{compute};
  for (const auto& [key, job] : state.jobs) {
    if (!model::is_terminal(job.status) && core::target_of(job) == target) work.push_back(key);
  }
  return work;
}

}  // namespace

void ComputesDesk::make_local_site(const model::SiteCapacity& capacity) {
  if (state_.sites.contains(model::kLocalSite)) return;
  parts_.ledger.apply(core::SiteMade{
      {.name = model::kLocalSite, .capacity = capacity, .created_at = parts_.clock.now().wall}});
}

Result<Site> ComputesDesk::put_site(Site site) {
  const Site* existing = find_site(state_, site.name);
  TRY(core::check_site(site, existing));
  TRY(check_site_settings(site));
  if (existing != nullptr) site.name = existing->name;
  site.created_at = existing != nullptr ? existing->created_at : parts_.clock.now().wall;
  parts_.ledger.apply(core::SiteMade{site});
  parts_.decider.decide();
  parts_.ledger.flush();
  return site;
}

Status ComputesDesk::remove_site(const std::string& name) {
  const Site* site = find_site(state_, name);
  if (site == nullptr) return fail(Code::NotFound, fmt::format("no site '{}'", name));
  if (site->name == model::kLocalSite) {
    return fail(Code::Conflict, "the site 'local' is this machine and always there");
  }
  for (const auto& [key, compute] : state_.computes) {
    if (compute.site != site->name) continue;
    return fail(Code::Conflict, fmt::format("compute '{}' is on site '{}'; delete it first",
                                            compute.name, site->name));
  }
  parts_.ledger.apply(core::SiteRemoved{site->name});
  parts_.ledger.flush();
  return Done{};
}

Result<ComputesDesk::PutCompute> ComputesDesk::put(Compute draft) {
  const model::WorkspaceId workspace = draft.key.workspace;
  const Compute* existing = core::find_compute(state_, workspace, draft.name);
  if (existing != nullptr && model::is_built_in(*existing)) existing = nullptr;  // A name of ours.
  const bool is_new = existing == nullptr;
  core::CheckedCompute checked = TRY(core::check_compute(state_, std::move(draft), existing));
  Compute& compute = checked.compute;
  compute.key.workspace = workspace;
  compute.modified_at = parts_.clock.now().wall;
  if (is_new) {
    compute.created_at = compute.modified_at;
    if (model::Cluster* cluster = cluster_in(&compute)) {
      cluster->allocation_changed_at = compute.modified_at;
    }
  }
  const ComputeKey key = compute.key;
  parts_.ledger.apply(core::ComputeMade{std::move(compute)});
  parts_.decider.decide();
  PutCompute result{
      .compute = state_.computes.at(key), .made = is_new, .notice = std::move(checked.notice)};
  parts_.ledger.flush();
  return result;
}

Status ComputesDesk::remove(const ComputeKey& key, bool cancel_jobs) {
  const Compute* compute = core::compute_of(state_, {key});
  if (compute == nullptr) {
    return fail(Code::NotFound, fmt::format("no compute '{}' in this workspace", key.name));
  }
  TRY(core::check_may_change(*compute));
  const std::vector<JobKey> work = work_of(state_, key);
  if (!cancel_jobs && !work.empty()) {
    const std::string others =
        work.size() == 1 ? " is" : fmt::format(" and {} more are", work.size() - 1);
    return fail(Code::Conflict, fmt::format("compute '{}' has work: job '{}'{} not over",
                                            compute->name, work.front().name, others));
  }
  // First, so that no decision on the way starts another node for a job that is about to end.
  if (!compute->is_deleting)
    parts_.ledger.apply(core::ComputeDeleteRequested{key, parts_.clock.now().wall});
  for (const JobKey& job : work) TRY(jobs_.cancel(job));
  parts_.decider.decide();
  parts_.ledger.flush();
  return Done{};
}

Status ComputesDesk::preempt_node(const model::NodeId& node) {
  const auto found = state_.nodes.find(node);
  if (found == state_.nodes.end()) {
    return fail(Code::NotFound, fmt::format("no node '{}'", node.text));
  }
  const Compute* compute = core::compute_of(state_, found->second.target);
  if (model::traits_of(compute).is_one_machine) {
    return fail(Code::Conflict, fmt::format("node '{}' is this machine's own and cannot be taken "
                                            "away; 'berth job cancel' ends its jobs",
                                            node.text));
  }
  if (found->second.status == model::NodeStatus::Preempted) return Done{};
  parts_.decider.preempt(node, fmt::format("node '{}' was taken away by hand", node.text));
  parts_.decider.decide();
  parts_.ledger.flush();
  return Done{};
}

}  // namespace berth::server

// SPDX-License-Identifier: Apache-2.0
#include "sim/deployment_judge.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::sim {

using model::DeploymentKey;
using model::DeploymentOperation;
using model::DeploymentState;
using model::TemplateDeployment;
using Complaint = DeploymentJudge::Complaint;

namespace {

int number_of(const std::string& id) { return std::stoi(id); }

}  // namespace

// ---- What users were told ----------------------------------------------------------------------

/// The answer may come after the commit of a delete: both can be in one, or in two that follow at
/// once.
Complaint DeploymentJudge::accepted(const DeploymentKey& key, const std::string& id) {
  if (deleted_.contains(id)) return check_promises();
  std::string& promised = promised_[key];
  if (promised.empty() || number_of(promised) < number_of(id)) promised = id;
  return check_promises();
}

Complaint DeploymentJudge::check_promises() const {
  for (const auto& [key, id] : promised_) {
    const auto found = disk_.deployments.find(key);
    const bool is_there =
        found != disk_.deployments.end() && number_of(found->second.id) >= number_of(id);
    if (!is_there) {
      return fmt::format("deployment '{}' was acknowledged as {} and is not there", key.name, id);
    }
  }
  return std::nullopt;
}

std::vector<std::string> DeploymentJudge::unfinished() const {
  std::vector<std::string> names;
  for (const auto& [key, deployment] : disk_.deployments) {
    if (!is_over(deployment.state)) names.push_back(key.name);
  }
  return names;
}

// ---- The disk ----------------------------------------------------------------------------------

Complaint DeploymentJudge::committed(const store::Batch& batch) {
  Complaint complaint;
  std::set<DeploymentKey> changed;
  const auto note = [&](Complaint more) {
    if (!complaint) complaint = std::move(more);
  };
  for (const store::Write& write : batch) {
    if (const auto* compute = std::get_if<store::Put<model::Compute>>(&write)) {
      disk_.computes.insert(compute->value.key);
    } else if (const auto* gone = std::get_if<store::Erase<model::Compute>>(&write)) {
      disk_.computes.erase(gone->key);
    } else if (const auto* row = std::get_if<store::Put<TemplateDeployment>>(&write)) {
      note(put(row->value));
      changed.insert(model::key_of(row->value));
    } else if (const auto* erased = std::get_if<store::Erase<TemplateDeployment>>(&write)) {
      note(erase(erased->key));
    }
  }
  // A resource, its line and the deployment are in one batch, in any order.
  for (const store::Write& write : batch) {
    const auto* line = std::get_if<store::Put<DeploymentOperation>>(&write);
    if (line == nullptr) continue;
    note(put(line->value));
    for (const auto& [key, deployment] : disk_.deployments) {
      if (deployment.id == line->value.deployment) changed.insert(key);
    }
  }
  for (const DeploymentKey& key : changed) {
    const auto found = disk_.deployments.find(key);
    if (found == disk_.deployments.end()) continue;
    note(check_lines(found->second));
    if (is_over(found->second.state)) note(check_end(found->second));
  }
  return complaint;
}

Complaint DeploymentJudge::put(const TemplateDeployment& deployment) {
  const DeploymentKey key = model::key_of(deployment);
  const auto before = disk_.deployments.find(key);
  Complaint complaint;
  if (before != disk_.deployments.end()) {
    const TemplateDeployment& old = before->second;
    if (old.id != deployment.id) {
      if (!is_over(old.state)) {
        complaint = fmt::format("deployment '{}' took the place of one that goes on", key.name);
      }
      forget_lines(old.id);
    } else if (is_over(old.state) && old.state != deployment.state) {
      complaint = fmt::format("deployment '{}' was over and changed", key.name);
    } else if (old.steps->size() != deployment.steps->size()) {
      complaint = fmt::format("deployment '{}' has other steps than before", key.name);
    }
  }
  disk_.deployments[key] = deployment;
  return complaint;
}

Complaint DeploymentJudge::put(const DeploymentOperation& line) {
  const auto [place, is_new] = disk_.lines.try_emplace({line.deployment, line.number}, line);
  if (!is_new) {
    if (place->second.state == line.state) return std::nullopt;
    return fmt::format("line {} of deployment {} was settled and changed", line.number,
                       line.deployment);
  }
  const bool says_made = line.state == DeploymentState::Succeeded && !line.is_satisfied;
  if (says_made && !has_compute(line.name)) {
    return fmt::format("line {} of deployment {} says that '{}' was made, and it is not there",
                       line.number, line.deployment, line.name);
  }
  if (line.type == kRefusedType && says_made) {
    return fmt::format("line {} of deployment {} says that it was made, which cannot be",
                       line.number, line.deployment);
  }
  return std::nullopt;
}

Complaint DeploymentJudge::erase(const DeploymentKey& key) {
  const auto found = disk_.deployments.find(key);
  if (found == disk_.deployments.end()) return std::nullopt;
  const std::string id = found->second.id;
  forget_lines(id);
  disk_.deployments.erase(found);
  deleted_.insert(id);
  const auto promised = promised_.find(key);
  if (promised != promised_.end() && number_of(promised->second) <= number_of(id)) {
    promised_.erase(promised);
  }
  if (delete_asked_.contains(id)) return std::nullopt;
  return fmt::format("deployment '{}' was deleted and nobody asked for it", key.name);
}

/// None is left out, and none is tried before what it depends on is there.
Complaint DeploymentJudge::check_lines(const TemplateDeployment& deployment) const {
  const std::size_t count = lines_of(deployment.id);
  if (count > deployment.steps->size()) {
    return fmt::format("deployment '{}' has more lines than steps", deployment.name);
  }
  for (std::size_t number = 1; number <= count; ++number) {
    const auto line = disk_.lines.find({deployment.id, static_cast<int>(number)});
    if (line == disk_.lines.end()) {
      return fmt::format("line {} of deployment '{}' is lost", number, deployment.name);
    }
    const auto& after = (*deployment.steps)[number - 1].after;
    const bool all_there = std::ranges::all_of(after, [&](int earlier) {
      const auto other = disk_.lines.find({deployment.id, earlier});
      return other != disk_.lines.end() && other->second.state == DeploymentState::Succeeded;
    });
    if (all_there == (line->second.state == DeploymentState::Canceled)) {
      return fmt::format("line {} of deployment '{}' does not fit what it depends on", number,
                         deployment.name);
    }
  }
  return std::nullopt;
}

Complaint DeploymentJudge::check_end(const TemplateDeployment& deployment) const {
  if (!deployment.sealed.empty()) {
    return fmt::format("deployment '{}' is over and keeps secrets", deployment.name);
  }
  if (deployment.state == DeploymentState::Canceled) {
    if (cancel_asked_.contains(deployment.id)) return std::nullopt;
    return fmt::format("deployment '{}' was cancelled and nobody asked for it", deployment.name);
  }
  const bool is_whole = lines_of(deployment.id) == deployment.steps->size();
  const bool all_succeeded = std::ranges::all_of(disk_.lines, [&](const auto& entry) {
    return entry.first.deployment != deployment.id ||
           entry.second.state == DeploymentState::Succeeded;
  });
  const bool has_succeeded = deployment.state == DeploymentState::Succeeded;
  const bool ended_servers = deployment.resumed > 1;
  if (has_succeeded ? is_whole && all_succeeded : ended_servers || (is_whole && !all_succeeded)) {
    return std::nullopt;
  }
  return fmt::format("deployment '{}' did not end as its resources did", deployment.name);
}

std::size_t DeploymentJudge::lines_of(const std::string& id) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      disk_.lines, [&](const auto& entry) { return entry.first.deployment == id; }));
}

bool DeploymentJudge::has_compute(const std::string& name) const {
  return disk_.computes.contains({{"w"}, name});
}

void DeploymentJudge::forget_lines(const std::string& id) {
  std::erase_if(disk_.lines, [&](const auto& entry) { return entry.first.deployment == id; });
}

void DeploymentJudge::restored(const Disk& disk) {
  disk_ = disk;
  std::erase_if(promised_, [&](const auto& promise) {
    const auto found = disk_.deployments.find(promise.first);
    return found == disk_.deployments.end() ||
           number_of(found->second.id) < number_of(promise.second);
  });
}

}  // namespace berth::sim

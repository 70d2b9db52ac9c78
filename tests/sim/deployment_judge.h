// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/entity.h"
#include "store/store.h"

namespace berth::sim {

/// Of the deployments' resources: those of this type are computes of the workspace "w", …
inline constexpr const char* kMadeType = "compute";
/// … and those of this one cannot be made.
inline constexpr const char* kRefusedType = "refused";

/// The judge of deployments: what users were told, and what is on the disk. Each function says what
/// is wrong, if something is.
class DeploymentJudge {
 public:
  using Complaint = std::optional<std::string>;

  // What users do and are told. Every request has a number of its own, which is the id.
  Complaint accepted(const model::DeploymentKey& key, const std::string& id);
  void cancel_asked(const std::string& id) { cancel_asked_.insert(id); }
  void delete_asked(const std::string& id) { delete_asked_.insert(id); }

  Complaint committed(const store::Batch& batch);
  /// Is everything that was acknowledged still there, or was it replaced or deleted?
  Complaint check_promises() const;

  std::vector<std::string> unfinished() const;
  const std::map<model::DeploymentKey, model::TemplateDeployment>& on_disk() const {
    return disk_.deployments;
  }
  std::size_t lines_of(const std::string& id) const;
  bool has_compute(const std::string& name) const;

  /// What is on the disk, to be put back when a backup is.
  struct Disk {
    std::map<model::DeploymentKey, model::TemplateDeployment> deployments{};
    std::map<model::OperationKey, model::DeploymentOperation> lines{};
    std::set<model::ComputeKey> computes{};
  };
  const Disk& disk() const { return disk_; }
  void restored(const Disk& disk);

 private:
  Complaint put(const model::TemplateDeployment& deployment);
  Complaint put(const model::DeploymentOperation& line);
  Complaint erase(const model::DeploymentKey& key);
  Complaint check_lines(const model::TemplateDeployment& deployment) const;
  Complaint check_end(const model::TemplateDeployment& deployment) const;
  void forget_lines(const std::string& id);

  Disk disk_{};
  std::map<model::DeploymentKey, std::string> promised_{};
  std::set<std::string> cancel_asked_{};
  std::set<std::string> delete_asked_{};
  std::set<std::string> deleted_{};  ///< From the disk.
};

}  // namespace berth::sim

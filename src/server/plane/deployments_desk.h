// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/template_deployment.h"
#include "server/plane/desk.h"

namespace berth::server {

/// Deployments of templates: begun, cancelled and forgotten as users ask for it, and what their
/// maker has come to. It knows nothing of templates. See desk.h.
class DeploymentsDesk {
 public:
  explicit DeploymentsDesk(const DeskParts& parts) : parts_(parts), state_(parts.ledger.state()) {}

  /// As LedgerOwner.
  void loaded() { gone_.clear(); }

  struct Seen {
    model::TemplateDeployment deployment{};
    std::vector<model::DeploymentOperation> operations{};
  };
  /// Going on or over.
  Result<std::optional<Seen>> find(const model::DeploymentKey& key) const;
  /// Newest first. `has_more`, and how many were read: some are about to be gone.
  struct Page {
    std::vector<Seen> seen{};
    bool has_more = false;
    std::size_t read = 0;
  };
  Result<Page> list(store::DeploymentQuery query) const;

  /// A name whose deployment goes on is a Conflict, unless the very same is asked for: then it is
  /// that one.
  Result<Seen> begin(model::TemplateDeployment deployment);
  /// What is made already stays. Of one that is over: a Conflict.
  Status cancel(const model::DeploymentKey& key, const std::string& who);
  /// Forgets it; what it made stays. While it goes on: a Conflict.
  Status remove(const model::DeploymentKey& key);

  // For the maker.

  /// From now on deployments go on, those that a server before this one has begun included. Once,
  /// when the server is about to take requests: a server that ends in a step is counted against
  /// the deployment. The maker must outlive this, or be detached.
  void resume(TemplateMaker& maker);
  void detach(const TemplateMaker& maker);
  void planned(const model::DeploymentKey& key, const std::string& id,
               std::vector<model::DeploymentStep> steps);
  /// Together with the resource: see Together.
  void settled(const model::DeploymentKey& key, model::DeploymentOperation line);
  void ended(core::DeploymentEnded event);

 private:
  const model::TemplateDeployment* going_on(const model::DeploymentKey& key) const;

  DeskParts parts_;
  const core::State& state_;
  std::multiset<std::string> gone_;  ///< Ids of those whose removal is not on disk yet.
};

}  // namespace berth::server

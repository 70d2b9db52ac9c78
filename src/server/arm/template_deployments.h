// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/loop.h"
#include "lang/arm_template/plan.h"
#include "server/door/call.h"
#include "server/plane/deployments_desk.h"
#include "server/plane/template_maker.h"
#include "wire/arm/template_deployment.h"

namespace berth::server {

/// Requests of our own, on somebody's behalf: by the same table, rights, handlers and audit log as
/// those that come in from outside.
struct Inside {
  std::function<Result<io::Reply>(const Principal& principal, io::Request request)> perform{};
  /// May they, as things are now?
  std::function<Status(const Principal& principal, const io::RequestHead& head)> check{};
};

/// Where a deployment is.
struct DeploymentName {
  std::string subscription{};
  std::string resource_group{};
  std::string name{};
};

/// Reads templates, and makes what they name as the DeploymentsDesk has decided: one resource after
/// the other, each with its line of what became of it in one commit. A server that was killed goes
/// on where its disk says it was: the plan follows from the template and its parameters, and making
/// something again changes nothing.
///
/// Loop thread only.
class TemplateDeployments final : private TemplateMaker {
 public:
  struct Parts {
    Services& services;
    io::Loop& loop;
    Inside inside{};
    std::string key{};  ///< Secure parameters are sealed with it while they are needed.
  };
  explicit TemplateDeployments(Parts parts);
  ~TemplateDeployments();
  TemplateDeployments(const TemplateDeployments&) = delete;
  TemplateDeployments& operator=(const TemplateDeployments&) = delete;

  /// From now on deployments go on, unless they are what ended the servers before this one.
  void resume();

  using Seen = DeploymentsDesk::Seen;
  using Page = DeploymentsDesk::Page;
  using Plan = lang::arm_template::Plan;

  /// Checks all that can be checked before anything is made.
  Result<std::unique_ptr<Plan>> plan(const wire::arm::DeploymentRequest& request,
                                     const DeploymentName& name, const Principal& principal);
  /// A name whose deployment goes on is a Conflict, unless the very same is asked for.
  Result<Seen> begin(const wire::arm::DeploymentRequest& request, const DeploymentName& name,
                     const Principal& principal);

  /// Only what the principal may see: their own, or all with the right in the installation.
  Result<Seen> find(const DeploymentName& name, const Principal& principal);
  /// Those that they may see of a page; those that they may not see count as read.
  Result<Page> list(const store::DeploymentQuery& query, const Principal& principal);
  /// What is made already stays. Of one that is over: a Conflict.
  Status cancel(const DeploymentName& name, const Principal& principal);
  /// Forgets it; what it made stays. While it goes on: a Conflict.
  Status remove(const DeploymentName& name, const Principal& principal);

 private:
  using Key = model::DeploymentKey;
  /// What is needed to go on with a deployment, and follows from its row.
  struct Held {
    std::string id{};  ///< Of the deployment that it is of.
    std::unique_ptr<Plan> plan{};
    std::vector<std::string> secrets{};  ///< To be kept out of messages.
  };

  // As TemplateMaker.
  void carry_out(const Key& key, const std::string& id, const core::MakerOrder& order) override;
  void recorded() override;

  std::string fingerprint(const wire::arm::DeploymentRequest& request) const;
  Result<std::unique_ptr<Plan>> plan_again(const model::TemplateDeployment& deployment) const;
  bool may_see(const model::TemplateDeployment& deployment, const Principal& principal) const;

  static Held held(const std::string& id, std::unique_ptr<Plan> plan);
  Result<Held*> hold(const Key& key, const model::TemplateDeployment& deployment);
  void go_on(const Key& key, const std::string& id, const core::MakerOrder& order);
  Status follow(const Key& key, const model::TemplateDeployment& deployment,
                const core::MakerOrder& order);
  void make(const Key& key, const model::TemplateDeployment& deployment, const Held& held,
            int number);
  Result<int> make(const model::TemplateDeployment& deployment, const Held& held,
                   const lang::arm_template::PlannedResource& resource);
  void evaluate_outputs(const Key& key, const model::TemplateDeployment& deployment,
                        const Held& held);
  void fail_deployment(const Key& key, const std::string& id, const std::string& code,
                       const std::string& error);
  Result<boost::json::value> refer(const model::TemplateDeployment& deployment, const Plan& plan,
                                   const std::string& id, bool is_full) const;

  Parts parts_;
  std::map<Key, Held> held_;
  std::map<std::string, std::string> stumbled_;  ///< Ids of those that a fault of ours stopped.
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

/// The steps that core/ is to know of the plan.
std::vector<model::DeploymentStep> steps_of(const lang::arm_template::Plan& plan);

}  // namespace berth::server

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "io/loop.h"
#include "lang/arm_template/plan.h"
#include "server/door/call.h"
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

/// Carries out templates: one resource after the other, each with its line of what became of it in
/// one commit. A server that was killed goes on where its disk says it was: the plan follows from
/// the template and its parameters, and making something again changes nothing.
///
/// Loop thread only.
class TemplateDeployments {
 public:
  struct Parts {
    Services& services;
    io::Loop& loop;
    Inside inside{};
    std::string key{};  ///< Secure parameters are sealed with it while they are needed.
  };
  explicit TemplateDeployments(Parts parts);

  /// Goes on with what is not over, unless it is what ended the servers before this one.
  Status recover_after_start();

  struct Seen {
    model::TemplateDeployment deployment{};
    std::vector<model::DeploymentOperation> operations{};
  };
  using Plan = lang::arm_template::Plan;

  /// Checks all that can be checked before anything is made.
  Result<std::unique_ptr<Plan>> plan(const wire::arm::DeploymentRequest& request,
                                     const DeploymentName& name, const Principal& principal);
  /// A name whose deployment goes on is a Conflict, unless the very same is asked for.
  Result<Seen> begin(const wire::arm::DeploymentRequest& request, const DeploymentName& name,
                     const Principal& principal);

  /// Only what the principal may see: their own, or all with the right in the installation.
  Result<Seen> find(const DeploymentName& name, const Principal& principal);
  struct Page {
    std::vector<Seen> seen{};
    bool has_more = false;
    std::size_t read = 0;  ///< Those that the caller may not see included.
  };
  Result<Page> list(store::DeploymentQuery query, const Principal& principal);
  /// What is made already stays. Of one that is over: a Conflict.
  Status cancel(const DeploymentName& name, const Principal& principal);
  /// Forgets it; what it made stays. While it goes on: a Conflict.
  Status remove(const DeploymentName& name, const Principal& principal);

 private:
  struct Live;
  using Key = std::tuple<std::string, std::string, std::string>;

  static Key key_of(const DeploymentName& name);
  std::string fingerprint(const wire::arm::DeploymentRequest& request) const;
  Result<std::unique_ptr<Plan>> plan_again(const model::TemplateDeployment& deployment) const;
  Result<std::optional<Seen>> look(const DeploymentName& name);
  bool may_see(const model::TemplateDeployment& deployment, const Principal& principal) const;
  void start(const model::TemplateDeployment& deployment, std::unique_ptr<Plan> plan,
             std::vector<model::DeploymentOperation> operations);
  void step_soon(const Key& key, const std::string& id);
  void step(const Key& key, const std::string& id);
  void go_on(Live& live);
  void make_next(Live& live);
  void make(Live& live, const lang::arm_template::PlannedResource& resource,
            model::DeploymentOperation& operation);
  void end(Live& live);
  void finish(Live& live, model::DeploymentState state);
  Status recover(bool after_start);
  Result<std::unique_ptr<Plan>> plan_once_more(const model::TemplateDeployment& deployment,
                                               std::size_t done);
  void count_start(model::TemplateDeployment& deployment, std::size_t done);
  void recover_later();
  Result<boost::json::value> refer(const Live& live, const std::string& id, bool is_full);

  Parts parts_;
  std::map<Key, std::shared_ptr<Live>> live_;
  std::set<std::string> gone_;                   ///< Ids whose removal is not on disk yet.
  std::map<std::string, std::string> stumbled_;  ///< Ids of those that a fault of ours stopped.
  bool is_recovering_ = false;
};

}  // namespace berth::server

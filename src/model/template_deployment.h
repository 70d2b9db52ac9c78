// SPDX-License-Identifier: Apache-2.0
// An ARM template on its way to being resources, and a resource group. (Deployments of models
// behind endpoints are something else.)
#pragma once

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <compare>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "model/access.h"
#include "model/workspace.h"

namespace berth::model {

/// Accepted → Running → Succeeded | Failed; either of the first two → Canceled.
/// Of an operation: Running stands for "not begun" as well; only finished ones are stored.
enum class DeploymentState { Accepted, Running, Succeeded, Failed, Canceled };
BOOST_DESCRIBE_ENUM(DeploymentState, Accepted, Running, Succeeded, Failed, Canceled)

inline bool is_over(DeploymentState state) {
  return state != DeploymentState::Accepted && state != DeploymentState::Running;
}

/// Who a deployment acts for, after a restart as before: their rights are looked up at each step.
struct DeploymentMaker {
  std::string name{};
  bool is_owner = false;
  UserId user{};
  TokenId token{};
  WallTime issued_at{};
  WorkspaceId only_in{};
};
BOOST_DESCRIBE_STRUCT(DeploymentMaker, (), (name, is_owner, user, token, issued_at, only_in))

/// What of the plan decides how a deployment goes on. The rest of the plan follows from the
/// template.
struct DeploymentStep {
  std::string resource{};  ///< Its ARM id.
  std::string type{};
  std::string name{};         ///< With those of its parents: "team/cpu".
  bool is_satisfied = false;  ///< Berth has it in itself: nothing is made.
  std::vector<int> after{};   ///< Numbers of the steps that must have succeeded first: all lower.
};
BOOST_DESCRIBE_STRUCT(DeploymentStep, (), (resource, type, name, is_satisfied, after))

struct TemplateDeployment {
  std::string id{};  ///< Another one each time that it is deployed.
  std::string subscription{};
  std::string resource_group{};
  std::string name{};
  std::map<std::string, std::string> tags{};
  DeploymentState state = DeploymentState::Accepted;
  boost::json::object definition{};  ///< The template.
  boost::json::object parameters{};  ///< {"name": {"type", "value"}}; of secure ones only the type.
  std::string sealed{};       ///< Values of secure parameters, encrypted; empty when it is over.
  std::string fingerprint{};  ///< Of what was asked for, keyed: a repeated request is known by it.
  DeploymentMaker maker{};
  boost::json::object outputs{};
  std::string error_code{};
  std::string error{};
  WallTime created_at{};
  WallTime modified_at{};
  // A step during which the server ends twice is not tried a third time.
  int resumed_at = 0;  ///< How many resources were done when a server last went on with it.
  int resumed = 0;     ///< How many servers went on there.
  /// One for each resource, in order. Rows of Berths before decision 51 have none until the
  /// template is planned again.
  std::optional<std::vector<DeploymentStep>> steps{};
};
BOOST_DESCRIBE_STRUCT(TemplateDeployment, (),
                      (id, subscription, resource_group, name, tags, state, definition, parameters,
                       sealed, fingerprint, maker, outputs, error_code, error, created_at,
                       modified_at, resumed_at, resumed, steps))

/// Of all deployments under one name only the latest is kept. Lower case.
struct DeploymentKey {
  std::string subscription{};
  std::string resource_group{};
  std::string name{};

  friend auto operator<=>(const DeploymentKey&, const DeploymentKey&) = default;
};

/// Names match in any case.
inline DeploymentKey deployment_key(std::string_view subscription, std::string_view resource_group,
                                    std::string_view name) {
  return {to_lower(subscription), to_lower(resource_group), to_lower(name)};
}
inline DeploymentKey key_of(const TemplateDeployment& deployment) {
  return deployment_key(deployment.subscription, deployment.resource_group, deployment.name);
}

/// What became of one resource of it.
struct DeploymentOperation {
  std::string deployment{};  ///< TemplateDeployment::id.
  int number = 0;            ///< From 1, in the order of the plan.
  std::string resource{};    ///< Its ARM id.
  std::string type{};
  std::string name{};  ///< With those of its parents: "team/cpu".
  DeploymentState state = DeploymentState::Succeeded;
  bool is_satisfied = false;  ///< Berth has it in itself: nothing was made.
  int status = 0;             ///< Of HTTP; 0 when nothing was tried.
  std::string error_code{};
  std::string error{};
  WallTime started_at{};
  WallTime ended_at{};
};
BOOST_DESCRIBE_STRUCT(DeploymentOperation, (),
                      (deployment, number, resource, type, name, state, is_satisfied, status,
                       error_code, error, started_at, ended_at))

struct OperationKey {
  std::string deployment{};  ///< TemplateDeployment::id.
  int number = 0;

  friend auto operator<=>(const OperationKey&, const OperationKey&) = default;
};

/// One that was made for its own sake; others are there as long as a workspace is in them.
struct ResourceGroup {
  std::string subscription{};
  std::string name{};
  std::string location = "local";
  std::map<std::string, std::string> tags{};
};
BOOST_DESCRIBE_STRUCT(ResourceGroup, (), (subscription, name, location, tags))

}  // namespace berth::model

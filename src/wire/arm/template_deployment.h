// SPDX-License-Identifier: Apache-2.0
// Microsoft.Resources: deployments of templates, and resource groups.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/template_deployment.h"
#include "wire/arm/resource.h"

namespace berth::wire::arm {

/// What a PUT or a validate asks for.
struct DeploymentRequest {
  json::object definition{};  ///< The template.
  json::object parameters{};  ///< {"name": {"value"}}
  std::map<std::string, std::string> tags{};
};

/// Only whole templates are taken, incrementally: links and the mode Complete are refused.
Result<DeploymentRequest> deployment_request(const json::value& body);

/// "/subscriptions/…/providers/Microsoft.Resources/deployments/<name>"
std::string arm_id(const model::TemplateDeployment& deployment);

json::object to_json(const model::TemplateDeployment& deployment,
                     const std::vector<model::DeploymentOperation>& operations);
json::object to_json(const model::DeploymentOperation& operation,
                     const model::TemplateDeployment& deployment);
/// {"code", "message", "details"} of one that failed; details has what each resource says.
json::object deployment_error(const model::TemplateDeployment& deployment,
                              const std::vector<model::DeploymentOperation>& operations);

/// ARM's body for a template that is refused.
std::string template_error_body(const Error& error);

json::object to_json(const model::ResourceGroup& group);
/// Location and tags of a PUT.
Result<model::ResourceGroup> resource_group_from_json(const json::value& body);

}  // namespace berth::wire::arm

// SPDX-License-Identifier: Apache-2.0
// Microsoft.Resources/deployments: templates, at the scope of a resource group.
#include "base/text.h"
#include "server/arm/template_deployments.h"
#include "server/door/paging.h"
#include "server/door/route.h"
#include "wire/arm/error.h"

namespace berth::server {
namespace {

namespace arm = wire::arm;
namespace json = boost::json;
using model::DeploymentState;

constexpr const char* kVersion = "?api-version=2020-06-01";

DeploymentName name_of(const Call& call) {
  return {call.parameter("subscriptionId"), call.parameter("resourceGroupName"),
          call.parameter("deploymentName")};
}

Result<TemplateDeployments::Seen> existing(const Call& call) {
  return call.services.template_deployments->find(name_of(call), call.principal);
}

/// What is wrong with a template is said as ARM says it; all else as everywhere.
Result<io::Reply> refused(const Error& error) {
  if (error.code != Code::InvalidArgument && error.code != Code::TooLarge) return fail(error);
  return io::Reply{.status = 400, .body = arm::template_error_body(error)};
}

io::Reply shown(const Call& call, int status, const TemplateDeployments::Seen& seen) {
  io::Reply reply = json_reply(status, arm::to_json(seen.deployment, seen.operations));
  if (!model::is_over(seen.deployment.state) && status != 200) {
    reply.headers.emplace_back(
        "Azure-AsyncOperation",
        fmt::format("{}{}/operationStatuses/{}{}", call.base_url(), arm::arm_id(seen.deployment),
                    seen.deployment.id, kVersion));
    reply.headers.emplace_back("Retry-After", "1");
  }
  return reply;
}

Result<io::Reply> put(Call& call) {
  const arm::DeploymentRequest request = TRY(arm::deployment_request(TRY(json_body(call))));
  const auto seen =
      call.services.template_deployments->begin(request, name_of(call), call.principal);
  if (!seen) return refused(seen.error());
  return shown(call, 201, *seen);
}

Result<io::Reply> validate(Call& call) {
  const arm::DeploymentRequest request = TRY(arm::deployment_request(TRY(json_body(call))));
  const auto plan =
      call.services.template_deployments->plan(request, name_of(call), call.principal);
  if (!plan) return refused(plan.error());
  const WallTime now = call.services.clock.now().wall;
  model::TemplateDeployment deployment{.subscription = call.parameter("subscriptionId"),
                                       .resource_group = call.parameter("resourceGroupName"),
                                       .name = call.parameter("deploymentName"),
                                       .state = DeploymentState::Succeeded,
                                       .definition = request.definition,
                                       .created_at = now,
                                       .modified_at = now};
  json::object body = arm::to_json(deployment, {});
  json::array resources;
  for (const auto& resource : (*plan)->resources()) {
    resources.push_back(json::object{{"id", resource.id}});
  }
  json::object& properties = body["properties"].as_object();
  properties["validatedResources"] = std::move(resources);
  properties.erase("outputs");
  return json_reply(200, body);
}

Result<io::Reply> get(Call& call) { return shown(call, 200, TRY(existing(call))); }

Result<io::Reply> exists(Call& call) { return io::Reply{.status = existing(call) ? 204 : 404}; }

Result<io::Reply> list(Call& call) {
  store::DeploymentQuery query{.subscription = call.parameter("subscriptionId"),
                               .resource_group = call.parameter("resourceGroupName")};
  query.skip = static_cast<std::size_t>(TRY(continuation(call)));
  query.limit = TRY(page_size(call));
  const TemplateDeployments::Page page =
      TRY(call.services.template_deployments->list(query, call.principal));
  json::array values;
  for (const auto& seen : page.seen) {
    values.push_back(arm::to_json(seen.deployment, seen.operations));
  }
  std::string next;
  if (page.has_more) {
    next = next_link(call, static_cast<std::int64_t>(query.skip + page.read));
  }
  return json_reply(200, arm::page(std::move(values), next));
}

/// How far it is; of one that failed, why.
Result<io::Reply> status(Call& call) {
  const TemplateDeployments::Seen seen = TRY(existing(call));
  const model::TemplateDeployment& deployment = seen.deployment;
  if (call.parameter("operationId") != deployment.id) {
    return fail(Code::NotFound, "that was an earlier deployment of this name");
  }
  json::object body = {{"id", call.request.head.path},
                       {"name", deployment.id},
                       {"status", boost::describe::enum_to_string(deployment.state, "?")}};
  if (!deployment.error_code.empty()) {
    body["error"] = arm::deployment_error(deployment, seen.operations);
  }
  io::Reply reply = json_reply(200, body);
  reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

Result<io::Reply> cancel(Call& call) {
  TRY(call.services.template_deployments->cancel(name_of(call), call.principal));
  return io::Reply{.status = 204};
}

Result<io::Reply> remove(Call& call) {
  const auto seen = existing(call);
  if (!seen && seen.error().code == Code::NotFound) return io::Reply{.status = 204};
  TRY(call.services.template_deployments->remove(name_of(call), call.principal));
  return io::Reply{.status = 204};
}

Result<io::Reply> export_template(Call& call) {
  return json_reply(200, json::object{{"template", TRY(existing(call)).deployment.definition}});
}

Result<io::Reply> list_operations(Call& call) {
  const TemplateDeployments::Seen seen = TRY(existing(call));
  json::array values;
  for (const auto& operation : seen.operations) {
    values.push_back(arm::to_json(operation, seen.deployment));
  }
  return json_reply(200, arm::page(std::move(values)));
}

Result<io::Reply> get_operation(Call& call) {
  const TemplateDeployments::Seen seen = TRY(existing(call));
  const std::string& id = call.parameter("operationId");
  for (const auto& operation : seen.operations) {
    if (std::to_string(operation.number) == id) {
      return json_reply(200, arm::to_json(operation, seen.deployment));
    }
  }
  return fail(Code::NotFound, fmt::format("no operation '{}' of this deployment", id));
}

Result<io::Reply> what_if(Call&) {
  return fail(Code::NotSupported, "what-if is not supported; validate says what would be made");
}

Result<io::Reply> of_a_subscription(Call&) {
  return fail(Code::NotSupported, "templates are deployed to a resource group, not a subscription");
}

/// Deployments are somebody's, and each resource asks for its own right: to have the right in one
/// workspace is enough to begin.
constexpr Permission allow(const char* action) {
  return {Permission::Kind::Action, action, Permission::Scope::Somewhere};
}
constexpr Permission kRead = allow("Microsoft.Resources/deployments/read");
constexpr Permission kWrite = allow("Microsoft.Resources/deployments/write");
constexpr Permission kDelete = allow("Microsoft.Resources/deployments/delete");
constexpr Permission kValidate = allow("Microsoft.Resources/deployments/validate/action");
constexpr Permission kCancel = allow("Microsoft.Resources/deployments/cancel/action");
constexpr Permission kExport = allow("Microsoft.Resources/deployments/exportTemplate/action");
constexpr Permission kReadOperations = allow("Microsoft.Resources/deployments/operations/read");

#define BERTH_GROUP "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}"
#define BERTH_ALL BERTH_GROUP "/providers/Microsoft.Resources/deployments"
#define BERTH_ONE BERTH_ALL "/{deploymentName}"

constexpr Route kRoutes[] = {
    {"GET", BERTH_ALL, kRead, BodyKind::None, list},
    {"GET", BERTH_ALL "/", kRead, BodyKind::None, list},  // So says Azure's own client.
    {"GET", BERTH_ONE, kRead, BodyKind::None, get},
    {"HEAD", BERTH_ONE, kRead, BodyKind::None, exists},
    {"PUT", BERTH_ONE, kWrite, BodyKind::Json, put},
    {"DELETE", BERTH_ONE, kDelete, BodyKind::None, remove},
    {"POST", BERTH_ONE "/validate", kValidate, BodyKind::Json, validate},
    {"POST", BERTH_ONE "/whatIf", kValidate, BodyKind::Json, what_if},
    {"PUT",
     "/subscriptions/{subscriptionId}/providers/Microsoft.Resources/deployments/{deploymentName}",
     kWrite, BodyKind::Json, of_a_subscription},
    {"POST", BERTH_ONE "/cancel", kCancel, BodyKind::Json, cancel},
    {"POST", BERTH_ONE "/exportTemplate", kExport, BodyKind::Json, export_template},
    {"GET", BERTH_ONE "/operationStatuses/{operationId}", kRead, BodyKind::None, status},
    {"GET", BERTH_ONE "/operations", kReadOperations, BodyKind::None, list_operations},
    {"GET", BERTH_ONE "/operations/{operationId}", kReadOperations, BodyKind::None, get_operation},
    // The same without the provider, as clients ask for them.
    {"GET", BERTH_GROUP "/deployments/{deploymentName}/operations", kReadOperations, BodyKind::None,
     list_operations},
    {"GET", BERTH_GROUP "/deployments/{deploymentName}/operations/{operationId}", kReadOperations,
     BodyKind::None, get_operation},
};

#undef BERTH_ONE
#undef BERTH_ALL
#undef BERTH_GROUP

}  // namespace

std::span<const Route> template_deployment_routes() { return kRoutes; }

}  // namespace berth::server

// SPDX-License-Identifier: Apache-2.0
#include "wire/arm/template_deployment.h"

#include <fmt/format.h>

#include <set>

#include "base/digest.h"
#include "base/text.h"
#include "wire/arm/field.h"

namespace berth::wire::arm {
namespace {

using model::DeploymentOperation;
using model::DeploymentState;
using model::TemplateDeployment;

std::string_view text_of(DeploymentState state) {
  return boost::describe::enum_to_string(state, "?");
}

/// "PT1.25S": Azure gives fractions.
std::string duration_of(WallTime from, WallTime to) {
  const auto milliseconds = std::max<std::int64_t>(0, (to - from).count());
  return fmt::format("PT{}.{:03}S", milliseconds / 1000, milliseconds % 1000);
}

std::string group_path(const std::string& subscription, const std::string& group) {
  return fmt::format("/subscriptions/{}/resourceGroups/{}", subscription, group);
}

/// Azure's words for HTTP's numbers.
std::string status_word(const DeploymentOperation& operation) {
  switch (operation.status) {
    case 0: return operation.state == DeploymentState::Succeeded ? "OK" : "Canceled";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 400: return "BadRequest";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "NotFound";
    case 409: return "Conflict";
    case 413: return "RequestEntityTooLarge";
    case 501: return "NotImplemented";
    case 503: return "ServiceUnavailable";
    default: return std::to_string(operation.status);
  }
}

/// The types that a template used: [{"namespace", "resourceTypes": [{"resourceType"}]}].
json::array providers_of(const std::vector<DeploymentOperation>& operations) {
  std::map<std::string, std::set<std::string>> types;
  for (const DeploymentOperation& operation : operations) {
    const std::size_t slash = operation.type.find('/');
    if (slash != std::string::npos) {
      types[operation.type.substr(0, slash)].insert(operation.type.substr(slash + 1));
    }
  }
  json::array providers;
  for (const auto& [space, names] : types) {
    json::array list;
    for (const std::string& name : names) {
      list.push_back(json::object{{"resourceType", name}, {"locations", json::array{nullptr}}});
    }
    providers.push_back(json::object{{"namespace", space}, {"resourceTypes", std::move(list)}});
  }
  return providers;
}

tl::unexpected<Error> not_supported(const Fields& fields, std::string_view key,
                                    std::string_view instead) {
  return fail(Code::NotSupported,
              fmt::format("'{}' is not supported; {}", fields.path_of(key), instead),
              fields.path_of(key));
}

}  // namespace

Result<DeploymentRequest> deployment_request(const json::value& body) {
  const Fields fields = TRY(Fields::of(body, ""));
  const auto properties = TRY(fields.fields("properties"));
  if (!properties) return fields.wrong("properties", "is missing");
  const std::string mode = TRY(properties->text("mode"));
  if (equals_ignoring_case(mode, "Complete")) {
    return not_supported(*properties, "mode",
                         "Complete would delete what the template does not name; use Incremental");
  }
  if (!mode.empty() && !equals_ignoring_case(mode, "Incremental")) {
    return properties->wrong("mode", "must be Incremental");
  }
  for (const char* link : {"templateLink", "parametersLink"}) {
    if (properties->find(link) != nullptr) {
      return not_supported(*properties, link, "send the contents instead of a link");
    }
  }
  if (properties->find("onErrorDeployment") != nullptr) {
    return not_supported(*properties, "onErrorDeployment", "deploy the earlier template again");
  }
  DeploymentRequest request;
  if (properties->find("template") == nullptr) return properties->wrong("template", "is missing");
  request.definition = TRY(properties->any_object("template"));
  request.parameters = TRY(properties->any_object("parameters"));
  request.tags = TRY(fields.text_map("tags"));
  // A whole parameter file: its own "parameters" are meant.
  const json::value* inner = request.parameters.if_contains("parameters");
  if (request.parameters.contains("$schema") && inner != nullptr && inner->is_object()) {
    json::object only = inner->get_object();
    request.parameters = std::move(only);
  }
  return request;
}

std::string arm_id(const TemplateDeployment& deployment) {
  return fmt::format("{}/providers/Microsoft.Resources/deployments/{}",
                     group_path(deployment.subscription, deployment.resource_group),
                     deployment.name);
}

json::object deployment_error(const TemplateDeployment& deployment,
                              const std::vector<DeploymentOperation>& operations) {
  json::array details;
  for (const DeploymentOperation& operation : operations) {
    if (operation.state != DeploymentState::Failed) continue;
    details.push_back(json::object{{"code", operation.error_code},
                                   {"message", operation.error},
                                   {"target", operation.resource}});
  }
  return {{"code", deployment.error_code},
          {"message", deployment.error},
          {"target", arm_id(deployment)},
          {"details", std::move(details)}};
}

json::object to_json(const TemplateDeployment& deployment,
                     const std::vector<DeploymentOperation>& operations) {
  json::array made;
  for (const DeploymentOperation& operation : operations) {
    if (operation.state == DeploymentState::Succeeded) {
      made.push_back(json::object{{"id", operation.resource}});
    }
  }
  json::object properties = {
      {"templateHash", to_hex(sha256(json::serialize(deployment.definition))).substr(0, 20)},
      {"parameters", deployment.parameters},
      {"mode", "Incremental"},
      {"provisioningState", text_of(deployment.state)},
      {"timestamp", to_iso8601(deployment.modified_at)},
      {"duration", duration_of(deployment.created_at, deployment.modified_at)},
      {"correlationId", deployment.id},
      {"providers", providers_of(operations)},
      {"dependencies", json::array()},
      {"outputResources", std::move(made)},
  };
  if (deployment.state == DeploymentState::Succeeded) properties["outputs"] = deployment.outputs;
  if (!deployment.error_code.empty()) {
    properties["error"] = deployment_error(deployment, operations);
  }
  return {{"id", arm_id(deployment)},
          {"name", deployment.name},
          {"type", "Microsoft.Resources/deployments"},
          {"tags", to_json(deployment.tags)},
          {"properties", std::move(properties)}};
}

json::object to_json(const DeploymentOperation& operation, const TemplateDeployment& deployment) {
  json::object properties = {
      {"provisioningOperation", operation.is_satisfied ? "Read" : "Create"},
      {"provisioningState", text_of(operation.state)},
      {"timestamp", to_iso8601(operation.ended_at)},
      {"duration", duration_of(operation.started_at, operation.ended_at)},
      {"trackingId", deployment.id},
      {"serviceRequestId", deployment.id},
      {"statusCode", status_word(operation)},
      {"targetResource",
       {{"id", operation.resource},
        {"resourceType", operation.type},
        {"resourceName", operation.name}}},
  };
  if (operation.is_satisfied) properties["statusMessage"] = {{"status", "SatisfiedByBerth"}};
  if (!operation.error.empty()) {
    properties["statusMessage"] = {
        {"status", text_of(operation.state)},
        {"error", {{"code", operation.error_code}, {"message", operation.error}}}};
  }
  const std::string number = std::to_string(operation.number);
  return {{"id", arm_id(deployment) + "/operations/" + number},
          {"operationId", number},
          {"properties", std::move(properties)}};
}

std::string template_error_body(const Error& error) {
  const std::string message =
      error.target.empty() ? error.message : fmt::format("{}: {}", error.target, error.message);
  json::object inner = {{"code", "InvalidTemplate"}, {"message", to_valid_utf8(message)}};
  if (!error.target.empty()) inner["target"] = to_valid_utf8(error.target);
  return json::serialize(json::object{{"error", std::move(inner)}});
}

json::object to_json(const model::ResourceGroup& group) {
  return {{"id", group_path(group.subscription, group.name)},
          {"name", group.name},
          {"type", "Microsoft.Resources/resourceGroups"},
          {"location", group.location},
          {"tags", to_json(group.tags)},
          {"properties", {{"provisioningState", "Succeeded"}}}};
}

Result<model::ResourceGroup> resource_group_from_json(const json::value& body) {
  const Fields fields = TRY(Fields::of(body, ""));
  model::ResourceGroup group;
  const std::string location = TRY(fields.text("location"));
  if (!location.empty()) group.location = location;
  group.tags = TRY(fields.text_map("tags"));
  return group;
}

}  // namespace berth::wire::arm

// SPDX-License-Identifier: Apache-2.0
// What users ask for. How it is carried out is in template_deployment_steps.cc.
#include "server/arm/template_deployments.h"

#include "base/digest.h"
#include "base/random.h"
#include "base/seal.h"
#include "base/text.h"
#include "lang/arm_template/parameters.h"
#include "server/arm/resource_groups.h"
#include "server/plane/ledger.h"

namespace berth::server {

namespace tmpl = lang::arm_template;
namespace json = boost::json;
using model::DeploymentState;
using model::TemplateDeployment;
using wire::arm::DeploymentRequest;

namespace {

constexpr const char* kRead = "Microsoft.Resources/deployments/read";

model::DeploymentMaker maker_of(const Principal& principal) {
  return {.name = principal.name,
          .is_owner = principal.kind == Principal::Kind::Owner,
          .user = principal.user,
          .token = principal.token,
          .issued_at = principal.issued_at,
          .only_in = principal.only_in};
}

/// What is shown of parameters, and what is not.
struct Settled {
  json::object shown{};
  json::object secret{};
};

Settled settled(const tmpl::Plan& plan) {
  Settled result;
  for (const tmpl::SettledParameter& parameter : plan.parameters()) {
    if (parameter.is_secure) {
      result.shown[parameter.name] = {{"type", parameter.type}};
      result.secret[parameter.name] = parameter.value;
    } else {
      result.shown[parameter.name] = {{"type", parameter.type}, {"value", parameter.value}};
    }
  }
  return result;
}

model::DeploymentKey key_of(const DeploymentName& name) {
  return model::deployment_key(name.subscription, name.resource_group, name.name);
}

tl::unexpected<Error> no_deployment(const DeploymentName& name) {
  return fail(Code::NotFound, fmt::format("no deployment '{}' in resource group '{}'", name.name,
                                          name.resource_group));
}

}  // namespace

std::vector<model::DeploymentStep> steps_of(const tmpl::Plan& plan) {
  std::vector<model::DeploymentStep> steps;
  for (const tmpl::PlannedResource& resource : plan.resources()) {
    model::DeploymentStep& step = steps.emplace_back();
    step.resource = resource.id;
    step.type = resource.type;
    step.name = resource.name;
    step.is_satisfied = resource.treatment == tmpl::Treatment::Satisfied;
    for (const std::size_t index : resource.after)
      step.after.push_back(static_cast<int>(index) + 1);
  }
  return steps;
}

TemplateDeployments::TemplateDeployments(Parts parts) : parts_(std::move(parts)) {}

TemplateDeployments::~TemplateDeployments() { parts_.services.deployments.detach(*this); }

void TemplateDeployments::resume() { parts_.services.deployments.resume(*this); }

/// A request that is repeated has the same. Keyed, because it is stored and secrets are in it.
std::string TemplateDeployments::fingerprint(const DeploymentRequest& request) const {
  return to_hex(hmac_sha256(parts_.key, json::serialize(request.definition) + "\n" +
                                            json::serialize(request.parameters)));
}

Result<std::unique_ptr<tmpl::Plan>> TemplateDeployments::plan(const DeploymentRequest& request,
                                                              const DeploymentName& name,
                                                              const Principal& principal) {
  tmpl::Order order{.definition = request.definition,
                    .place = {.subscription = name.subscription,
                              .resource_group = name.resource_group,
                              .location = location_of(parts_.services, name),
                              .deployment = name.name},
                    .fresh = {.now = parts_.services.clock.now().wall, .new_guid = random_uuid}};
  order.given = TRY(tmpl::given_values(request.definition, request.parameters));
  std::unique_ptr<Plan> made = TRY(tmpl::make_plan(std::move(order)));
  for (const tmpl::PlannedResource& resource : made->resources()) {
    if (resource.treatment != tmpl::Treatment::Made) continue;
    TRY(parts_.inside.check(principal, {.method = "PUT", .path = resource.id}));
  }
  return made;
}

/// Everything but the values of secure parameters is in the row, and those are sealed in it.
Result<std::unique_ptr<tmpl::Plan>> TemplateDeployments::plan_again(
    const TemplateDeployment& deployment) const {
  const DeploymentName name{deployment.subscription, deployment.resource_group, deployment.name};
  tmpl::Order order{.definition = deployment.definition,
                    .place = {.subscription = name.subscription,
                              .resource_group = name.resource_group,
                              .location = location_of(parts_.services, name),
                              .deployment = name.name},
                    .fresh = {.now = deployment.created_at, .new_guid = random_uuid}};
  for (const auto& [key, parameter] : deployment.parameters) {
    const json::value* value =
        parameter.is_object() ? parameter.get_object().if_contains("value") : nullptr;
    if (value != nullptr) order.given[key] = *value;
  }
  if (!deployment.sealed.empty()) {
    boost::system::error_code failed;
    const json::value secrets = json::parse(TRY(unseal(parts_.key, deployment.sealed)), failed);
    if (failed || !secrets.is_object()) return fail(Code::Internal, "a sealed secret is damaged");
    for (const auto& [key, value] : secrets.get_object()) order.given[key] = value;
  }
  return tmpl::make_plan(std::move(order));
}

Result<TemplateDeployments::Seen> TemplateDeployments::begin(const DeploymentRequest& request,
                                                             const DeploymentName& name,
                                                             const Principal& principal) {
  const std::string asked = fingerprint(request);
  if (const auto existing = TRY(parts_.services.deployments.find(key_of(name)))) {
    if (!may_see(existing->deployment, principal)) {
      return fail(
          Code::Forbidden,
          fmt::format("the deployment '{}' is somebody else's; choose another name", name.name));
    }
    if (!model::is_over(existing->deployment.state)) {
      if (existing->deployment.fingerprint == asked) return *existing;
      return fail(
          Code::Conflict,
          fmt::format("the deployment '{}' goes on; wait for its end or cancel it", name.name));
    }
  }
  std::unique_ptr<Plan> made = TRY(plan(request, name, principal));
  const Settled parameters = settled(*made);
  const WallTime now = parts_.services.clock.now().wall;
  TemplateDeployment deployment{.id = random_uuid(),
                                .subscription = name.subscription,
                                .resource_group = name.resource_group,
                                .name = name.name,
                                .tags = request.tags,
                                .definition = request.definition,
                                .parameters = parameters.shown,
                                .fingerprint = asked,
                                .maker = maker_of(principal),
                                .created_at = now,
                                .modified_at = now};
  if (!parameters.secret.empty()) {
    deployment.sealed = seal(parts_.key, json::serialize(parameters.secret));
  }
  deployment.steps = steps_of(*made);
  held_[key_of(name)] = held(deployment.id, std::move(made));
  return parts_.services.deployments.begin(std::move(deployment));
}

bool TemplateDeployments::may_see(const TemplateDeployment& deployment,
                                  const Principal& principal) const {
  const bool is_own =
      !principal.user.text.empty() && principal.user == deployment.maker.user &&
      (principal.only_in.text.empty() || principal.only_in == deployment.maker.only_in);
  return is_own || may(parts_.services.ledger.state(), principal, kRead, {});
}

Result<TemplateDeployments::Seen> TemplateDeployments::find(const DeploymentName& name,
                                                            const Principal& principal) {
  auto seen = TRY(parts_.services.deployments.find(key_of(name)));
  if (!seen || !may_see(seen->deployment, principal)) return no_deployment(name);
  return *std::move(seen);
}

Result<TemplateDeployments::Page> TemplateDeployments::list(const store::DeploymentQuery& query,
                                                            const Principal& principal) {
  Page page = TRY(parts_.services.deployments.list(query));
  std::erase_if(page.seen, [&](const Seen& seen) { return !may_see(seen.deployment, principal); });
  return page;
}

Status TemplateDeployments::cancel(const DeploymentName& name, const Principal& principal) {
  TRY(find(name, principal));
  return parts_.services.deployments.cancel(key_of(name), principal.name);
}

Status TemplateDeployments::remove(const DeploymentName& name, const Principal& principal) {
  TRY(find(name, principal));
  return parts_.services.deployments.remove(key_of(name));
}

}  // namespace berth::server

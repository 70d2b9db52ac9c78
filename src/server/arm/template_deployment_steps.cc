// SPDX-License-Identifier: Apache-2.0
// What is ordered of the maker: each order, once or twice, and what became of it.
#include "base/caught.h"
#include "base/log.h"
#include "base/record.h"
#include "base/text.h"
#include "server/arm/template_deployments.h"
#include "server/mlflow/mlflow.h"
#include "server/plane/ledger.h"
#include "wire/arm/error.h"

namespace berth::server {

namespace tmpl = lang::arm_template;
namespace json = boost::json;
using model::DeploymentOperation;
using model::DeploymentState;
using tmpl::PlannedResource;

namespace {

constexpr std::size_t kShortestSecret = 4;  // Shorter ones would blank out half of every message.

Principal principal_of(const model::DeploymentMaker& maker) {
  return {.kind = maker.is_owner ? Principal::Kind::Owner : Principal::Kind::User,
          .name = maker.name,
          .user = maker.user,
          .token = maker.token,
          .issued_at = maker.issued_at,
          .only_in = maker.only_in};
}

void collect_texts(const json::value& value, std::vector<std::string>& texts) {
  if (value.is_string() && value.get_string().size() >= kShortestSecret) {
    texts.emplace_back(value.get_string());
  } else if (const json::array* list = value.if_array()) {
    for (const json::value& element : *list) collect_texts(element, texts);
  } else if (const json::object* object = value.if_object()) {
    for (const auto& [key, member] : *object) collect_texts(member, texts);
  }
}

std::string without(std::string message, const std::vector<std::string>& secrets) {
  for (const std::string& secret : secrets) {
    for (std::size_t at = message.find(secret); at != std::string::npos;
         at = message.find(secret)) {
      message.replace(at, secret.size(), "***");
    }
  }
  return message;
}

io::Request request_of(const std::string& method, const std::string& path, std::string body,
                       const std::string& deployment) {
  io::Request request{.body = std::move(body)};
  request.head = {
      .method = method, .path = path, .is_tls = true, .peer = "deployment " + deployment};
  return request;
}

/// Whether the State still says what was ordered.
bool is_still_ordered(const core::State& state, const model::TemplateDeployment& deployment,
                      const core::MakerOrder& order) {
  for (const core::DeploymentOrder& now : core::step(state, deployment)) {
    const auto* asked = std::get_if<core::MakerOrder>(&now);
    if (asked != nullptr && *asked == order) return true;
  }
  return false;
}

}  // namespace

/// Later, because the Ledger is still at work; then a fault of ours is the deployment's end, not
/// the server's.
void TemplateDeployments::carry_out(const Key& key, const std::string& id,
                                    const core::MakerOrder& order) {
  parts_.loop.post([this, alive = std::weak_ptr<int>(alive_), key, id, order] {
    if (alive.expired()) return;
    const auto what = [&] { return fmt::format("the deployment '{}'", key.name); };
    const Status gone = caught(what, [&] { go_on(key, id, order); });
    if (gone) return;
    stumbled_[id] = gone.error().message;
    fail_deployment(key, id, "DeploymentFailed", gone.error().message);
  });
}

/// What follows from the row of one that is over is needed no more: secrets are in it.
void TemplateDeployments::recorded() {
  const core::State& state = parts_.services.ledger.state();
  const auto goes_on = [&](const std::string& id) {
    const model::TemplateDeployment* deployment = core::find_deployment(state, id);
    return deployment != nullptr && !is_over(deployment->state);
  };
  std::erase_if(held_, [&](const auto& entry) { return !goes_on(entry.second.id); });
  std::erase_if(stumbled_, [&](const auto& entry) { return !goes_on(entry.first); });
}

void TemplateDeployments::go_on(const Key& key, const std::string& id,
                                const core::MakerOrder& order) {
  const core::State& state = parts_.services.ledger.state();
  const auto found = state.deployments.find(key);
  const bool is_it = found != state.deployments.end() && found->second.id == id;
  if (!is_it || !is_still_ordered(state, found->second, order)) return;
  // A copy: what is made may change the State, and a fault may load it again.
  const model::TemplateDeployment deployment = found->second;
  const auto stumbled = stumbled_.find(id);
  const Status followed = stumbled == stumbled_.end() ? follow(key, deployment, order)
                                                      : fail(Code::Internal, stumbled->second);
  if (followed) return;
  log::warning("the deployment '{}' does not go on: {}", deployment.name, followed.error().message);
  fail_deployment(key, id, "DeploymentFailed", followed.error().message);
}

Status TemplateDeployments::follow(const Key& key, const model::TemplateDeployment& deployment,
                                   const core::MakerOrder& order) {
  const Held& held = *TRY(hold(key, deployment));
  if (const auto* next = std::get_if<core::MakeResource>(&order)) {
    const auto& planned = held.plan->resources();
    const auto index = static_cast<std::size_t>(next->number) - 1;
    const bool is_same = index < planned.size() &&
                         planned[index].id == core::line_of(deployment, next->number).resource;
    if (!is_same) return fail(Code::Internal, "its template gives another plan than before");
    make(key, deployment, held, next->number);
  } else if (std::holds_alternative<core::EvaluateOutputs>(order)) {
    evaluate_outputs(key, deployment, held);
  } else {
    parts_.services.deployments.planned(key, deployment.id, steps_of(*held.plan));
  }
  return Done{};
}

TemplateDeployments::Held TemplateDeployments::held(const std::string& id,
                                                    std::unique_ptr<Plan> plan) {
  Held held{.id = id};
  for (const tmpl::SettledParameter& parameter : plan->parameters()) {
    if (parameter.is_secure) collect_texts(parameter.value, held.secrets);
  }
  held.plan = std::move(plan);
  return held;
}

/// The plan to go on with, or why the deployment does not go on.
Result<TemplateDeployments::Held*> TemplateDeployments::hold(
    const Key& key, const model::TemplateDeployment& deployment) {
  const auto found = held_.find(key);
  if (found != held_.end() && found->second.id == deployment.id) return &found->second;
  Result<std::unique_ptr<Plan>> plan =
      caught("planning a deployment again", [&] { return plan_again(deployment); });
  if (!plan) {
    return fail(plan.error().code, "it cannot go on after a restart: " + plan.error().message);
  }
  return &(held_[key] = held(deployment.id, *std::move(plan)));
}

/// A resource and the line that tells of it are one batch.
void TemplateDeployments::make(const Key& key, const model::TemplateDeployment& deployment,
                               const Held& held, int number) {
  DeploymentOperation line = core::line_of(deployment, number);
  line.started_at = parts_.services.clock.now().wall;
  const Together together(parts_.services.ledger);
  const Result<int> status =
      make(deployment, held, held.plan->resources()[static_cast<std::size_t>(number) - 1]);
  if (status) {
    line.status = *status;
  } else {
    const Error& error = status.error();
    // What such a fault had changed was undone, and with it may be the line that tells of it.
    if (error.code == Code::Internal) stumbled_[deployment.id] = error.message;
    line.state = DeploymentState::Failed;
    line.status = wire::arm::http_status(error.code);
    line.error_code = wire::arm::arm_code(error.code);
    const bool says_where = error.message.find(error.target) != std::string::npos;
    line.error =
        without(says_where ? error.message : fmt::format("{}: {}", error.target, error.message),
                held.secrets);
  }
  line.ended_at = parts_.services.clock.now().wall;
  parts_.services.deployments.settled(key, std::move(line));
}

/// The status that the request for it was answered with.
Result<int> TemplateDeployments::make(const model::TemplateDeployment& deployment, const Held& held,
                                      const PlannedResource& resource) {
  const tmpl::Refer refer_to = [&](const std::string& id, bool is_full) {
    return refer(deployment, *held.plan, id, is_full);
  };
  const json::object body = TRY(held.plan->body_of(resource, refer_to));
  const io::Reply reply = TRY(parts_.inside.perform(
      principal_of(deployment.maker),
      request_of("PUT", resource.id, json::serialize(body), deployment.name)));
  if (reply.status >= 400) return fail(wire::arm::error_from(reply.status, reply.body));
  return reply.status;
}

/// The state of a resource, asked for as its maker would.
Result<json::value> TemplateDeployments::refer(const model::TemplateDeployment& deployment,
                                               const Plan& plan, const std::string& id,
                                               bool is_full) const {
  const PlannedResource* planned = plan.find(id);
  if (planned != nullptr && planned->treatment == tmpl::Treatment::Satisfied) {
    const json::object properties = {{"provisioningState", "Succeeded"}};
    if (!is_full) return properties;
    return json::object{{"id", planned->id}, {"type", planned->type}, {"properties", properties}};
  }
  const io::Reply reply = TRY(parts_.inside.perform(principal_of(deployment.maker),
                                                    request_of("GET", id, "", deployment.name)));
  json::value resource = TRY(record::parse(reply.body));
  if (!resource.is_object()) return fail(Code::Internal, "reference: not a resource");
  if (is_full) return resource;
  const json::value* properties = resource.get_object().if_contains("properties");
  return properties == nullptr ? json::value(json::object()) : *properties;
}

void TemplateDeployments::evaluate_outputs(const Key& key,
                                           const model::TemplateDeployment& deployment,
                                           const Held& held) {
  const tmpl::Refer refer_to = [&](const std::string& id, bool is_full) {
    return refer(deployment, *held.plan, id, is_full);
  };
  Result<json::object> outputs = held.plan->outputs(refer_to);
  if (!outputs) {
    const Error& error = outputs.error();
    return fail_deployment(
        key, deployment.id, "DeploymentOutputEvaluationFailed",
        without(fmt::format("{}: {}", error.target, error.message), held.secrets));
  }
  parts_.services.deployments.ended({.deployment = key,
                                     .id = deployment.id,
                                     .state = DeploymentState::Succeeded,
                                     .outputs = *std::move(outputs),
                                     .at = parts_.services.clock.now().wall});
}

void TemplateDeployments::fail_deployment(const Key& key, const std::string& id,
                                          const std::string& code, const std::string& error) {
  parts_.services.deployments.ended({.deployment = key,
                                     .id = id,
                                     .state = DeploymentState::Failed,
                                     .error_code = code,
                                     .error = error,
                                     .at = parts_.services.clock.now().wall});
}

}  // namespace berth::server

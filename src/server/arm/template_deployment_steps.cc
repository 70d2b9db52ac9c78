// SPDX-License-Identifier: Apache-2.0
// Carrying out: one resource at a time, and going on after a restart.
#include "base/caught.h"
#include "base/log.h"
#include "base/record.h"
#include "base/text.h"
#include "server/arm/template_deployment_live.h"
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

constexpr Duration kPauseBeforeRecovery = std::chrono::seconds(1);
constexpr int kMostResumed = 1;
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

DeploymentOperation operation_of(const model::TemplateDeployment& deployment,
                                 const PlannedResource& resource, std::size_t index, WallTime now) {
  return {.deployment = deployment.id,
          .number = static_cast<int>(index) + 1,
          .resource = resource.id,
          .type = resource.type,
          .name = resource.name,
          .is_satisfied = resource.treatment == tmpl::Treatment::Satisfied,
          .started_at = now};
}

}  // namespace

Status TemplateDeployments::recover_after_start() { return recover(true); }

/// On disk before the step is tried: a server that ends in it leaves the count behind.
void TemplateDeployments::count_start(model::TemplateDeployment& deployment, std::size_t done) {
  const int step = static_cast<int>(done);
  deployment.resumed = deployment.resumed_at == step ? deployment.resumed + 1 : 1;
  deployment.resumed_at = step;
  parts_.services.ledger.write({store::PutDeployment{deployment}});
}

Status TemplateDeployments::recover(bool after_start) {
  live_.clear();
  store::DeploymentReader& rows = parts_.services.store.deployments();
  for (model::TemplateDeployment& deployment : TRY(rows.unfinished())) {
    auto operations = TRY(rows.operations(deployment.id));
    if (after_start) count_start(deployment, operations.size());
    Result<std::unique_ptr<Plan>> plan = plan_once_more(deployment, operations.size());
    if (!plan) {
      deployment.error_code = "DeploymentFailed";
      deployment.error = plan.error().message;
      log::warning("the deployment '{}' does not go on: {}", deployment.name, deployment.error);
    } else {
      log::info("goes on with the deployment '{}'", deployment.name);
    }
    start(deployment, plan ? *std::move(plan) : nullptr, std::move(operations));
  }
  return Done{};
}

/// The plan to go on with, or why it does not go on.
Result<std::unique_ptr<tmpl::Plan>> TemplateDeployments::plan_once_more(
    const model::TemplateDeployment& deployment, std::size_t done) {
  if (deployment.resumed > kMostResumed) {
    return fail(Code::Internal,
                fmt::format("the server ended twice during its step {}, and it is not tried a "
                            "third time; what was made before stays",
                            done + 1));
  }
  if (const auto stumbled = stumbled_.find(deployment.id); stumbled != stumbled_.end()) {
    return fail(Code::Internal, stumbled->second);
  }
  Result<std::unique_ptr<Plan>> plan =
      caught("planning a deployment again", [&] { return plan_again(deployment); });
  if (plan) return plan;
  return fail(plan.error().code, "it cannot go on after a restart: " + plan.error().message);
}

void TemplateDeployments::recover_later() {
  live_.clear();  // Until then the disk is right, and not what was to be.
  if (std::exchange(is_recovering_, true)) return;
  parts_.loop.after(kPauseBeforeRecovery, [this] {
    is_recovering_ = false;
    if (const Status recovered = recover(false); !recovered) {
      log::error("deployments wait: {}", recovered.error().message);
      recover_later();
    }
  });
}

void TemplateDeployments::start(const model::TemplateDeployment& deployment,
                                std::unique_ptr<Plan> plan,
                                std::vector<DeploymentOperation> operations) {
  auto live = std::make_shared<Live>();
  live->deployment = deployment;
  live->operations = std::move(operations);
  if (plan) {
    for (const tmpl::SettledParameter& parameter : plan->parameters()) {
      if (parameter.is_secure) collect_texts(parameter.value, live->secrets);
    }
  }
  live->plan = std::move(plan);
  const Key key = key_of({deployment.subscription, deployment.resource_group, deployment.name});
  live_[key] = std::move(live);
  step_soon(key, deployment.id);
}

/// Not before what was done so far is on disk. If that failed it never happened, and the disk says
/// where to go on.
void TemplateDeployments::step_soon(const Key& key, const std::string& id) {
  parts_.loop.post([this, key, id] {
    parts_.services.ledger.when_durable([this, key, id](const Status& durable) {
      if (!durable) return recover_later();
      parts_.loop.post([this, key, id] { step(key, id); });
    });
  });
}

void TemplateDeployments::step(const Key& key, const std::string& id) {
  const auto found = live_.find(key);
  if (found == live_.end() || found->second->deployment.id != id) return;
  Live& live = *found->second;
  if (model::is_over(live.deployment.state)) {
    // The disk knows of it now, unless it was cancelled since this step was asked for.
    if (!std::exchange(live.is_ended, true)) return step_soon(key, id);
    stumbled_.erase(id);
    live_.erase(found);
    return;
  }
  go_on(live);
  step_soon(key, id);
}

/// A fault of ours is the deployment's end, not the server's.
void TemplateDeployments::go_on(Live& live) {
  const bool has_more = live.plan && live.operations.size() < live.plan->resources().size();
  const auto what = [&] { return fmt::format("the deployment '{}'", live.deployment.name); };
  const Status gone = caught(what, [&] { has_more ? make_next(live) : end(live); });
  if (gone) return;
  live.deployment.error_code = "DeploymentFailed";
  live.deployment.error = gone.error().message;
  stumbled_[live.deployment.id] = gone.error().message;
  finish(live, DeploymentState::Failed);
}

/// A resource and the line that tells of it are one batch.
void TemplateDeployments::make_next(Live& live) {
  Ledger& ledger = parts_.services.ledger;
  const std::size_t index = live.operations.size();
  const PlannedResource& resource = live.plan->resources()[index];
  const WallTime now = parts_.services.clock.now().wall;
  DeploymentOperation operation = operation_of(live.deployment, resource, index, now);
  const auto missing = std::ranges::find_if(resource.after, [&](std::size_t other) {
    return live.operations[other].state != DeploymentState::Succeeded;
  });
  const Together together(ledger);
  if (missing != resource.after.end()) {
    operation.state = DeploymentState::Canceled;
    operation.error_code = "DependencyFailed";
    operation.error =
        fmt::format("not made, because '{}' was not", live.plan->resources()[*missing].name);
  } else if (!operation.is_satisfied) {
    make(live, resource, operation);
  }
  operation.ended_at = parts_.services.clock.now().wall;
  live.operations.push_back(operation);
  ledger.write({store::PutDeploymentOperation{std::move(operation)}});
  if (live.deployment.state == DeploymentState::Accepted) {
    live.deployment.state = DeploymentState::Running;
    ledger.write({store::PutDeployment{live.deployment}});
  }
}

void TemplateDeployments::make(Live& live, const PlannedResource& resource,
                               DeploymentOperation& operation) {
  const tmpl::Refer refer_to = [&](const std::string& id, bool is_full) {
    return refer(live, id, is_full);
  };
  Result<io::Reply> reply = fail(Code::Internal, "");
  const Result<json::object> body = live.plan->body_of(resource, refer_to);
  if (body) {
    reply = parts_.inside.perform(
        principal_of(live.deployment.maker),
        request_of("PUT", resource.id, json::serialize(*body), live.deployment.name));
  } else {
    reply = fail(body.error());
  }
  if (reply && reply->status >= 400)
    reply = fail(wire::arm::error_from(reply->status, reply->body));
  if (reply) {
    operation.status = reply->status;
    return;
  }
  const Error& error = reply.error();
  // What such a fault had changed was undone, and with it may be the line that tells of it.
  if (error.code == Code::Internal) stumbled_[live.deployment.id] = error.message;
  operation.state = DeploymentState::Failed;
  operation.status = wire::arm::http_status(error.code);
  operation.error_code = wire::arm::arm_code(error.code);
  const bool says_where = error.message.find(error.target) != std::string::npos;
  operation.error =
      without(says_where ? error.message : fmt::format("{}: {}", error.target, error.message),
              live.secrets);
}

/// The state of a resource, asked for as its maker would.
Result<json::value> TemplateDeployments::refer(const Live& live, const std::string& id,
                                               bool is_full) {
  const PlannedResource* planned = live.plan->find(id);
  if (planned != nullptr && planned->treatment == tmpl::Treatment::Satisfied) {
    const json::object properties = {{"provisioningState", "Succeeded"}};
    if (!is_full) return properties;
    return json::object{{"id", planned->id}, {"type", planned->type}, {"properties", properties}};
  }
  const io::Reply reply = TRY(parts_.inside.perform(
      principal_of(live.deployment.maker), request_of("GET", id, "", live.deployment.name)));
  json::value resource = TRY(record::parse(reply.body));
  if (!resource.is_object()) return fail(Code::Internal, "reference: not a resource");
  if (is_full) return resource;
  const json::value* properties = resource.get_object().if_contains("properties");
  return properties == nullptr ? json::value(json::object()) : *properties;
}

/// Everything has been tried.
void TemplateDeployments::end(Live& live) {
  model::TemplateDeployment& deployment = live.deployment;
  std::size_t made = 0;
  std::size_t failed = 0;
  for (const DeploymentOperation& operation : live.operations) {
    made += operation.state == DeploymentState::Succeeded ? 1 : 0;
    failed += operation.state == DeploymentState::Failed ? 1 : 0;
  }
  if (live.plan && failed == 0) {
    const tmpl::Refer refer_to = [&](const std::string& id, bool is_full) {
      return refer(live, id, is_full);
    };
    Result<json::object> outputs = live.plan->outputs(refer_to);
    if (outputs) {
      deployment.outputs = *std::move(outputs);
      return finish(live, DeploymentState::Succeeded);
    }
    deployment.error_code = "DeploymentOutputEvaluationFailed";
    deployment.error = without(
        fmt::format("{}: {}", outputs.error().target, outputs.error().message), live.secrets);
  } else if (live.plan) {
    deployment.error_code = "DeploymentFailed";
    deployment.error =
        fmt::format("of {} resources {} were made, {} failed and {} were not tried",
                    live.operations.size(), made, failed, live.operations.size() - made - failed);
    for (const DeploymentOperation& operation : live.operations) {
      if (operation.state != DeploymentState::Failed) continue;
      deployment.error += fmt::format("; {}: {}", operation.name, operation.error);
    }
  }
  finish(live, DeploymentState::Failed);
}

void TemplateDeployments::finish(Live& live, DeploymentState state) {
  live.deployment.state = state;
  live.deployment.modified_at = parts_.services.clock.now().wall;
  live.deployment.sealed.clear();
  parts_.services.ledger.write({store::PutDeployment{live.deployment}});
}

}  // namespace berth::server

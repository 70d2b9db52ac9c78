// SPDX-License-Identifier: Apache-2.0
// The door for requests of our own: nothing that a template names may end the server.
#include <gtest/gtest.h>

#include "server/application_fixture.h"
#include "server/arm/template_deployments.h"

namespace berth::server {
namespace {

/// An address of the route, with something in each of its places.
std::string address_of(const Route& route, const std::string& workspace) {
  std::string path(route.pattern);
  if (path == "W" || path.starts_with("W/")) path.replace(0, 1, workspace);
  if (const std::size_t at = path.find("/W/"); at != std::string::npos) {
    path.replace(at, 2, workspace);
  }
  for (std::size_t open = path.find('{'); open != std::string::npos; open = path.find('{')) {
    path.replace(open, path.find('}', open) - open + 1, "x");
  }
  return path;
}

class InsideTest : public ApplicationTest {
 protected:
  Result<io::Reply> perform(const std::string& method, const std::string& path,
                            const std::string& query = {}) {
    io::Request request;
    request.head = {.method = method, .path = path, .query = query, .peer = "test"};
    Result<io::Reply> reply = application.inside().perform(
        {.kind = Principal::Kind::Owner, .name = "owner"}, std::move(request));
    settle();  // What it would have left behind for later runs now.
    return reply;
  }

  model::TemplateDeployment stored(const model::TemplateDeployment& deployment) {
    return services.store.deployments()
        .find(deployment.subscription, deployment.resource_group, deployment.name)
        ->value();
  }

  model::TemplateDeployment interrupted(int resumed_at, int resumed) {
    model::TemplateDeployment deployment{.id = "d-1",
                                         .subscription = "00000000-0000-0000-0000-000000000000",
                                         .resource_group = "berth",
                                         .name = "d",
                                         .state = model::DeploymentState::Running};
    deployment.definition = record::parse(R"({
        "$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
        "contentVersion": "1.0.0.0",
        "resources": [{"type": "Microsoft.MachineLearningServices/workspaces/data",
                       "apiVersion": "2024-04-01", "name": "default/rows", "properties": {}}]})")
                                ->as_object();
    deployment.maker = {.name = "owner", .is_owner = true};
    deployment.resumed_at = resumed_at;
    deployment.resumed = resumed;
    plane.ledger.write({store::Put{deployment}});
    settle();
    return deployment;
  }

  /// A server that goes on with it until it is over. `on_try`: at each resource that it makes.
  void go_on(const model::TemplateDeployment& deployment, const std::function<void()>& on_try) {
    NextServer server(*this, [on_try](const io::Request&) -> Result<io::Reply> {
      on_try();
      return io::Reply{.status = 201};
    });
    server.deployments.resume();
    EXPECT_TRUE(run_until([&] {
      server.plane.tick();
      return model::is_over(stored(deployment).state) && server.plane.state().deployments.empty();
    }));
  }
};

TEST_F(InsideTest, EveryRouteIsAnsweredOrRefused) {
  int answered = 0;
  for (const Route& route : application.table().routes()) {
    if (std::string_view(route.method) != "GET" && std::string_view(route.method) != "PUT")
      continue;
    const std::string path = address_of(route, kW);
    SCOPED_TRACE(path);

    const Result<io::Reply> reply = perform(route.method, path);

    if (!path.starts_with("/subscriptions/")) {
      ASSERT_FALSE(reply);
      EXPECT_NE(reply.error().message.find(path), std::string::npos) << reply.error().message;
    } else if (reply) {
      EXPECT_GE(reply->status, 200);
      ++answered;
    }
  }
  EXPECT_GT(answered, 10);
}

TEST_F(InsideTest, WhatIsAnsweredLaterIsNoResource) {
  for (const char* below : {"experiments/search", "metrics/get-history"}) {
    const std::string path = "/mlflow/v1.0" + kW + "/api/2.0/mlflow/" + below;
    const Result<io::Reply> reply = perform("GET", path, "max_results=5");

    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Code::InvalidArgument);
  }
  const Result<io::Reply> log = perform("GET", "/berth/v1" + kW + "/jobs/x/log", "wait=5");
  ASSERT_FALSE(log);
}

TEST_F(InsideTest, ADeploymentGoesOnOnceAfterTheServerEndedInItsStep) {
  const model::TemplateDeployment deployment = interrupted(0, 0);
  int counted = -1;

  go_on(deployment, [&] { counted = stored(deployment).resumed; });

  EXPECT_EQ(counted, 1) << "on disk before the step was tried";
  EXPECT_EQ(stored(deployment).state, model::DeploymentState::Succeeded);
}

TEST_F(InsideTest, ADeploymentIsNotTriedAThirdTimeWhenItsStepEndedTheServerTwice) {
  const model::TemplateDeployment deployment = interrupted(0, 1);
  int tries = 0;

  go_on(deployment, [&] { ++tries; });

  EXPECT_EQ(tries, 0);
  const model::TemplateDeployment seen = stored(deployment);
  EXPECT_EQ(seen.state, model::DeploymentState::Failed);
  EXPECT_NE(seen.error.find("not tried a third time"), std::string::npos) << seen.error;
}

TEST_F(InsideTest, AStepThatAnEarlierServerFinishedDoesNotCountAgainstTheNext) {
  const model::TemplateDeployment deployment = interrupted(1, 1);
  int tries = 0;

  go_on(deployment, [&] { ++tries; });

  EXPECT_EQ(tries, 1);
  EXPECT_EQ(stored(deployment).state, model::DeploymentState::Succeeded);
}

TEST_F(InsideTest, AFaultOfOursFailsTheDeploymentAndNothingElse) {
  const model::TemplateDeployment deployment = interrupted(0, 0);

  go_on(deployment, [&] { (void)std::string().at(1); });

  EXPECT_EQ(stored(deployment).state, model::DeploymentState::Failed);
  EXPECT_EQ(ask("GET", "W/jobs", kOwnerToken).status, 200);
}

}  // namespace
}  // namespace berth::server

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "lang/arm_template/kinds.h"
#include "server/application_fixture.h"

namespace berth::server {
namespace {

namespace json = boost::json;

constexpr const char* kGroup =
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth";

std::string path_of(const std::string& name) {
  return fmt::format("{}/providers/Microsoft.Resources/deployments/{}", kGroup, name);
}

std::string body_of(std::string_view resources, std::string_view more = "",
                    std::string_view parameters = "{}", std::string_view mode = "Incremental") {
  return fmt::format(R"({{"properties": {{"mode": "{}", "parameters": {}, "template": {{
      "$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
      "contentVersion": "1.0.0.0", "resources": [{}]{}}}}}}})",
                     mode, parameters, resources, more);
}

constexpr std::string_view kWorkspace = R"({"type": "Microsoft.MachineLearningServices/workspaces",
    "apiVersion": "2024-04-01", "name": "team", "location": "here"})";

std::string data(const std::string& workspace, const std::string& version,
                 const std::string& uri = "https://example.org/rows.csv") {
  return fmt::format(R"({{"type": "Microsoft.MachineLearningServices/workspaces/data/versions",
      "apiVersion": "2024-04-01", "name": "{}/rows/{}",
      "properties": {{"dataType": "uri_file", "dataUri": "{}"}}}})",
                     workspace, version, uri);
}

class DeploymentRoutes : public ApplicationTest {
 protected:
  Answer ask_owner(const std::string& method, const std::string& target,
                   const std::string& body = {}) {
    return ask(method, target, kOwnerToken, body);
  }

  /// Deploys and waits for the end.
  Answer deploy(const std::string& name, const std::string& body,
                const std::string& token = kOwnerToken) {
    const Answer begun = ask("PUT", path_of(name), token, body);
    if (begun.status != 201) return begun;
    return wait(name);
  }

  Answer wait(const std::string& name) {
    const auto hangs_at = SystemClock().now().mono + std::chrono::minutes(1);
    Answer seen;
    do {
      run_posted();
      seen = ask_owner("GET", path_of(name));
      const std::string state = seen.at("/properties/provisioningState");
      if (state != "Accepted" && state != "Running") break;
    } while (SystemClock().now().mono < hangs_at);
    return seen;
  }

  json::array operations(const std::string& name) {
    return ask_owner("GET", path_of(name) + "/operations").json().at("value").as_array();
  }

  std::string state_of(const json::value& operation) {
    return std::string(operation.at("properties").at("provisioningState").as_string());
  }
};

TEST_F(DeploymentRoutes, MakesWhatTheTemplateNames) {
  const Answer begun = ask_owner(
      "PUT", path_of("d"),
      body_of(
          fmt::format("{},{}", data("team", "1"), kWorkspace),
          R"(, "outputs": {"where": {"type": "string", "value": "[reference('team', '2024-04-01', 'Full').location]"}})"));

  EXPECT_EQ(begun.status, 201);
  EXPECT_EQ(begun.at("/properties/provisioningState"), "Accepted");
  EXPECT_NE(begun.header("Azure-AsyncOperation").find("/operationStatuses/"), std::string::npos);
  const Answer ended = wait("d");
  EXPECT_EQ(ended.at("/properties/provisioningState"), "Succeeded") << ended.body;
  EXPECT_EQ(ended.at("/properties/outputs/where/value"), "here");
  EXPECT_EQ(ended.json().at("properties").at("outputResources").as_array().size(), 2u);
  const std::string team =
      std::string(kGroup) + "/providers/Microsoft.MachineLearningServices/workspaces/team";
  EXPECT_EQ(ask_owner("GET", team + "/data/rows/versions/1").at("/properties/dataUri"),
            "https://example.org/rows.csv");
}

TEST_F(DeploymentRoutes, IsTheSameWhenItIsDeployedAgain) {
  const std::string body = body_of(fmt::format("{},{}", kWorkspace, data("team", "1")));
  ASSERT_EQ(deploy("d", body).at("/properties/provisioningState"), "Succeeded");

  const Answer again = deploy("d", body);

  EXPECT_EQ(again.at("/properties/provisioningState"), "Succeeded") << again.body;
  EXPECT_EQ(operations("d").size(), 2u);
  EXPECT_EQ(operations("d")[0].at("properties").at("statusCode").as_string(), "OK");
}

TEST_F(DeploymentRoutes, ThatFailsHalfWaySaysWhatWasMade) {
  const std::string body = body_of(fmt::format(
      "{},{},{},{}", data("default", "1"), data("default", "2", "nonsense"), data("default", "3"),
      R"({"type": "Microsoft.MachineLearningServices/workspaces/environments/versions", "apiVersion": "x",
          "name": "default/py/1", "properties": {"image": "debian"},
          "dependsOn": ["default/rows/2"]})"));

  const Answer ended = deploy("d", body);

  EXPECT_EQ(ended.at("/properties/provisioningState"), "Failed");
  EXPECT_EQ(ended.at("/properties/error/code"), "DeploymentFailed");
  EXPECT_NE(ended.at("/properties/error/message")
                .find("of 4 resources 2 were made, 1 failed and 1 were not tried"),
            std::string::npos)
      << ended.body;
  const json::array all = operations("d");
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(state_of(all[0]), "Succeeded");
  EXPECT_EQ(state_of(all[1]), "Failed");
  EXPECT_EQ(state_of(all[2]), "Succeeded");
  EXPECT_EQ(state_of(all[3]), "Canceled");
  EXPECT_EQ(ask_owner("GET", "W/data/rows/versions/3").status, 200);
  EXPECT_EQ(ask_owner("GET", "W/environments/py/versions/1").status, 404);
  const std::string id = ended.at("/properties/correlationId");
  const Answer status = ask_owner("GET", path_of("d") + "/operationStatuses/" + id);
  EXPECT_EQ(status.at("/status"), "Failed");
  EXPECT_NE(status.at("/error/details").find("properties.dataUri"), std::string::npos)
      << status.body;
}

TEST_F(DeploymentRoutes, RefusesWhatItCannotMakeBeforeAnythingIsMade) {
  const Answer refused = ask_owner(
      "PUT", path_of("d"),
      body_of(fmt::format(
          "{},{}", kWorkspace,
          R"({"type": "Microsoft.Network/virtualNetworks", "apiVersion": "x", "name": "v"})")));

  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.at("/error/code"), "InvalidTemplate");
  EXPECT_NE(refused.at("/error/message").find("Microsoft.Network/virtualNetworks"),
            std::string::npos);
  EXPECT_EQ(ask_owner("GET", path_of("d")).status, 404);
  EXPECT_EQ(plane.state().workspaces.size(), 1u);
}

TEST_F(DeploymentRoutes, KnowsABrokenRequest) {
  struct Wrong {
    std::string body;
    int status;
    std::string target;
  };
  const Wrong all[] = {
      {"{}", 400, "properties"},
      {R"({"properties": {"template": 7}})", 400, "properties.template"},
      {R"({"properties": {}})", 400, "properties.template"},
      {R"({"properties": {"templateLink": {"uri": "https://x"}}})", 501, "properties.templateLink"},
      {body_of("", "", "{}", "Complete"), 501, "properties.mode"},
      {body_of("", "", "{}", "Other"), 400, "properties.mode"},
      {body_of("", "", R"({"x": {"value": 1}})"), 400, "parameters.x"},
      {body_of(R"({"type": "[nope()]", "name": "x", "apiVersion": "y"})"), 400,
       "resources[0].type"},
  };
  for (const Wrong& each : all) {
    const Answer answer = ask_owner("PUT", path_of("d"), each.body);
    EXPECT_EQ(answer.status, each.status) << answer.body;
    EXPECT_EQ(answer.at("/error/target"), each.target) << answer.body;
  }
  EXPECT_EQ(ask_owner("PUT", path_of("d"), "[").status, 400);
  EXPECT_EQ(ask_owner("GET", path_of("d")).status, 404);
}

TEST_F(DeploymentRoutes, ValidatesAndMakesNothing) {
  const Answer good = ask_owner("POST", path_of("d") + "/validate", body_of(kWorkspace));
  const Answer bad = ask_owner("POST", path_of("d") + "/validate", body_of("1"));

  EXPECT_EQ(good.status, 200);
  EXPECT_NE(good.at("/properties/validatedResources/0/id").find("/workspaces/team"),
            std::string::npos);
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(plane.state().workspaces.size(), 1u);
  EXPECT_EQ(ask_owner("GET", path_of("d")).status, 404);
}

TEST_F(DeploymentRoutes, RecordsWhatBerthHasInItself) {
  const Answer ended = deploy(
      "d",
      body_of(fmt::format(
          "{},{}",
          R"({"type": "Microsoft.Storage/storageAccounts", "apiVersion": "x", "name": "files"})",
          kWorkspace)));

  EXPECT_EQ(ended.at("/properties/provisioningState"), "Succeeded") << ended.body;
  EXPECT_EQ(operations("d")[0].at("properties").at("provisioningOperation").as_string(), "Read");
  EXPECT_EQ(operations("d")[0].at("properties").at("statusMessage").at("status").as_string(),
            "SatisfiedByBerth");
}

TEST_F(DeploymentRoutes, ShowsNoSecureParameterAndKeepsNoneInTheOpen) {
  const std::string parameters = R"({"key": {"value": "s3cret-word"}, "name": {"value": "open"}})";
  const Answer ended = deploy(
      "d", body_of(data("default", "1", "[parameters('key')]"),
                   R"(, "parameters": {"key": {"type": "secureString"}, "name": {"type": "string"}},
                 "outputs": {"k": {"type": "secureString", "value": "[parameters('key')]"}})",
                   parameters));

  EXPECT_EQ(ended.at("/properties/provisioningState"), "Failed");  // It is no address of data.
  EXPECT_EQ(ended.body.find("s3cret-word"), std::string::npos) << ended.body;
  EXPECT_EQ(ended.at("/properties/parameters/name/value"), "open");
  EXPECT_EQ(ended.at("/properties/parameters/key"), R"({"type":"secureString"})");
  EXPECT_EQ(json::serialize(operations("d")).find("s3cret-word"), std::string::npos);
  EXPECT_EQ(ask_owner("POST", path_of("d") + "/exportTemplate", "{}").body.find("s3cret-word"),
            std::string::npos);
}

TEST_F(DeploymentRoutes, GoesOnAfterARestartWithItsSecrets) {
  const std::string body = body_of(
      fmt::format(
          "{},{}", data("default", "1"),
          R"({"type": "Microsoft.MachineLearningServices/workspaces/data", "apiVersion": "x",
              "name": "default/other", "tags": {}, "properties": {"description": "[parameters('word')]"}})"),
      R"(, "parameters": {"word": {"type": "secureString"}})",
      R"({"word": {"value": "s3cret-word"}})");
  const auto make_and_end = [](const io::Request&) -> Result<io::Reply> {
    return io::Reply{.status = 201};
  };
  {
    NextServer killed(*this, make_and_end);
    ASSERT_TRUE(killed.deployments.begin(*wire::arm::deployment_request(*record::parse(body)),
                                         {"00000000-0000-0000-0000-000000000000", "berth", "d"},
                                         {.kind = Principal::Kind::Owner, .name = "owner"}));
    bool is_durable = false;
    killed.plane.ledger.when_durable(
        [&](const Status& status) { is_durable = status.has_value(); });
    ASSERT_TRUE(run_until([&] { return is_durable; }));
  }
  std::vector<std::string> made;

  NextServer next(*this, [&](const io::Request& request) -> Result<io::Reply> {
    made.push_back(request.head.path + " " + request.body);
    return io::Reply{.status = 201};
  });
  next.deployments.resume();

  ASSERT_TRUE(run_until([&] { return made.size() == 2; }));
  EXPECT_NE(made[1].find(R"("description":"s3cret-word")"), std::string::npos) << made[1];
  ASSERT_TRUE(run_until([&] { return next.plane.state().deployments.empty(); }));
  const auto row = *rows->deployments().find("00000000-0000-0000-0000-000000000000", "berth", "d");
  EXPECT_EQ(row->state, model::DeploymentState::Succeeded);
  EXPECT_EQ(row->sealed, "");
}

TEST_F(DeploymentRoutes, OfANameThatGoesOnIsAConflictUnlessItIsTheSame) {
  const std::string body = body_of(kWorkspace);
  const Answer first = ask_owner("PUT", path_of("d"), body);
  const Answer same = ask_owner("PUT", path_of("d"), body);
  const Answer other = ask_owner("PUT", path_of("d"), body_of(data("default", "1")));

  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(same.status, 201);
  EXPECT_EQ(same.at("/properties/correlationId"), first.at("/properties/correlationId"));
  EXPECT_EQ(other.status, 409);
}

TEST_F(DeploymentRoutes, CanBeCancelledAndWhatWasMadeStays) {
  ASSERT_EQ(
      ask_owner("PUT", path_of("d"), body_of(fmt::format("{},{}", kWorkspace, data("team", "1"))))
          .status,
      201);

  const Answer cancelled = ask_owner("POST", path_of("d") + "/cancel");

  EXPECT_EQ(cancelled.status, 204);
  EXPECT_EQ(wait("d").at("/properties/provisioningState"), "Canceled");
  EXPECT_EQ(ask_owner("POST", path_of("d") + "/cancel").status, 409);
}

TEST_F(DeploymentRoutes, IsForgottenAndWhatItMadeStays) {
  ASSERT_EQ(deploy("d", body_of(kWorkspace)).at("/properties/provisioningState"), "Succeeded");

  EXPECT_EQ(ask_owner("HEAD", path_of("d")).status, 204);
  EXPECT_EQ(ask_owner("DELETE", path_of("d")).status, 204);

  EXPECT_EQ(ask_owner("HEAD", path_of("d")).status, 404);
  EXPECT_EQ(ask_owner("DELETE", path_of("d")).status, 204);
  EXPECT_EQ(plane.state().workspaces.size(), 2u);
}

TEST_F(DeploymentRoutes, AreListedNewestFirst) {
  for (const char* name : {"a", "b", "c"}) deploy(name, body_of(data("default", "1")));

  const Answer page =
      ask_owner("GET", std::string(kGroup) + "/providers/Microsoft.Resources/deployments/?$top=2");

  EXPECT_EQ(page.at("/value/0/name"), "c");
  EXPECT_EQ(page.at("/value/1/name"), "b");
  EXPECT_NE(page.at("/nextLink"), "");
}

TEST_F(DeploymentRoutes, EveryKindThatIsMadeHasARoute) {
  for (const lang::arm_template::Kind& kind : lang::arm_template::known_kinds()) {
    if (kind.treatment != lang::arm_template::Treatment::Made) continue;
    std::string path = std::string(kGroup) + "/providers/Microsoft.MachineLearningServices";
    for (const std::string_view segment : split(kind.type.substr(kind.type.find('/') + 1), '/')) {
      path += fmt::format("/{}/x", segment);
    }
    EXPECT_TRUE(application.table().find("PUT", path)) << path;
    EXPECT_TRUE(application.table().find("GET", path)) << path;
  }
}

// ---- Rights ------------------------------------------------------------------------------------

TEST_F(DeploymentRoutes, AsksForTheRightToEachResource) {
  const model::UserId ada = user("ada");
  role(ada, "Contributor", workspace);
  const std::string token = this->token(ada).text;

  const Answer inside = ask("PUT", path_of("mine"), token, body_of(data("default", "1")));
  const Answer outside = ask("PUT", path_of("big"), token,
                             body_of(fmt::format("{},{}", data("default", "2"), kWorkspace)));

  EXPECT_EQ(inside.status, 201) << inside.body;
  EXPECT_EQ(outside.status, 403);
  EXPECT_NE(outside.at("/error/message").find("workspaces/write"), std::string::npos)
      << outside.body;
  EXPECT_EQ(wait("mine").at("/properties/provisioningState"), "Succeeded");
  EXPECT_EQ(ask_owner("GET", "W/data/rows/versions/2").status, 404);
}

TEST_F(DeploymentRoutes, AreSeenByWhoMadeThemAndByWhoMaySeeAll) {
  const model::UserId ada = user("ada");
  const model::UserId bob = user("bob");
  const model::UserId eve = user("eve");
  role(ada, "Contributor", workspace);
  role(bob, "Contributor", workspace);
  role(eve, "Reader", {});
  ask("PUT", path_of("d"), token(ada).text, body_of(data("default", "1")));
  wait("d");

  EXPECT_EQ(ask("GET", path_of("d"), token(ada).text).status, 200);
  EXPECT_EQ(ask("GET", path_of("d"), token(bob).text).status, 404);
  EXPECT_EQ(ask("GET", path_of("d"), token(eve).text).status, 200);
  EXPECT_EQ(ask("PUT", path_of("d"), token(bob).text, body_of(data("default", "1"))).status, 403);
  EXPECT_EQ(ask("DELETE", path_of("d"), token(bob).text).status, 204);  // As if it were not there.
  EXPECT_EQ(ask("GET", path_of("d"), token(ada).text).status, 200);
}

TEST_F(DeploymentRoutes, StopsWhenTheRightsOfItsMakerEnd) {
  const model::UserId ada = user("ada");
  role(ada, "Contributor", workspace);
  const auto token = this->token(ada);
  ASSERT_EQ(ask("PUT", path_of("d"), token.text, body_of(data("default", "1"))).status, 201);

  ASSERT_TRUE(plane.access.revoke_token(token.token.id));

  EXPECT_EQ(wait("d").at("/properties/provisioningState"), "Failed");
  EXPECT_EQ(ask_owner("GET", "W/data/rows/versions/1").status, 404);
}

TEST_F(DeploymentRoutes, LeaveALineOfTheAuditLogForEachResource) {
  ASSERT_EQ(deploy("d", body_of(data("default", "1"))).at("/properties/provisioningState"),
            "Succeeded");

  const auto lines = *rows->audit({});
  std::string all;
  for (const model::AuditLine& line : lines) all += line.text + "\n";

  EXPECT_NE(all.find("Microsoft.Resources/deployments/write"), std::string::npos);
  EXPECT_NE(all.find("deployment d"), std::string::npos) << all;
}

// ---- Groups ------------------------------------------------------------------------------------

TEST_F(DeploymentRoutes, GroupsAreThereWhenMadeOrWhenAWorkspaceIsInThem) {
  const std::string groups = "/subscriptions/00000000-0000-0000-0000-000000000000/resourcegroups";
  EXPECT_EQ(ask_owner("GET", groups + "/berth").at("/properties/provisioningState"), "Succeeded");
  EXPECT_EQ(ask_owner("GET", groups + "/lab").status, 404);
  EXPECT_EQ(ask_owner("HEAD", groups + "/lab").status, 404);

  EXPECT_EQ(
      ask_owner("PUT", groups + "/lab", R"({"location": "cellar", "tags": {"a": "b"}})").status,
      201);
  EXPECT_EQ(ask_owner("PUT", groups + "/lab", R"({"location": "cellar"})").status, 200);

  EXPECT_EQ(ask_owner("GET", groups + "/LAB").at("/location"), "cellar");
  EXPECT_EQ(ask_owner("HEAD", groups + "/lab").status, 204);
  EXPECT_EQ(ask_owner("GET", groups).json().at("value").as_array().size(), 2u);
  EXPECT_EQ(ask_owner("DELETE", groups + "/berth").status, 409);
  EXPECT_EQ(ask_owner("DELETE", groups + "/lab").status, 200);
  EXPECT_EQ(ask_owner("GET", groups + "/lab").status, 404);
}

}  // namespace
}  // namespace berth::server

// SPDX-License-Identifier: Apache-2.0
#include "server/route_fixture.h"

namespace berth::server {
namespace {

const std::string kSubscription = "/subscriptions/00000000-0000-0000-0000-000000000000";
const std::string kProvider = "/providers/Microsoft.MachineLearningServices/workspaces";

std::string workspace_path(const std::string& group, const std::string& name) {
  return kSubscription + "/resourceGroups/" + group + kProvider + "/" + name;
}

class WorkspaceTest : public RouteTest {};

TEST_F(WorkspaceTest, TheDefaultOneIsThere) {
  const Answer answer = get("W");

  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.at("/name"), "default");
  EXPECT_EQ(answer.at("/properties/provisioningState"), "Succeeded");
  EXPECT_EQ(answer.at("/properties/discoveryUrl"), "http://localhost:8470/discovery");
}

TEST_F(WorkspaceTest, IsMadeOnceAndThenUpdated) {
  const std::string path = workspace_path("team", "vision");

  EXPECT_EQ(get(path).status, 404);
  const Answer made = put(path, R"({"location":"here","properties":{"description":"one"}})");
  const Answer again = put(path, R"({"location":"here","properties":{"description":"two"}})");

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.at("/properties/provisioningState"), "Succeeded");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(get(path).at("/properties/description"), "two");
  EXPECT_EQ(get(path).at("/properties/workspaceId"), made.at("/properties/workspaceId"));
}

TEST_F(WorkspaceTest, KeepsTheNamesOfResourcesElsewhereAndItsLocation) {
  const std::string path = workspace_path("team", "vision");
  put(path, R"({"location":"here","properties":{"storageAccount":"/a","containerRegistry":"/r"}})");

  const Answer again = put(path, R"({"properties":{"containerRegistry":"/s"}})");
  EXPECT_EQ(again.at("/location"), "here");
  EXPECT_EQ(again.at("/properties/storageAccount"), "/a");
  EXPECT_EQ(again.at("/properties/containerRegistry"), "/s");

  EXPECT_EQ(put(path, R"({"location":"there"})").at("/error/target"), "location");
  const Answer other = put(path, R"({"properties":{"storageAccount":"/b"}})");
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(other.at("/error/target"), "properties.storageAccount");
  EXPECT_EQ(put(path, R"({"properties":{"keyVault":5}})").at("/error/target"),
            "properties.keyVault");
  EXPECT_EQ(get(path).at("/properties/storageAccount"), "/a");
}

TEST_F(WorkspaceTest, APatchChangesWhatItMentions) {
  const std::string path = workspace_path("team", "vision");
  put(path, R"({"tags":{"a":"1"},"properties":{"description":"d","friendlyName":"f"}})");

  const Answer patched =
      send({.method = "PATCH", .target = path, .body = R"({"properties":{"friendlyName":"g"}})"});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/properties/friendlyName"), "g");
  EXPECT_EQ(patched.at("/properties/description"), "d");
  EXPECT_EQ(patched.at("/tags/a"), "1");
  EXPECT_EQ(
      send({.method = "PATCH", .target = workspace_path("team", "none"), .body = "{}"}).status,
      404);
}

TEST_F(WorkspaceTest, IsListedBySubscriptionAndByGroup) {
  put(workspace_path("team", "vision"), "{}");

  EXPECT_EQ(get(kSubscription + kProvider).json().at("value").as_array().size(), 2u);
  const Answer group = get(kSubscription + "/resourceGroups/TEAM" + kProvider);
  EXPECT_EQ(group.json().at("value").as_array().size(), 1u);
  EXPECT_EQ(group.at("/value/0/name"), "vision");
  EXPECT_EQ(get("/subscriptions/other" + kProvider).json().at("value").as_array().size(), 0u);
}

TEST_F(WorkspaceTest, NamesMatchInAnyCaseAndKeepTheirOwn) {
  const Answer updated =
      put(workspace_path("BERTH", "Default"), R"({"properties":{"description":"x"}})");

  EXPECT_EQ(updated.status, 200);
  EXPECT_EQ(updated.at("/name"), "default");
  EXPECT_NE(updated.at("/id").find("/resourceGroups/berth/"), std::string::npos);
  EXPECT_EQ(send({.method = "DELETE", .target = workspace_path("BERTH", "Default")}).status, 409);
}

TEST_F(WorkspaceTest, IsDeletedOnlyWithoutWork) {
  const std::string path = workspace_path("team", "vision");
  put(path, "{}");
  put(path + "/jobs/a", R"({"properties":{"jobType":"Command","command":"true"}})");

  EXPECT_EQ(send({.method = "DELETE", .target = path}).status, 409);
  send({.method = "POST", .target = path + "/jobs/a/cancel"});
  EXPECT_EQ(send({.method = "DELETE", .target = path}).status, 204);
  EXPECT_EQ(get(path).status, 404);
  EXPECT_EQ(send({.method = "DELETE", .target = path}).status, 204);
}

// ---- Datastores --------------------------------------------------------------------------------

TEST_F(WorkspaceTest, HasTwoDatastores) {
  const Answer all = get("W/datastores");
  const Answer defaults = get("W/datastores?isDefault=true");

  EXPECT_EQ(all.json().at("value").as_array().size(), 2u);
  EXPECT_EQ(defaults.json().at("value").as_array().size(), 1u);
  EXPECT_EQ(defaults.at("/value/0/name"), "workspaceblobstore");
  EXPECT_EQ(get("W/datastores/workspaceartifactstore").at("/properties/containerName"), "azureml");
  EXPECT_EQ(get("W/datastores/other").status, 404);
  EXPECT_EQ(put("W/datastores/mine", "{}").status, 501);
}

TEST_F(WorkspaceTest, ADatastoresSecretIsASignatureThatExpires) {
  const auto secret = [&](const char* body) {
    const Answer answer = send(
        {.method = "POST", .target = "W/datastores/workspaceblobstore/listSecrets", .body = body});
    EXPECT_EQ(answer.at("/secretsType"), "Sas");
    const auto grant =
        signer.check(workspace, "azureml-blobstore", answer.at("/sasToken"), clock.now().wall);
    EXPECT_TRUE(grant);
    return grant ? grant->expires_at - clock.now().wall : Duration();
  };
  EXPECT_EQ(secret(""), std::chrono::hours(1));
  EXPECT_EQ(secret(R"({"expirableSecret":true,"expireAfterHours":5})"), std::chrono::hours(5));
  EXPECT_EQ(secret(R"({"expirableSecret":true,"expireAfterHours":1000000})"),
            std::chrono::hours(24));
  EXPECT_EQ(secret(R"({"expirableSecret":true,"expireAfterHours":-3})"), std::chrono::hours(1));
  EXPECT_EQ(send({.method = "POST",
                  .target = "W/datastores/workspaceblobstore/listSecrets",
                  .body = R"({"expireAfterHours":"x"})"})
                .status,
            400);
}

// ---- Discovery ---------------------------------------------------------------------------------

TEST_F(WorkspaceTest, EveryServiceIsFoundHere) {
  EXPECT_EQ(get("/health").at("/status"), "ok");
  EXPECT_EQ(get("/discovery").at("/api"), "http://localhost:8470");

  const Answer clouds = get("/metadata/endpoints?api-version=2019-05-01");
  EXPECT_EQ(clouds.at("/0/resourceManager"), "http://localhost:8470");
  for (const char* needed :
       {"/0/name", "/0/portal", "/0/authentication/loginEndpoint", "/0/suffixes/storage"}) {
    EXPECT_NE(clouds.at(needed), "") << needed;
  }
}

}  // namespace
}  // namespace berth::server

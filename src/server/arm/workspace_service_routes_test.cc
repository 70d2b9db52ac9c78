// SPDX-License-Identifier: Apache-2.0
#include "server/route_fixture.h"

namespace berth::server {
namespace {

class WorkspaceServiceTest : public RouteTest {
 protected:
  Answer post(const std::string& target) {
    return send({.method = "POST", .target = target, .body = ""});
  }
};

TEST_F(WorkspaceServiceTest, ADiagnosisTellsOfNodesThatCannotBeStarted) {
  EXPECT_EQ(post("W/diagnose").at("/value/otherResults"), "[]");
  EXPECT_EQ(post("W/diagnose").at("/value/dnsResolutionResults"), "[]");

  put("W/computes/cpu", R"({"properties":{"computeType":"AmlCompute","properties":{
                           "scaleSettings":{"minNodeCount":1}}}})");
  plane.nodes.start_failed(plane.state().nodes.begin()->first, "no room");
  settle();

  const Answer answer = post("W/diagnose");
  EXPECT_EQ(answer.at("/value/otherResults/0/level"), "Error") << answer.body;
  EXPECT_EQ(answer.at("/value/otherResults/0/message"),
            "the nodes of compute 'cpu' cannot be started: no room");
}

TEST_F(WorkspaceServiceTest, ThereAreNoKeysAndNoNotebooks) {
  for (const char* word : {"listKeys", "listStorageAccountKeys", "listNotebookKeys",
                           "listNotebookAccessToken", "prepareNotebook"}) {
    EXPECT_EQ(post(std::string("W/") + word).status, 501) << word;
  }
  EXPECT_EQ(post("W/resyncKeys").status, 200);
}

TEST_F(WorkspaceServiceTest, WhatThereIsNothingOfIsAnEmptyList) {
  for (const char* word :
       {"features", "privateLinkResources", "outboundNetworkDependenciesEndpoints"}) {
    EXPECT_EQ(get(std::string("W/") + word).body, R"({"value":[]})") << word;
  }
}

TEST_F(WorkspaceServiceTest, TheProviderListsTheActionsOfItsRoutesOnce) {
  const auto page = get("/providers/Microsoft.MachineLearningServices/operations").json();
  std::set<std::string> names;
  for (const auto& each : page.at("value").as_array()) {
    EXPECT_TRUE(names.insert(std::string(each.at("name").as_string())).second);
  }
  EXPECT_TRUE(names.contains("Microsoft.MachineLearningServices/workspaces/computes/write"));
  EXPECT_TRUE(names.contains("Microsoft.MachineLearningServices/workspaces/jobs/cancel/action"));
}

}  // namespace
}  // namespace berth::server

// SPDX-License-Identifier: Apache-2.0
#include "server/route_fixture.h"

namespace berth::server {
namespace {

const std::string kLocation =
    "/subscriptions/s/providers/Microsoft.MachineLearningServices/locations/";

class ComputeTest : public RouteTest {
 protected:
  static std::string body(const std::string& inner, const std::string& outer = "") {
    return fmt::format(R"({{{}"properties":{{"computeType":"AmlCompute","properties":{{{}}}}}}})",
                       outer, inner);
  }
  Answer make(const std::string& name, const std::string& inner = "") {
    return put("W/computes/" + name, body(inner));
  }
  Answer patch(const std::string& name, const std::string& text) {
    return send({.method = "PATCH", .target = "W/computes/" + name, .body = text});
  }
  Answer remove(const std::string& name, const std::string& action) {
    return send({.method = "DELETE",
                 .target = "W/computes/" + name + "?underlyingResourceAction=" + action});
  }
  Answer post(const std::string& target) {
    return send({.method = "POST", .target = target, .body = "{}"});
  }
  /// Follows a header of ours.
  Answer follow(const Answer& answer, std::string_view header) {
    const std::string link = answer.header(header);
    EXPECT_NE(link, "");
    return get(link.substr(link.find('/', link.find("://") + 3)));
  }
  Answer submit(const std::string& name, const std::string& compute, int instances = 1) {
    return put("W/jobs/" + name,
               fmt::format(R"({{"properties":{{"jobType":"Command","command":"true",
                               "computeId":"{}","resources":{{"instanceCount":{}}}}}}})",
                           compute, instances));
  }
};

TEST_F(ComputeTest, IsMadeShownListedAndChanged) {
  const Answer made = make("Cpu", R"("vmSize":"standard_ds2_v2","vmPriority":"LowPriority")");
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.at("/properties/provisioningState"), "Succeeded");
  EXPECT_EQ(made.at("/properties/properties/vmSize"), "Standard_DS2_v2");
  EXPECT_EQ(made.at("/properties/properties/scaleSettings/maxNodeCount"), "4");
  EXPECT_EQ(made.header("Retry-After"), "1");
  EXPECT_EQ(follow(made, "Azure-AsyncOperation").at("/status"), "Succeeded");
  EXPECT_EQ(follow(made, "Location").at("/name"), "Cpu");

  const Answer changed =
      patch("cpu", R"({"properties":{"properties":{"scaleSettings":{"maxNodeCount":9}}}})");
  EXPECT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(changed.at("/properties/properties/scaleSettings/maxNodeCount"), "9");
  EXPECT_EQ(changed.at("/properties/properties/vmPriority"), "LowPriority");
  EXPECT_EQ(get("W/computes/CPU").at("/name"), "Cpu");
  EXPECT_EQ(get("W/computes").at("/value/0/name"), "Cpu");
}

TEST_F(ComputeTest, ListsComeInPages) {
  for (const char* name : {"aaa", "bbb", "ccc"}) EXPECT_EQ(make(name).status, 201);

  const Answer first = get("W/computes?$top=2");
  const std::string next = first.at("/nextLink");

  EXPECT_EQ(first.at("/value/1/name"), "bbb");
  ASSERT_NE(next, "");
  const Answer second = get(next.substr(next.find("/subscriptions")));
  EXPECT_EQ(second.at("/value/0/name"), "ccc");
  EXPECT_EQ(second.at("/nextLink"), "");
}

TEST_F(ComputeTest, TheServersOwnMachineIsThereAndStays) {
  const Answer shown = get("W/computes/Local");
  ASSERT_EQ(shown.status, 200) << shown.body;
  EXPECT_EQ(shown.at("/name"), "local");
  EXPECT_EQ(shown.at("/properties/computeType"), "VirtualMachine");
  EXPECT_EQ(shown.at("/properties/provisioningState"), "Succeeded");
  EXPECT_EQ(shown.at("/properties/createdOn"), get("/berth/v1/sites/local").at("/created_at"));
  EXPECT_NE(shown.body.find(R"("slots":2)"), std::string::npos) << shown.body;
  EXPECT_EQ(get("W/computes").body, R"({"value":[]})");

  for (const Answer& refused :
       {patch("local", R"({"properties":{"properties":{"scaleSettings":{"maxNodeCount":3}}}})"),
        remove("local", "Delete")}) {
    EXPECT_EQ(refused.status, 409);
    EXPECT_NE(refused.body.find("the server's own machine"), std::string::npos) << refused.body;
  }
  for (const char* action : {"start", "stop", "restart", "listKeys", "listNodes"}) {
    EXPECT_EQ(post(std::string("W/computes/local/") + action).status, 400) << action;
  }
  EXPECT_EQ(make("local").status, 400);
  EXPECT_EQ(get("W/computes/local").body, shown.body);
}

TEST_F(ComputeTest, WhatIsWrongIsRefusedAndLeavesNothing) {
  EXPECT_EQ(make("ab").status, 400);
  EXPECT_EQ(make("local").status, 400);
  EXPECT_EQ(make("abc", R"("vmSize":"Huge")").status, 400);
  EXPECT_EQ(make("abc", R"("vmPriority":"Spot")").status, 400);
  EXPECT_EQ(make("abc", R"("scaleSettings":{"minNodeCount":5,"maxNodeCount":4})").status, 400);
  EXPECT_EQ(make("abc", R"("scaleSettings":{"minNodeCount":-1})").status, 400);
  EXPECT_EQ(make("abc", R"("scaleSettings":{"maxNodeCount":1000000})").status, 400);
  EXPECT_EQ(put("W/computes/abc", R"({"properties":{"computeType":"ComputeInstance"}})").status,
            501);
  EXPECT_EQ(put("W/computes/abc", "{}").status, 400);
  EXPECT_EQ(get("W/computes").body, R"({"value":[]})");
  EXPECT_EQ(get("W/computes/abc").status, 404);
  EXPECT_EQ(patch("abc", "{}").status, 404);
}

TEST_F(ComputeTest, WhatCannotChangeIsAConflict) {
  EXPECT_EQ(make("cpu").status, 201);

  const Answer size = make("cpu", R"("vmSize":"Standard_DS1_v2")");
  const Answer tier = patch("cpu", body(R"("vmPriority":"LowPriority")"));
  const Answer location = put("W/computes/cpu", body("", R"("location":"mars",)"));

  EXPECT_EQ(size.status, 409);
  EXPECT_EQ(size.at("/error/target"), "size");
  EXPECT_NE(size.body.find("Standard_DS3_v2"), std::string::npos);
  EXPECT_EQ(tier.status, 409);
  EXPECT_EQ(location.status, 409);
}

TEST_F(ComputeTest, AnUnknownRegionIsSaidOnce) {
  const std::string text = body("", R"("location":"westeurope",)");

  EXPECT_NE(put("W/computes/cpu", text).header("x-berth-notice"), "");
  EXPECT_EQ(put("W/computes/cpu", text).header("x-berth-notice"), "");
  EXPECT_EQ(make("other").header("x-berth-notice"), "");
}

TEST_F(ComputeTest, DeletingAnIdleOneEndsAtOnce) {
  EXPECT_EQ(make("cpu").status, 201);

  const Answer gone = remove("cpu", "detach");

  EXPECT_EQ(gone.status, 202) << gone.body;
  EXPECT_EQ(follow(gone, "Azure-AsyncOperation").at("/status"), "Succeeded");
  EXPECT_EQ(follow(gone, "Location").status, 204);
  EXPECT_EQ(get("W/computes/cpu").status, 404);
  EXPECT_EQ(remove("cpu", "Delete").status, 204);
}

TEST_F(ComputeTest, DeletingOneWithWorkIsRefusedOrCancelsIt) {
  EXPECT_EQ(make("cpu").status, 201);
  EXPECT_EQ(submit("j", "azureml:cpu").status, 201);

  const Answer refused = remove("cpu", "Detach");
  EXPECT_EQ(refused.status, 409);
  EXPECT_NE(refused.body.find("'j'"), std::string::npos) << refused.body;

  const Answer going = remove("cpu", "Delete");
  EXPECT_EQ(going.status, 202);
  EXPECT_EQ(get("W/jobs/j").at("/properties/status"), "Canceled");
  EXPECT_EQ(get("W/computes/cpu").at("/properties/provisioningState"), "Deleting");
  EXPECT_EQ(follow(going, "Azure-AsyncOperation").at("/status"), "InProgress");
  EXPECT_EQ(follow(going, "Location").status, 202);
  EXPECT_EQ(make("cpu").status, 409);
  EXPECT_EQ(submit("k", "cpu").status, 400);

  plane.nodes.gone(plane.state().nodes.begin()->first);
  settle();
  EXPECT_EQ(follow(going, "Azure-AsyncOperation").at("/status"), "Succeeded");

  // One of the same name is another.
  clock.advance(Duration(1000));
  EXPECT_EQ(make("cpu").status, 201);
  EXPECT_EQ(follow(going, "Azure-AsyncOperation").at("/status"), "Succeeded");
}

TEST_F(ComputeTest, DeleteWantsToKnowWhatAboutTheJobs) {
  EXPECT_EQ(make("cpu").status, 201);

  EXPECT_EQ(remove("cpu", "").status, 400);
  EXPECT_EQ(remove("cpu", "Maybe").status, 400);
  EXPECT_EQ(get("W/computes/cpu").status, 200);
}

TEST_F(ComputeTest, NodesAreListed) {
  EXPECT_EQ(make("cpu", R"("scaleSettings":{"minNodeCount":2})").status, 201);

  const Answer nodes = post("W/computes/cpu/listNodes");
  EXPECT_EQ(nodes.status, 200);
  EXPECT_EQ(nodes.json().at("nodes").as_array().size(), 2u) << nodes.body;
  EXPECT_EQ(nodes.at("/nodes/0/nodeState"), "preparing");
  const std::string node = nodes.at("/nodes/0/nodeId");

  const Answer all = get("/berth/v1/nodes");
  EXPECT_EQ(all.at("/value/0/name"), node);
  EXPECT_EQ(all.at("/value/0/compute"), "cpu");
  EXPECT_EQ(all.at("/value/0/workspace"), "default");
  EXPECT_EQ(get("W/computes/cpu").at("/properties/properties/allocationState"), "Resizing");

  EXPECT_EQ(post("/berth/v1/nodes/" + node + "/preempt").status, 200);
  EXPECT_EQ(post("/berth/v1/nodes/nobody/preempt").status, 404);
}

TEST_F(ComputeTest, TheMachinesOwnNodeIsNotPreempted) {
  running("j");

  EXPECT_EQ(post("/berth/v1/nodes/" + plane.state().nodes.begin()->first.text + "/preempt").status,
            409);
}

TEST_F(ComputeTest, AClusterIsNotAnInstance) {
  EXPECT_EQ(make("cpu").status, 201);
  for (const char* verb : {"start", "stop", "restart", "listKeys"}) {
    const Answer answer = post(std::string("W/computes/cpu/") + verb);
    EXPECT_EQ(answer.status, 400) << verb;
    EXPECT_NE(answer.body.find("'cpu'"), std::string::npos) << answer.body;
    EXPECT_EQ(post(std::string("W/computes/none/") + verb).status, 404) << verb;
  }
  EXPECT_EQ(get("W/computes/cpu/operations/other").status, 404);
}

TEST_F(ComputeTest, AJobAsksForNoMoreThanThereCanBe) {
  EXPECT_EQ(make("cpu").status, 201);

  const Answer many = submit("j", "cpu", 5);
  const Answer unknown = submit("j", "gpu");

  EXPECT_EQ(many.status, 400);
  EXPECT_NE(many.body.find("4"), std::string::npos);
  EXPECT_EQ(unknown.status, 400);
  EXPECT_NE(unknown.body.find("local, cpu"), std::string::npos) << unknown.body;
}

TEST_F(ComputeTest, LocationsHaveSizesUsagesAndQuotas) {
  EXPECT_EQ(make("cpu", R"("vmSize":"Standard_DS1_v2","scaleSettings":{"minNodeCount":1})").status,
            201);

  const Answer sizes = get(kLocation + "westeurope/vmSizes");
  EXPECT_EQ(sizes.json().at("value").as_array().size(), model::built_in_sizes().size());
  const Answer usages = get(kLocation + "local/usages");
  EXPECT_EQ(usages.at("/value/0/currentValue"), "1") << usages.body;
  EXPECT_EQ(usages.at("/value/0/amlWorkspaceLocation"), "local");
  EXPECT_EQ(get(kLocation + "local/quotas").at("/value/0/unit"), "Count");
}

TEST_F(ComputeTest, AQuotaIsTheCapacityOfItsSite) {
  const auto update = [&](const std::string& quotas) {
    return send({.method = "POST",
                 .target = kLocation + "local/updateQuotas",
                 .body = fmt::format(R"({{"value":[{}]}})", quotas)});
  };

  const Answer made = update(R"({"id":"/x/TotalNodes","limit":3},{"id":"Gravity","limit":1})");
  EXPECT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(made.at("/value/0/status"), "Success");
  EXPECT_EQ(made.at("/value/1/status"), "InvalidVMFamilyName");
  EXPECT_EQ(get("/berth/v1/sites/local").at("/capacity/nodes"), "3");

  EXPECT_EQ(
      update(R"({"id":"TotalNodes","limit":9},{"id":"TotalNodes","limit":0})").at("/error/target"),
      "value[1].limit");
  EXPECT_EQ(update(R"({"id":"TotalNodes","limit":2000000000})").status, 400);
  EXPECT_EQ(post(kLocation + "local/updateQuotas").at("/error/target"), "value");
  EXPECT_EQ(get("/berth/v1/sites/local").at("/capacity/nodes"), "3");
}

TEST_F(ComputeTest, APatchHasNoLocationOfItsOwn) {
  make("cpu");
  const Answer changed = patch("cpu", R"({"properties":{"description":"new"}})");
  EXPECT_EQ(changed.header("Location"), "");
  EXPECT_EQ(follow(changed, "Azure-AsyncOperation").at("/status"), "Succeeded");
}

TEST_F(ComputeTest, SitesAreMadeChangedAndRemoved) {
  const std::string slurm = R"({"provider":"slurm","slurm":{"partition":"main"}})";
  EXPECT_EQ(put("/berth/v1/sites/lab", slurm).status, 201);
  EXPECT_EQ(put("/berth/v1/sites/LAB", R"({"provider":"slurm","capacity":{"nodes":3}})").status,
            200);
  EXPECT_EQ(get("/berth/v1/sites/lab").at("/capacity/nodes"), "3");
  EXPECT_EQ(get("/berth/v1/sites").json().at("value").as_array().size(), 2u);

  EXPECT_EQ(put("/berth/v1/sites/lab", R"({"provider":"local"})").status, 409);
  EXPECT_EQ(put("/berth/v1/sites/x", R"({"provider":"slurm","capacity":{"nodes":0}})").status, 400);
  EXPECT_EQ(put("/berth/v1/sites/x", R"({"provider":"cloud"})").status, 400);
  EXPECT_EQ(put("/berth/v1/sites/x", R"({"provider":"slurm","server_url":"nowhere"})").status, 400);
  const std::string smuggled = R"({"provider":"slurm","slurm":{"options":["--wrap=id"]}})";
  EXPECT_EQ(put("/berth/v1/sites/x", smuggled).status, 400);
  EXPECT_EQ(get("/berth/v1/sites/x").status, 404);

  EXPECT_EQ(put("W/computes/cpu", body("", R"("location":"lab",)")).status, 201);
  EXPECT_EQ(send({.method = "DELETE", .target = "/berth/v1/sites/lab"}).status, 409);
  EXPECT_EQ(remove("cpu", "Delete").status, 202);
  EXPECT_EQ(send({.method = "DELETE", .target = "/berth/v1/sites/lab"}).status, 204);
  EXPECT_EQ(send({.method = "DELETE", .target = "/berth/v1/sites/local"}).status, 409);
}

TEST_F(ComputeTest, ASitesSettingsCannotSmuggleAnything) {
  for (const char* slurm :
       {R"({"partition":"main\n#SBATCH --wrap=id"})", R"({"account":"-x"})", R"({"qos":"a b"})",
        R"({"options":["--wrap=id"]})", R"({"options":["-w","x"]})",
        R"({"options":["--constraint=a\nb"]})", R"({"bin_directory":"bin"})",
        R"({"config":"/etc/%j"})", R"({"work_directory":"relative"})"}) {
    const Answer answer =
        put("/berth/v1/sites/lab", fmt::format(R"({{"provider":"slurm","slurm":{}}})", slurm));
    EXPECT_EQ(answer.status, 400) << slurm;
    EXPECT_TRUE(answer.at("/error/target").starts_with("slurm.")) << answer.body;
  }
  EXPECT_EQ(get("/berth/v1/sites/lab").status, 404);
}

TEST_F(ComputeTest, AWorkspaceGoesOnlyWhenItsClustersHaveGone) {
  const std::string other = kW.substr(0, kW.rfind('/')) + "/team";
  EXPECT_EQ(put(other, "{}").status, 201);
  EXPECT_EQ(put(other + "/computes/cpu", body("")).status, 201);

  const Answer refused = send({.method = "DELETE", .target = other});

  EXPECT_EQ(refused.status, 409);
  EXPECT_NE(refused.body.find("'cpu'"), std::string::npos) << refused.body;
  const std::string action = "/computes/cpu?underlyingResourceAction=Delete";
  EXPECT_EQ(send({.method = "DELETE", .target = other + action}).status, 202);
  EXPECT_EQ(send({.method = "DELETE", .target = other}).status, 204);
}

TEST_F(ComputeTest, UsageIsThereWhenANodeHasGone) {
  EXPECT_EQ(make("cpu", R"("scaleSettings":{"minNodeCount":1})").status, 201);
  const model::NodeId node = plane.state().nodes.begin()->first;
  EXPECT_TRUE(plane.nodes.joined(node, {.slots = 1, .work_root = "/w"}, {}));
  clock.advance(std::chrono::seconds(60));
  plane.nodes.gone(node);
  settle();

  const Answer usage = get("/berth/v1" + kW + "/usage");

  EXPECT_EQ(usage.status, 200) << usage.body;
  EXPECT_EQ(usage.at("/value/0/compute"), "cpu") << usage.body;
  EXPECT_EQ(usage.at("/value/0/node"), node.text);
  EXPECT_EQ(get("/berth/v1" + kW + "/usage?to=2001-01-01T00:00:00Z").json().at("value"),
            boost::json::array());
  EXPECT_EQ(get("/berth/v1" + kW + "/usage?from=then").status, 400);
}

}  // namespace
}  // namespace berth::server

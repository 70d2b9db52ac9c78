// SPDX-License-Identifier: Apache-2.0
#include "wire/arm/compute.h"

#include <gtest/gtest.h>

#include "base/record.h"

namespace berth::wire::arm {
namespace {

using model::Compute;
using model::Tier;

json::value parsed(std::string_view text) { return *record::parse(text); }

const json::value kBody = parsed(R"({
  "location": "lab", "tags": {"team": "a", "gone": null},
  "identity": {"type": "SystemAssigned"}, "sku": {"name": "Basic"},
  "properties": {
    "computeType": "amlCOMPUTE", "description": "mine", "disableLocalAuth": false,
    "provisioningState": "Failed",
    "properties": {
      "osType": "linux", "vmSize": "Standard_DS2_v2", "vmPriority": "lowpriority",
      "scaleSettings": {"minNodeCount": 1, "maxNodeCount": 6, "nodeIdleTimeBeforeScaleDown": "PT90S"},
      "userAccountCredentials": {"adminUserName": "me", "adminUserPassword": "hunter2",
                                 "adminUserSshPublicKey": "ssh-rsa x"},
      "subnet": {"id": "/s"}, "remoteLoginPortPublicAccess": "disabled",
      "enableNodePublicIp": false, "isolatedNetwork": true, "propertyBag": {"a": 1},
      "currentNodeCount": 99, "allocationState": "Resizing"
    }
  }
})");

Compute read(const json::value& body, Compute base = {}, bool is_patch = false) {
  const Result<Compute> compute = compute_from_json(body, std::move(base), is_patch);
  EXPECT_TRUE(compute) << compute.error().message;
  return compute.value_or(Compute{});
}

std::string target_of(std::string_view body) {
  const Result<Compute> compute = compute_from_json(parsed(body), {});
  return compute ? "accepted" : compute.error().target;
}

TEST(ComputeJson, ReadsEverythingAClientMaySay) {
  const Compute compute = read(kBody);

  EXPECT_EQ(compute.location, "lab");
  EXPECT_EQ(compute.tags, (std::map<std::string, std::string>{{"team", "a"}}));
  const auto& cluster = std::get<model::Cluster>(compute.kind);
  EXPECT_EQ(cluster.size, "Standard_DS2_v2");
  EXPECT_EQ(cluster.tier, Tier::LowPriority);
  EXPECT_EQ(cluster.scale, (model::ScaleSettings{1, 6, std::chrono::seconds(90)}));
  EXPECT_EQ(compute.description, "mine");
  EXPECT_EQ(compute.identity.at("type").as_string(), "SystemAssigned");
}

TEST(ComputeJson, APasswordIsNeverKept) {
  const Compute compute = read(kBody);

  EXPECT_EQ(json::serialize(compute.recorded).find("hunter2"), std::string::npos);
  EXPECT_EQ(compute.recorded.at("userAccountCredentials").at("adminUserName").as_string(), "me");
}

TEST(ComputeJson, WhatIsOnlyRecordedComesBack) {
  Compute compute = read(kBody);
  compute.name = "cpu";

  const json::value resource = to_json(compute, {.name = "w"}, {});
  const json::value& properties = resource.at("properties");
  const json::value& inner = properties.at("properties");

  EXPECT_EQ(resource.at("sku").at("name").as_string(), "Basic");
  EXPECT_EQ(properties.at("disableLocalAuth").as_bool(), false);
  EXPECT_EQ(inner.at("remoteLoginPortPublicAccess").as_string(), "Disabled");
  EXPECT_EQ(inner.at("enableNodePublicIp").as_bool(), false);
  EXPECT_EQ(inner.at("isolatedNetwork").as_bool(), true);
  EXPECT_EQ(inner.at("subnet").at("id").as_string(), "/s");
  EXPECT_EQ(inner.at("propertyBag").at("a").as_int64(), 1);
  EXPECT_EQ(json::serialize(resource).find("hunter2"), std::string::npos);
}

TEST(ComputeJson, ShowsWhatIsThere) {
  const Compute compute{.name = "Cpu",
                        .location = "westeurope",
                        .kind = model::Cluster{.size = "Standard_DS3_v2"},
                        .created_at = WallTime(Duration(1'700'000'000'000))};
  const model::ClusterView view{.current_nodes = 3,
                                .target_nodes = 4,
                                .is_steady = false,
                                .idle = 1,
                                .running = 2,
                                .preparing = 5,
                                .unusable = 6,
                                .leaving = 7,
                                .preempted = 8,
                                .errors = {"no room"}};

  const json::value resource = to_json(compute, {.name = "w"}, view);
  const json::value& properties = resource.at("properties");
  const json::value& inner = properties.at("properties");

  EXPECT_EQ(resource.at("type").as_string(),
            "Microsoft.MachineLearningServices/workspaces/computes");
  EXPECT_TRUE(resource.at("id").as_string().ends_with("/workspaces/w/computes/Cpu"));
  EXPECT_EQ(properties.at("computeLocation").as_string(), "westeurope");
  EXPECT_EQ(properties.at("provisioningState").as_string(), "Succeeded");
  EXPECT_TRUE(properties.at("createdOn").as_string().starts_with("2023-11-14T"));
  EXPECT_EQ(inner.at("vmPriority").as_string(), "Dedicated");
  EXPECT_EQ(inner.at("scaleSettings").at("nodeIdleTimeBeforeScaleDown").as_string(), "PT2M");
  EXPECT_EQ(inner.at("allocationState").as_string(), "Resizing");
  EXPECT_EQ(inner.at("currentNodeCount").as_int64(), 3);
  EXPECT_EQ(inner.at("targetNodeCount").as_int64(), 4);
  EXPECT_EQ(inner.at("nodeStateCounts"),
            parsed(R"({"idleNodeCount":1,"runningNodeCount":2,"preparingNodeCount":5,
                       "unusableNodeCount":6,"leavingNodeCount":7,"preemptedNodeCount":8})"));
  EXPECT_EQ(inner.at("errors").at(0).at("error").at("message").as_string(), "no room");
}

TEST(ComputeJson, OneThatGoesSaysSo) {
  const json::value resource = to_json(Compute{.name = "cpu", .is_deleting = true}, {}, {});

  EXPECT_EQ(resource.at("properties").at("provisioningState").as_string(), "Deleting");
}

TEST(ComputeJson, WhatABodyDoesNotMentionStays) {
  const Compute before = read(kBody);
  const json::value patch =
      parsed(R"({"properties":{"properties":{"scaleSettings":{"maxNodeCount":9}}}})");

  const Compute after = read(patch, before, true);

  model::Cluster expected = std::get<model::Cluster>(before.kind);
  expected.scale = {1, 9, std::chrono::seconds(90)};
  EXPECT_EQ(std::get<model::Cluster>(after.kind), expected);
  EXPECT_EQ(after.tags, before.tags);
  EXPECT_EQ(after.recorded, before.recorded);
  EXPECT_EQ(read(parsed(R"({"tags":{}})"), before, true).tags.size(), 0u);
}

TEST(ComputeJson, OtherTypesAreNotSupportedByName) {
  const Result<Compute> instance =
      compute_from_json(parsed(R"({"properties":{"computeType":"computeinstance"}})"), {});

  ASSERT_FALSE(instance);
  EXPECT_EQ(instance.error().code, Code::NotSupported);
  EXPECT_NE(instance.error().message.find("ComputeInstance"), std::string::npos);
  const Result<Compute> nonsense =
      compute_from_json(parsed(R"({"properties":{"computeType":"Toaster"}})"), {});
  EXPECT_EQ(nonsense.error().code, Code::InvalidArgument);
}

TEST(ComputeJson, AWrongFieldIsNamed) {
  const std::string inner = "properties.properties.";
  const auto with = [](std::string_view text) {
    return fmt::format(R"({{"properties":{{"computeType":"AmlCompute","properties":{{{}}}}}}})",
                       text);
  };

  EXPECT_EQ(target_of("{}"), "properties");
  EXPECT_EQ(target_of(R"({"properties":{}})"), "properties.computeType");
  EXPECT_EQ(target_of(with(R"("vmSize":5)")), inner + "vmSize");
  EXPECT_EQ(target_of(with(R"("vmPriority":"spot")")), inner + "vmPriority");
  EXPECT_EQ(target_of(with(R"("osType":"Windows")")), inner + "osType");
  EXPECT_EQ(target_of(with(R"("scaleSettings":[])")), inner + "scaleSettings");
  EXPECT_EQ(target_of(with(R"("scaleSettings":{"maxNodeCount":"4"})")),
            inner + "scaleSettings.maxNodeCount");
  EXPECT_EQ(target_of(with(R"("scaleSettings":{"maxNodeCount":99999999999})")),
            inner + "scaleSettings.maxNodeCount");
  EXPECT_EQ(target_of(with(R"("scaleSettings":{"nodeIdleTimeBeforeScaleDown":"soon"})")),
            inner + "scaleSettings.nodeIdleTimeBeforeScaleDown");
  EXPECT_EQ(target_of(with(R"("remoteLoginPortPublicAccess":"ajar")")),
            inner + "remoteLoginPortPublicAccess");
  EXPECT_EQ(target_of(with(R"("subnet":"x")")), inner + "subnet");
}

TEST(NodeJson, WhatANodeHasNotIsNull) {
  EXPECT_EQ(to_json(model::NodeView{.id = {"n1"}}),
            parsed(R"({"nodeId":"n1","privateIpAddress":null,"publicIpAddress":null,"port":0,
                       "nodeState":"idle","runId":null})"));
  EXPECT_EQ(to_json(model::NodeView{.id = {"n1"}, .state = model::NodeState::Running, .job = "j"})
                .at("runId"),
            "j");
}

TEST(SizeJson, HasMemoryInGigabytesAndBothPrices) {
  const json::value size = to_json(model::VmSize{.name = "S",
                                                 .cores = 4,
                                                 .memory_mib = 3584,
                                                 .gpus = 1,
                                                 .price_per_hour = 2,
                                                 .low_priority_price_per_hour = 0.5});

  EXPECT_EQ(size.at("vCPUs").as_int64(), 4);
  EXPECT_EQ(size.at("memoryGB").as_double(), 3.5);
  EXPECT_EQ(size.at("estimatedVMPrices").at("values").at(1).at("retailPrice").as_double(), 0.5);
}

TEST(UsageJson, AUsageIsAQuotaAndWhatIsUsedOfIt) {
  const UsageRecord usage{.location = "lab", .name = "f", .title = "F", .used = 3, .limit = 8};

  EXPECT_EQ(usage_json(usage).at("currentValue").as_int64(), 3);
  EXPECT_EQ(usage_json(usage).at("name").at("localizedValue").as_string(), "F");
  EXPECT_EQ(quota_json(usage).at("limit").as_int64(), 8);
  EXPECT_FALSE(quota_json(usage).contains("currentValue"));
}

TEST(ComputeJson, WithAnEngineIsAttachedAndSaysNothingOfMachines) {
  const Compute compute{.key = {{"w"}, "k8s"}, .name = "k8s", .kind = model::AttachedEngine{}};
  const json::object body = to_json(compute, {.name = "default"}, {});
  const json::object& properties = body.at("properties").as_object();
  EXPECT_EQ(properties.at("computeType"), "Kubernetes");
  EXPECT_EQ(properties.at("isAttachedCompute"), true);
  EXPECT_TRUE(properties.at("properties").as_object().empty());
}

}  // namespace
}  // namespace berth::wire::arm

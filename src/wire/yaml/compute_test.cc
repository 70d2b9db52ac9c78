// SPDX-License-Identifier: Apache-2.0
#include "wire/yaml/compute.h"

#include <gtest/gtest.h>

#include "base/record.h"
#include "wire/arm/compute.h"
#include "wire/yaml/asset.h"

namespace berth::wire::yaml {
namespace {

namespace json = boost::json;

Result<ComputeFile> read(std::string_view text) { return compute_from_yaml(*parse(text, "c.yml")); }

std::string problem_of(std::string_view text) {
  const Result<ComputeFile> file = read(text);
  return file ? "accepted" : file.error().message;
}

TEST(ComputeYaml, SaysWhatItSaysAndAlwaysTheCounts) {
  const Result<ComputeFile> file = read("type: amlcompute\nname: cpu\n");

  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->name, "cpu");
  EXPECT_EQ(file->body, *record::parse(R"({"properties":{"computeType":"AmlCompute","properties":{
      "scaleSettings":{"minNodeCount":0,"maxNodeCount":4,
                       "nodeIdleTimeBeforeScaleDown":"PT2M"}}}})"));
}

TEST(ComputeYaml, TakesEveryKeyOfACluster) {
  const Result<ComputeFile> file = read(R"(
$schema: https://azuremlschemas.azureedge.net/latest/amlCompute.schema.json
name: pool-a
type: AmlCompute
description: ours
location: lab
tags: {team: a}
size: Standard_DS2_v2
tier: low_priority
min_instances: 1
max_instances: 6
idle_time_before_scale_down: 90
ssh_public_access_enabled: true
ssh_settings: {admin_username: me, admin_password: hunter2, ssh_key_value: ssh-rsa x}
network_settings: {vnet_name: net, subnet: inner}
enable_node_public_ip: false
identity: {type: user_assigned, user_assigned_identities: [{resource_id: /i}]}
provisioning_state: Succeeded
)");

  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->body, *record::parse(R"({"location":"lab","tags":{"team":"a"},
      "identity":{"type":"UserAssigned","userAssignedIdentities":{"/i":{}}},
      "properties":{"computeType":"AmlCompute","description":"ours","properties":{
        "scaleSettings":{"minNodeCount":1,"maxNodeCount":6,
                         "nodeIdleTimeBeforeScaleDown":"PT1M30S"},
        "vmSize":"Standard_DS2_v2","vmPriority":"LowPriority",
        "remoteLoginPortPublicAccess":"Enabled",
        "userAccountCredentials":{"adminUserName":"me","adminUserSshPublicKey":"ssh-rsa x"},
        "subnet":{"id":"net/subnets/inner"},"enableNodePublicIp":false}}})"));
  EXPECT_EQ(file->warnings.size(), 2u);
  EXPECT_TRUE(arm::compute_from_json(file->body, {}));
}

TEST(ComputeYaml, AMistakeIsPointedAt) {
  EXPECT_EQ(problem_of("type: amlcompute\nmax_instance: 3\n"),
            "c.yml:2:1: 'max_instance' is not a key of a cluster (amlcompute); did you mean "
            "'max_instances'?");
  EXPECT_EQ(problem_of("type: amlcompute\ntier: spot\n"),
            "c.yml:2:7: 'spot' is not a tier; there are dedicated and low_priority");
  EXPECT_EQ(problem_of("type: amlcompute\nmin_instances: 5\n"),
            "c.yml:2:16: 'min_instances' is 5, more than 'max_instances', 4");
  EXPECT_EQ(problem_of("type: amlcompute\nmin_instances: -1\n"),
            "c.yml:2:16: 'min_instances' must be 0 or more, but is -1");
  EXPECT_EQ(problem_of("type: amlcompute\nidle_time_before_scale_down: soon\n"),
            "c.yml:2:30: 'idle_time_before_scale_down' must be a whole number, but is the text "
            "'soon'");
  EXPECT_EQ(problem_of("name: x\n"), "c.yml:1:1: a compute needs a 'type', such as amlcompute");
  for (const char* wrong :
       {"[]", "type: amlcompute\ntags: 5\n", "type: amlcompute\nssh_settings: {user: x}\n",
        "type: amlcompute\nidentity: {type: me}\n", "type: amlcompute\nmax_instances: 1.5\n",
        "type: amlcompute\nenable_node_public_ip: perhaps\n", "type: toaster\n"}) {
    EXPECT_FALSE(read(wrong)) << wrong;
  }
}

TEST(ComputeYaml, AChangeHoldsOnlyWhatItSays) {
  const auto change = [](std::string_view text) {
    return compute_change_from_yaml(*parse(text, "--set"));
  };

  const Result<ComputeFile> file = change("min_instances: 7\n");

  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->body, *record::parse(R"({"properties":{"computeType":"AmlCompute",
      "properties":{"scaleSettings":{"minNodeCount":7}}}})"));
  EXPECT_FALSE(change("min_instances: 7\nmax_instances: 6\n"));
  EXPECT_FALSE(change("instances: 7\n"));
}

TEST(ComputeYaml, OtherTypesAreNotSupportedYet) {
  const Result<ComputeFile> file = read("name: desk\ntype: computeinstance\nidle: 5\n");

  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, Code::NotSupported);
  EXPECT_EQ(file.error().message,
            "c.yml:2:7: computes of type 'computeinstance' are not supported yet; 'amlcompute' is");
}

TEST(ComputeView, OfAMachineSaysItsSlotsAndNothingOfNodes) {
  const json::object view = compute_view(arm::to_json(model::local_compute(3), {.name = "w"}, {}));
  EXPECT_EQ(view.at("name").as_string(), "local");
  EXPECT_EQ(view.at("type").as_string(), "virtualmachine");
  EXPECT_EQ(view.at("slots").as_int64(), 3);
  EXPECT_EQ(view.at("provisioning_state").as_string(), "Succeeded");
  for (const char* key : {"node_state_counts", "network_settings", "tier"}) {
    EXPECT_FALSE(view.contains(key)) << key;
  }
}

TEST(ComputeView, IsAFileThatMakesTheSameCluster) {
  const model::Compute compute{.name = "cpu",
                               .location = "lab",
                               .kind = model::Cluster{.size = "Standard_DS2_v2",
                                                      .tier = model::Tier::LowPriority,
                                                      .scale = {1, 6, std::chrono::seconds(90)}},
                               .description = "ours",
                               .tags = {{"a", "b"}}};
  const json::object view = compute_view(arm::to_json(
      compute, {.name = "w"}, {.current_nodes = 2, .running = 2, .errors = {"no room"}}));

  EXPECT_EQ(view.at("type").as_string(), "amlcompute");
  EXPECT_EQ(view.at("tier").as_string(), "low_priority");
  EXPECT_EQ(view.at("idle_time_before_scale_down").as_int64(), 90);
  EXPECT_EQ(view.at("current_node_count").as_int64(), 2);
  EXPECT_EQ(view.at("node_state_counts").at("running").as_int64(), 2);
  EXPECT_EQ(view.at("errors").at(0).as_string(), "no room");
  EXPECT_EQ(view.at("resourceGroup").as_string(), "berth");

  const Result<ComputeFile> file = read(to_yaml_text(json::value(view)));
  ASSERT_TRUE(file) << file.error().message;
  const Result<model::Compute> again = arm::compute_from_json(file->body, {});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(std::get<model::Cluster>(again->kind), std::get<model::Cluster>(compute.kind));
  EXPECT_EQ(again->tags, compute.tags);
  EXPECT_EQ(again->location, compute.location);
}

TEST(ComputeView, NodesSizesAndUsagesAreInSnakeCase) {
  const json::object node = node_view(arm::to_json(model::NodeView{
      .id = {"n"}, .state = model::NodeState::Running, .address = "10.0.0.1", .job = "j"}));
  EXPECT_EQ(node.at("current_job_name").as_string(), "j");
  EXPECT_EQ(node.at("private_ip_address").as_string(), "10.0.0.1");

  const json::object size = size_view(arm::to_json(model::VmSize{
      .name = "s", .cores = 2, .price_per_hour = 3, .low_priority_price_per_hour = 1}));
  EXPECT_EQ(size.at("v_cp_us").as_int64(), 2);
  EXPECT_EQ(size.at("low_priority_price_per_hour").as_double(), 1);

  const json::object usage = usage_view(arm::usage_json({.name = "f", .title = "F", .used = 1}));
  EXPECT_EQ(usage.at("current_value").as_int64(), 1);
  EXPECT_EQ(usage.at("name").at("localized_value").as_string(), "F");
}

std::string sizes_problem(std::string_view text) {
  const auto sizes = sizes_from_yaml(*parse(text, "sizes.yml"));
  return sizes ? "accepted" : sizes.error().message;
}

TEST(SizesYaml, AListOfSizes) {
  const auto sizes = sizes_from_yaml(*parse(R"(
- name: desk
  cores: 8
  memory: 32Gi
- {name: rack.large, family: rack, cores: 64, memory: 512 GiB, gpus: 4, price_per_hour: 2.5,
   low_priority_price_per_hour: 1}
)",
                                            "sizes.yml"));

  ASSERT_TRUE(sizes) << sizes.error().message;
  ASSERT_EQ(sizes->size(), 2u);
  EXPECT_EQ(sizes->at(0).memory_mib, 32 * 1024);
  EXPECT_EQ(sizes->at(0).gpus, 0);
  EXPECT_EQ(sizes->at(0).family, "custom");
  EXPECT_EQ(sizes->at(1).gpus, 4);
  EXPECT_EQ(sizes->at(1).price_per_hour, 2.5);
  EXPECT_EQ(sizes->at(1).low_priority_price_per_hour, 1);
  EXPECT_EQ(sizes_problem(""), "accepted");
}

TEST(SizesYaml, AMistakeIsPointedAt) {
  EXPECT_EQ(sizes_problem("name: x\n"), "sizes.yml:1:1: a file of sizes is a list: '- name: …'");
  EXPECT_EQ(sizes_problem("- name: x\n  cores: 1\n"), "sizes.yml:1:3: a size needs 'memory'");
  EXPECT_EQ(sizes_problem("- name: x\n  core: 1\n"),
            "sizes.yml:2:3: 'core' is not a key of a size; did you mean 'cores'?");
  EXPECT_EQ(sizes_problem("- {name: x, cores: 0, memory: 1Gi}\n"),
            "sizes.yml:1:20: 'cores' must be from 1 to 100000, but is 0");
  for (const char* wrong :
       {"- x\n", "- {name: a/b, cores: 1, memory: 1Gi}\n", "- {name: a, cores: 1, memory: 5}\n",
        "- {name: a, cores: 1, memory: 1Gi, price_per_hour: -1}\n",
        "- {name: a, cores: 1, memory: 1Gi, price_per_hour: cheap}\n",
        "- {name: a, cores: 1, memory: 1Gi, gpus: -1}\n",
        "- {name: a, cores: 1, memory: 1Gi}\n- {name: A, cores: 2, memory: 1Gi}\n"}) {
    EXPECT_NE(sizes_problem(wrong), "accepted") << wrong;
  }
}

}  // namespace
}  // namespace berth::wire::yaml

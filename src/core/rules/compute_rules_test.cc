// SPDX-License-Identifier: Apache-2.0
#include "core/rules/compute_rules.h"

#include <gtest/gtest.h>

namespace berth::core {
namespace {

using model::Cluster;
using model::Compute;
using model::Site;
using model::Tier;

State with_sites() {
  State state;
  state.settings.sizes = model::built_in_sizes();
  state.sites["local"] = {.name = "local"};
  state.sites["lab"] = {.name = "lab",
                        .provider = model::ProviderKind::Slurm,
                        .capacity = {.nodes = 4, .cores = 8, .memory_mib = 64 * 1024}};
  return state;
}

Cluster sized(const char* size) { return {.size = size}; }

std::string message_of(const State& state, Compute draft, const Compute* existing = nullptr) {
  const auto checked = check_compute(state, std::move(draft), existing);
  return checked ? "accepted" : checked.error().message;
}

TEST(ComputeName, FollowsAzuresRule) {
  for (const char* good :
       {"abc", "cpu-cluster", "Pool7", "a1b", "a-1-b", "abcdefghijklmnopqrstuvwx"}) {
    EXPECT_TRUE(check_compute_name(good)) << good;
  }
  for (const char* bad : {"", "ab", "1abc", "-abc", "a_b", "a.b", "a b", "abc-", "pool-7", "../up",
                          "a\nb", "\xff\xfe\xfd", "abcdefghijklmnopqrstuvwxy"}) {
    const Status status = check_compute_name(bad);
    ASSERT_FALSE(status) << bad;
    EXPECT_EQ(status.error().target, "name");
    EXPECT_EQ(status.error().code, Code::InvalidArgument);
  }
}

TEST(ComputeName, BerthsOwnNamesAreTaken) {
  for (const char* name : {"local", "Local", "serverless", "SERVERLESS"}) {
    EXPECT_FALSE(check_compute_name(name)) << name;
  }
}

TEST(FindCompute, TheBuiltInOneIsInEveryWorkspaceAndNobodyChangesIt) {
  State state;
  state.settings.local = model::local_compute(3);
  state.computes[{{"w"}, "pool"}] = {.key = {{"w"}, "pool"}, .name = "Pool"};

  for (const char* name : {"local", "LOCAL"}) {
    EXPECT_EQ(find_compute(state, {"w"}, name), &state.settings.local) << name;
    EXPECT_EQ(find_compute(state, {"another"}, name), &state.settings.local) << name;
  }
  ASSERT_NE(find_compute(state, {"w"}, "POOL"), nullptr);
  EXPECT_EQ(find_compute(state, {"another"}, "pool"), nullptr);
  EXPECT_EQ(find_compute(state, {"w"}, "serverless"), nullptr);
  EXPECT_TRUE(check_may_change(*find_compute(state, {"w"}, "pool")));
  EXPECT_EQ(check_may_change(*find_compute(state, {"w"}, "local")).error().code, Code::Conflict);
}

TEST(Scale, CountsAndTimesHaveBounds) {
  EXPECT_TRUE(check_scale({}));
  EXPECT_TRUE(check_scale({.min_nodes = 0, .max_nodes = 0, .idle_before_scale_down = {}}));
  EXPECT_TRUE(check_scale({.min_nodes = kMostNodes, .max_nodes = kMostNodes}));
  EXPECT_EQ(check_scale({.min_nodes = 5, .max_nodes = 4}).error().message,
            "min_instances is 5, more than max_instances, 4");
  EXPECT_EQ(check_scale({.min_nodes = -1}).error().target, "min_instances");
  EXPECT_EQ(check_scale({.max_nodes = kMostNodes + 1}).error().target, "max_instances");
  EXPECT_EQ(check_scale({.idle_before_scale_down = std::chrono::seconds(-1)}).error().target,
            "idle_time_before_scale_down");
  EXPECT_FALSE(check_scale({.idle_before_scale_down = kLongestIdle + std::chrono::seconds(1)}));
}

TEST(ComputeRules, WhatIsNotSaidIsFilledIn) {
  const auto checked = check_compute(with_sites(), {.name = "Cpu"}, nullptr);

  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(checked->compute.key.name, "cpu");
  EXPECT_EQ(cluster_in(&checked->compute)->size, kDefaultSize);
  EXPECT_EQ(checked->compute.location, "local");
  EXPECT_EQ(checked->compute.site, "local");
  EXPECT_EQ(checked->notice, "");
}

TEST(ComputeRules, ALocationIsASiteOrMeansTheDefaultOneWithANotice) {
  const State state = with_sites();

  const auto lab = check_compute(state, {.name = "cpu", .location = "LAB"}, nullptr);
  const auto region = check_compute(state, {.name = "cpu", .location = "West Europe"}, nullptr);

  ASSERT_TRUE(lab && region);
  EXPECT_EQ(lab->compute.site, "lab");
  EXPECT_EQ(lab->notice, "");
  EXPECT_EQ(region->compute.site, "local");
  EXPECT_NE(region->notice.find("'West Europe'"), std::string::npos) << region->notice;
  EXPECT_FALSE(check_compute(state, {.name = "cpu", .location = "a\nb"}, nullptr));
  EXPECT_FALSE(check_compute(state, {.name = "cpu", .location = std::string(99, 'x')}, nullptr));
}

TEST(ComputeRules, ASizeIsKnownByItsNameInAnyCase) {
  const State state = with_sites();

  const auto checked =
      check_compute(state, {.name = "cpu", .kind = sized("STANDARD_DS3_V2")}, nullptr);
  const std::string unknown = message_of(state, {.name = "cpu", .kind = sized("Standard_DS3_v3")});

  ASSERT_TRUE(checked);
  EXPECT_EQ(cluster_in(&checked->compute)->size, "Standard_DS3_v2");
  EXPECT_NE(unknown.find("no size 'Standard_DS3_v3'; did you mean 'Standard_DS3_v2'"),
            std::string::npos)
      << unknown;
  EXPECT_EQ(message_of(state, {.name = "cpu", .kind = sized("standard_ds3")}),
            "no size 'standard_ds3'; did you mean 'Standard_DS3_v2'? 'berth compute list-sizes' "
            "lists them");
  EXPECT_EQ(message_of(state, {.name = "cpu", .kind = sized("?")}),
            "no size '?'; 'berth compute list-sizes' lists them");
}

TEST(ComputeRules, ASizeMustFitItsSite) {
  State state = with_sites();
  const Compute gpus{.name = "gpu", .kind = sized("Standard_NC12")};
  EXPECT_EQ(message_of(state, gpus),
            "a node of size 'Standard_NC12' has 2 GPUs, and site 'local' has none");
  state.sites["local"].capacity.gpus = 1;
  EXPECT_EQ(message_of(state, gpus),
            "a node of size 'Standard_NC12' has 2 GPUs, and site 'local' has 1 GPU");
  state.sites["local"].capacity.gpus = 2;
  EXPECT_EQ(message_of(state, gpus), "accepted");

  Compute large{.name = "cpu", .location = "lab", .kind = sized("Standard_F16s_v2")};
  EXPECT_NE(message_of(state, large).find("all of site 'lab' 8"), std::string::npos);
  large.kind = sized("Standard_E8s_v3");
  EXPECT_EQ(message_of(state, large), "accepted");
  state.sites["lab"].capacity.memory_mib = 1024;
  EXPECT_NE(message_of(state, large).find("of memory"), std::string::npos);
  large.location = "local";
  EXPECT_EQ(message_of(state, large), "accepted");
}

class ChangedCompute : public testing::Test {
 protected:
  State state = with_sites();
  Compute before =
      check_compute(state, {.name = "Cpu", .location = "westeurope"}, nullptr)->compute;
};

TEST_F(ChangedCompute, ScaleTagsAndDescriptionMayChange) {
  Compute draft{.name = "CPU", .kind = Cluster{.scale = {.max_nodes = 9}}, .description = "more"};

  const auto checked = check_compute(state, draft, &before);

  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(checked->compute.name, "Cpu");
  EXPECT_EQ(cluster_in(&checked->compute)->size, cluster_in(&before)->size);
  EXPECT_EQ(checked->compute.site, "local");
  EXPECT_EQ(cluster_in(&checked->compute)->scale.max_nodes, 9);
  EXPECT_EQ(checked->notice, "") << "said once";
}

TEST_F(ChangedCompute, SizeTierAndLocationMayNot) {
  const Compute size{.name = "cpu", .kind = sized("Standard_DS2_v2")};
  const Compute tier{.name = "cpu", .kind = Cluster{.tier = Tier::LowPriority}};
  const Compute location{.name = "cpu", .location = "lab"};

  for (const auto& [draft, field, present] :
       {std::tuple(size, "size", "'Standard_DS3_v2'"), std::tuple(tier, "tier", "'dedicated'"),
        std::tuple(location, "location", "'westeurope'")}) {
    const auto checked = check_compute(state, draft, &before);
    ASSERT_FALSE(checked) << field;
    EXPECT_EQ(checked.error().code, Code::Conflict);
    EXPECT_EQ(checked.error().target, field);
    EXPECT_NE(checked.error().message.find(present), std::string::npos) << checked.error().message;
  }
  EXPECT_EQ(
      message_of(state, {.name = "cpu", .location = "WestEurope", .kind = sized("standard_ds3_v2")},
                 &before),
      "accepted");
}

TEST_F(ChangedCompute, AKindStays) {
  const Compute machine{.key = {{"w"}, "box"}, .name = "box", .kind = model::Attached{}};
  EXPECT_EQ(check_compute(state, {.name = "box"}, &machine).error().code, Code::Conflict);
  EXPECT_EQ(check_compute(state, machine, nullptr).error().code, Code::NotSupported);
}

TEST_F(ChangedCompute, OneThatIsBeingDeletedTakesNoChange) {
  before.is_deleting = true;

  EXPECT_EQ(check_compute(state, {.name = "cpu"}, &before).error().code, Code::Conflict);
}

TEST(SiteRules, NamesAndNumbersAreChecked) {
  EXPECT_TRUE(check_site({.name = "lab-2", .capacity = {.nodes = 1, .cores = 2}}, nullptr));
  for (const char* bad : {"", "2lab", "-lab", "a b", "a/b", "lab\n", "../x"}) {
    EXPECT_FALSE(check_site({.name = bad}, nullptr)) << bad;
  }
  EXPECT_FALSE(check_site({.name = std::string(33, 'x')}, nullptr));
  EXPECT_EQ(check_site({.name = "lab", .capacity = {.nodes = 0}}, nullptr).error().target,
            "capacity.nodes");
  EXPECT_EQ(check_site({.name = "lab", .capacity = {.cores = -1}}, nullptr).error().target,
            "capacity.cores");
  EXPECT_EQ(check_site({.name = "lab", .capacity = {.memory_mib = 0}}, nullptr).error().target,
            "capacity.memory_mib");
  EXPECT_FALSE(check_site({.name = "lab", .capacity = {.gpus = -1}}, nullptr));
}

TEST(SiteRules, AnAddressIsAnAddress) {
  for (const char* good : {"", "https://head:8470", "http://127.0.0.1:1/", "https://a.b/c"}) {
    EXPECT_TRUE(check_site({.name = "lab", .server_url = good}, nullptr)) << good;
  }
  for (const char* bad : {"head:8470", "ftp://x", "https://", "https:///x", "https://a b",
                          "https://a\nb", "https://me:pw@x", "https://x/$(id)", "https://x?y"}) {
    EXPECT_FALSE(check_site({.name = "lab", .server_url = bad}, nullptr)) << bad;
  }
}

TEST(SiteRules, AProviderStays) {
  const Site slurm{.name = "lab", .provider = model::ProviderKind::Slurm};

  EXPECT_EQ(check_site({.name = "lab"}, &slurm).error().code, Code::Conflict);
  EXPECT_EQ(
      check_site({.name = "local", .provider = model::ProviderKind::Slurm}, nullptr).error().code,
      Code::Conflict);
  EXPECT_FALSE(check_site({.name = "here", .slurm = {.partition = "main"}}, nullptr));
  EXPECT_TRUE(check_site(slurm, &slurm));
}

}  // namespace
}  // namespace berth::core

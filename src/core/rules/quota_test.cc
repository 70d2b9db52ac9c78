// SPDX-License-Identifier: Apache-2.0
#include "core/rules/quota.h"

#include <gtest/gtest.h>

namespace berth::core {
namespace {

using model::Site;

class QuotaTest : public testing::Test {
 protected:
  QuotaTest() {
    state.settings.sizes = model::built_in_sizes();
    state.settings.machine_cores = 2;
    state.sites["local"] = site;
  }

  /// A cluster that always has so many nodes.
  void keep(int nodes, const char* size) {
    const model::ComputeKey key{{"w"}, size};
    state.computes[key] = {.key = key,
                           .site = "local",
                           .kind = model::Cluster{.size = size, .scale = {.min_nodes = nodes}}};
  }

  QuotaStatus change(std::string_view name, std::int64_t limit) {
    return change_quota(state, {name, limit}, site);
  }

  State state;
  Site site{.name = "local"};
};

TEST_F(QuotaTest, NodesAndCoresAreTheCapacityOfTheSite) {
  EXPECT_EQ(change("TotalNodes", 4), QuotaStatus::Success);
  EXPECT_EQ(change("totaldedicatedcores", 16), QuotaStatus::Success);
  EXPECT_EQ(site.capacity.nodes, 4);
  EXPECT_EQ(site.capacity.cores, 16);

  EXPECT_EQ(change("TotalLowPriorityCores", -1), QuotaStatus::Success);
  EXPECT_EQ(site.capacity.cores, std::nullopt);
}

TEST_F(QuotaTest, FamiliesShareTheCoresAndUnknownNamesAreNobodys) {
  const std::string family = state.settings.sizes.begin()->second.family;
  EXPECT_EQ(change(family, 4), QuotaStatus::OperationNotSupportedForSku);
  EXPECT_EQ(change("Gravity", 4), QuotaStatus::InvalidVMFamilyName);
  EXPECT_EQ(change("", 4), QuotaStatus::InvalidVMFamilyName);
  EXPECT_EQ(site.capacity, model::SiteCapacity{});
}

TEST_F(QuotaTest, ALimitBelowWhatClustersAlwaysKeepIsRefused) {
  keep(2, "Standard_DS1_v2");
  keep(1, "Standard_DS3_v2");  // Four cores, of which this machine has two.

  EXPECT_EQ(change("TotalNodes", 2), QuotaStatus::InvalidQuotaBelowClusterMinimum);
  EXPECT_EQ(change("TotalNodes", 3), QuotaStatus::Success);
  EXPECT_EQ(change("TotalDedicatedCores", 3), QuotaStatus::InvalidQuotaBelowClusterMinimum);
  EXPECT_EQ(change("TotalDedicatedCores", 4), QuotaStatus::Success);
  EXPECT_EQ(change("TotalDedicatedCores", -1), QuotaStatus::Success);
}

}  // namespace
}  // namespace berth::core

// SPDX-License-Identifier: Apache-2.0
#include "model/compute.h"

#include <gtest/gtest.h>

#include "base/record.h"
#include "model/compute_kind.h"

namespace berth::model {
namespace {

/// As the store had it before computes were of several kinds.
constexpr const char* kOldRow =
    R"({"key":{"workspace":"w-1","name":"pool"},"name":"Pool","location":"lab","site":"lab",)"
    R"("size":"Standard_DS2_v2","tier":"LowPriority",)"
    R"("scale":{"min_nodes":1,"max_nodes":6,"idle_before_scale_down":90},)"
    R"("created_at":5,"modified_at":6,"allocation_changed_at":7})";

TEST(Compute, OfARowOfBeforeIsACluster) {
  const Result<Compute> compute = record::decode_text<Compute>(kOldRow);
  ASSERT_TRUE(compute) << compute.error().message;
  const Cluster expected{.size = "Standard_DS2_v2",
                         .tier = Tier::LowPriority,
                         .scale = {1, 6, std::chrono::seconds(90)},
                         .allocation_changed_at = WallTime(Duration(7))};
  ASSERT_NE(cluster_in(&*compute), nullptr);
  EXPECT_EQ(*cluster_in(&*compute), expected);
  EXPECT_EQ(compute->name, "Pool");
  EXPECT_EQ(compute->modified_at, WallTime(Duration(6)));
}

TEST(Compute, OfEveryKindComesBack) {
  const ComputeKind kinds[] = {
      Cluster{.size = "S", .scale = {.max_nodes = 9}},
      Instance{
          .size = "S", .idle_before_stop = std::chrono::seconds(60), .wish = InstanceWish::Stopped},
      Attached{.machine = "box", .slots = 3},
      AttachedEngine{.at_once = 3},
      AttachedEngine{},
  };
  for (const ComputeKind& kind : kinds) {
    const Compute compute{.key = {{"w"}, "c"}, .name = "c", .kind = kind};
    const std::string row = record::encode_text(compute);
    const Result<Compute> again = record::decode_text<Compute>(row);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->kind.index(), kind.index()) << row;
    EXPECT_EQ(record::encode_text(*again), row);
  }
}

TEST(Compute, OfAKindThatNobodyKnowsIsNotReadAsAnother) {
  EXPECT_EQ(record::decode_text<Compute>(R"({"kind":"Moon","size":"S"})").error().target, "kind");
}

TEST(Compute, WithAnEngineRepeatsWhatIsLostAndHasNoMachines) {
  const Compute compute{.kind = AttachedEngine{}};
  EXPECT_TRUE(traits_of(compute).takes_attempts && traits_of(compute).repeats_lost_work);
  EXPECT_FALSE(traits_of(compute).takes_room || traits_of(compute).is_one_machine);
}

TEST(Compute, ThatIsBuiltInIsOneMachineThatAllShare) {
  const Compute local = local_compute(4);
  EXPECT_TRUE(is_built_in(local));
  EXPECT_EQ(std::get<Attached>(local.kind).slots, 4);
  EXPECT_TRUE(traits_of(local).shares_nodes && traits_of(local).is_one_machine);
  EXPECT_FALSE(traits_of(local).takes_room || traits_of(local).repeats_lost_work);
}

}  // namespace
}  // namespace berth::model

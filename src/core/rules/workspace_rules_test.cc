// SPDX-License-Identifier: Apache-2.0
#include "core/rules/workspace_rules.h"

#include <gtest/gtest.h>

namespace berth::core {
namespace {

using model::Workspace;

const Workspace kExisting{.id = {"1"},
                          .name = "Vision",
                          .location = "lab",
                          .recorded = {{"storageAccount", "a"}, {"imageBuildCompute", "cpu"}}};

TEST(WorkspaceChange, KeepsWhatItDoesNotMention) {
  const auto changed = changed_workspace(
      kExisting, {.name = "vision", .location = "LAB", .recorded = {{"imageBuildCompute", "gpu"}}});

  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->name, "Vision");
  EXPECT_EQ(changed->id.text, "1");
  EXPECT_EQ(changed->location, "lab");
  EXPECT_EQ(changed->recorded.at("storageAccount"), "a");
  EXPECT_EQ(changed->recorded.at("imageBuildCompute"), "gpu");
}

TEST(WorkspaceChange, OfWhatIsFixedIsRefusedByName) {
  const auto moved = changed_workspace(kExisting, {.name = "vision", .location = "elsewhere"});
  EXPECT_EQ(moved.error().code, Code::Conflict);
  EXPECT_EQ(moved.error().target, "location");

  const auto other = changed_workspace(
      kExisting, {.name = "vision", .location = "lab", .recorded = {{"storageAccount", "b"}}});
  EXPECT_EQ(other.error().code, Code::Conflict);
  EXPECT_EQ(other.error().target, "properties.storageAccount");
}

}  // namespace
}  // namespace berth::core

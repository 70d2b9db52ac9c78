// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "store/sqlite/fixture.h"

namespace berth::store {
namespace {

using model::DeploymentState;

class DeploymentRowsTest : public StoreFixture {
 protected:
  static model::TemplateDeployment deployment(const std::string& id, const std::string& name,
                                              DeploymentState state = DeploymentState::Running) {
    return {.id = id, .subscription = "S", .resource_group = "Group", .name = name, .state = state};
  }
  static Put<model::DeploymentOperation> operation(const std::string& deployment, int number) {
    return {{.deployment = deployment, .number = number}};
  }
  DeploymentReader& rows() { return store->deployments(); }
};

TEST_F(DeploymentRowsTest, AreFoundByNameInAnyCase) {
  model::TemplateDeployment made = deployment("1", "First");
  made.definition = {{"contentVersion", "1.0.0.0"}};
  commit({Put{made}});
  reopen();

  const auto found = *rows().find("s", "GROUP", "first");

  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "First");
  EXPECT_EQ(found->definition, made.definition);
  EXPECT_FALSE(*rows().find("s", "other", "first"));
}

TEST_F(DeploymentRowsTest, OfTheSameNameReplaceEachOtherWithTheirOperations) {
  commit({Put{deployment("1", "d")}, operation("1", 1), operation("1", 2)});
  commit({Put{deployment("2", "D")}, operation("2", 1)});

  EXPECT_EQ((*rows().find("S", "Group", "d"))->id, "2");
  EXPECT_TRUE(rows().operations("1")->empty());
  EXPECT_EQ(rows().operations("2")->size(), 1u);
}

TEST_F(DeploymentRowsTest, ThatAreNotOverAreLoaded) {
  commit({Put{deployment("1", "a")}, Put{deployment("2", "b")},
          Put{deployment("3", "c", DeploymentState::Accepted)}});
  commit({Put{deployment("2", "b", DeploymentState::Failed)}});

  const auto live = store->load()->deployments;

  ASSERT_EQ(live.size(), 2u);
  EXPECT_TRUE(live.contains(model::deployment_key("S", "Group", "a")));
  EXPECT_TRUE(live.contains(model::deployment_key("S", "Group", "c")));
}

TEST_F(DeploymentRowsTest, AreListedNewestFirstAPageAtATime) {
  for (const char* id : {"1", "2", "3"}) commit({Put{deployment(id, id)}});

  const auto page =
      *rows().list({.subscription = "s", .resource_group = "group", .skip = 1, .limit = 1});

  ASSERT_EQ(page.size(), 1u);
  EXPECT_EQ(page[0].id, "2");
}

TEST_F(DeploymentRowsTest, AreDeletedWithTheirOperations) {
  commit({Put{deployment("1", "a")}, operation("1", 1)});
  commit({Erase<model::TemplateDeployment>{model::deployment_key("S", "Group", "a")}});

  EXPECT_FALSE(*rows().find("S", "Group", "a"));
  EXPECT_TRUE(rows().operations("1")->empty());
}

TEST_F(DeploymentRowsTest, HaveOperationsInOrder) {
  commit({operation("1", 10), operation("1", 9), operation("1", 10)});

  const auto operations = *rows().operations("1");

  ASSERT_EQ(operations.size(), 2u);
  EXPECT_EQ(operations[0].number, 9);
}

TEST_F(DeploymentRowsTest, GroupsAreMadeChangedAndDeleted) {
  commit({PutResourceGroup{{.subscription = "s", .name = "Lab", .location = "a"}}});
  commit({PutResourceGroup{{.subscription = "s", .name = "lab", .location = "b"}}});
  ASSERT_EQ(rows().groups()->size(), 1u);
  EXPECT_EQ(rows().groups()->front().location, "b");

  commit({DeleteResourceGroup{{.subscription = "S", .name = "LAB"}}});

  EXPECT_TRUE(rows().groups()->empty());
}

}  // namespace
}  // namespace berth::store

// SPDX-License-Identifier: Apache-2.0
// What store::Store promises of deployments beyond what it promises of every entity
// (store_contract_test.cc).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/contract/store_kind.h"

namespace berth::contract {
namespace {

using model::DeploymentState;
using store::Batch;
using store::Erase;
using store::Put;

model::TemplateDeployment deployment(const std::string& id, const std::string& name,
                                     DeploymentState state = DeploymentState::Running) {
  return {.id = id, .subscription = "S", .resource_group = "Group", .name = name, .state = state};
}
model::DeploymentKey deployment_key(const std::string& name) {
  return model::deployment_key("s", "group", name);
}
model::DeploymentOperation operation(const std::string& deployment, int number) {
  return {.deployment = deployment, .number = number};
}

template <typename Kind>
class DeploymentContract : public testing::Test {
 protected:
  store::Store& store() { return kind_.store(); }
  Status commit(Batch batch) {
    Status answer = fail(Code::Internal, "no answer");
    store().commit(std::move(batch), [&](const Status& status) { answer = status; });
    kind_.settle();
    return answer;
  }

 private:
  Kind kind_;
};

TYPED_TEST_SUITE(DeploymentContract, StoreKinds, StoreKindNames);

TYPED_TEST(DeploymentContract, ADeploymentThatIsOverIsKeptAndNotLoadedAndSoAreItsOperations) {
  ASSERT_TRUE(this->commit({Put{deployment("1", "a")}, Put{operation("1", 1)}}));
  EXPECT_EQ(this->store().load()->operations.size(), 1u);

  ASSERT_TRUE(this->commit({Put{deployment("1", "a", DeploymentState::Failed)}}));

  EXPECT_FALSE(this->store().load()->deployments.contains(deployment_key("a")));
  EXPECT_TRUE(this->store().load()->operations.empty());
  EXPECT_EQ(this->store().deployments().find("S", "GROUP", "A").value()->id, "1");
  EXPECT_EQ(this->store().deployments().operations("1")->size(), 1u);
}

TYPED_TEST(DeploymentContract, ADeploymentTakesItsOperationsAlsoWhenTheNextTakesItsName) {
  ASSERT_TRUE(this->commit({Put{deployment("1", "a")}, Put{operation("1", 1)},
                            Put{deployment("2", "b")}, Put{operation("2", 1)}}));

  ASSERT_TRUE(this->commit({Put{deployment("3", "A")}, Put{operation("3", 1)},
                            Erase<model::TemplateDeployment>{deployment_key("b")}}));

  const core::State state = this->store().load().value();
  EXPECT_EQ(state.deployments.at(deployment_key("a")).id, "3");
  EXPECT_FALSE(state.deployments.contains(deployment_key("b")));
  ASSERT_EQ(state.operations.size(), 1u);
  EXPECT_EQ(state.operations.begin()->first.deployment, "3");
  for (const char* id : {"1", "2"}) {
    EXPECT_TRUE(this->store().deployments().operations(id)->empty()) << id;
  }
}

TYPED_TEST(DeploymentContract, DeploymentsAreListedNewestFirstInPages) {
  for (const char* id : {"1", "2", "3"}) {
    ASSERT_TRUE(this->commit({Put{deployment(id, std::string("n") + id)}}));
  }
  ASSERT_TRUE(this->commit({Put{deployment("1", "n1", DeploymentState::Succeeded)}}));
  ASSERT_TRUE(this->commit({Put{model::TemplateDeployment{
      .id = "4", .subscription = "S", .resource_group = "other", .name = "n4"}}}));
  const auto listed = [&](std::size_t skip, std::size_t limit) {
    std::string ids;
    const std::vector<model::TemplateDeployment> page = *this->store().deployments().list(
        {.subscription = "s", .resource_group = "GROUP", .skip = skip, .limit = limit});
    for (const auto& each : page) ids += each.id + " ";
    return ids;
  };
  EXPECT_EQ(listed(0, 3), "3 2 1 ");
  EXPECT_EQ(listed(1, 1), "2 ");
  ASSERT_TRUE(this->commit({Put{deployment("5", "n1")}}));
  EXPECT_EQ(listed(0, 3), "5 3 2 ");
}

}  // namespace
}  // namespace berth::contract

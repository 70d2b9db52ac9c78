// SPDX-License-Identifier: Apache-2.0
#include "server/plane/deployments_desk.h"

#include "server/plane/plane_fixture.h"

namespace berth::server {
namespace {

using model::DeploymentState;

/// Writes down what it is asked for.
class FakeMaker final : public TemplateMaker {
 public:
  void carry_out(const model::DeploymentKey& deployment, const std::string&,
                 const core::MakerOrder& order) override {
    const auto* next = std::get_if<core::MakeResource>(&order);
    asked.push_back(deployment.name + (next == nullptr ? "!" : std::to_string(next->number)));
  }
  void recorded() override { ++changes; }

  Names asked;
  int changes = 0;
};

class DeploymentsDeskTest : public PlaneTest {
 protected:
  DeploymentsDeskTest() { desk().resume(maker); }
  ~DeploymentsDeskTest() override { desk().detach(maker); }

  DeploymentsDesk& desk() { return plane.deployments; }
  static model::DeploymentKey key() { return model::deployment_key("S", "G", "d"); }
  static model::TemplateDeployment draft(const std::string& id) {
    return {.id = id,
            .subscription = "S",
            .resource_group = "G",
            .name = "D",
            .fingerprint = "f" + id,
            .steps = {{{.resource = "/a", .name = "a"}, {.resource = "/b", .name = "b"}}}};
  }
  void settle(int number) {
    desk().settled(key(), core::line_of(plane.state().deployments.at(key()), number));
  }
  void end(const std::string& id) {
    desk().ended({.deployment = key(), .id = id, .state = DeploymentState::Failed});
  }

  FakeMaker maker;
};

TEST_F(DeploymentsDeskTest, NothingIsMadeBeforeWhatItRestsOnIsOnDisk) {
  ASSERT_TRUE(desk().begin(draft("1")));
  EXPECT_EQ(maker.asked, Names{});
  store.complete();
  EXPECT_EQ(maker.asked, Names{"d1"});

  settle(1);
  EXPECT_EQ(maker.asked, Names{"d1"});
  store.complete();
  EXPECT_EQ(maker.asked, (Names{"d1", "d2"}));

  settle(2);
  store.complete();
  EXPECT_EQ(maker.asked, (Names{"d1", "d2", "d!"}));
}

TEST_F(DeploymentsDeskTest, WhatALostCommitHadOrderedIsOrderedAgain) {
  ASSERT_TRUE(desk().begin(draft("1")));
  store.complete();
  settle(1);
  store.fail_all({Code::OutOfSpace, "full"});
  store.complete();
  EXPECT_EQ(maker.asked, Names{"d1"});

  plane.tick();
  store.complete();

  EXPECT_EQ(maker.asked, (Names{"d1", "d1"}));
}

TEST_F(DeploymentsDeskTest, TheNextServerGoesOnAndCountsThatItDoes) {
  ASSERT_TRUE(desk().begin(draft("1")));
  settle(1);
  store.complete();
  ControlPlane next{store, world, clock, {.settings = {.local = model::local_compute(2)}}};
  FakeMaker next_maker;
  ASSERT_TRUE(next.start());
  store.complete();
  EXPECT_EQ(next_maker.asked, Names{}) << "it has not said yet that it goes on";

  next.deployments.resume(next_maker);
  EXPECT_EQ(next_maker.asked, Names{});
  store.complete();

  EXPECT_EQ(next_maker.asked, Names{"d2"});
  EXPECT_EQ(store.all<model::TemplateDeployment>().at(key()).resumed, 1);
}

TEST_F(DeploymentsDeskTest, OneThatGoesOnIsInTheWayOfAllButTheSame) {
  ASSERT_TRUE(desk().begin(draft("1")));

  model::TemplateDeployment same = draft("2");
  same.fingerprint = "f1";
  EXPECT_EQ(desk().begin(same)->deployment.id, "1");
  EXPECT_EQ(desk().begin(draft("3")).error().code, Code::Conflict);
  EXPECT_EQ(desk().remove(key()).error().code, Code::Conflict);
}

TEST_F(DeploymentsDeskTest, OneThatIsOverIsFoundOnDiskWithItsLines) {
  ASSERT_TRUE(desk().begin(draft("1")));
  settle(1);
  ASSERT_TRUE(desk().cancel(key(), "ana"));
  store.complete();

  EXPECT_TRUE(plane.state().deployments.empty());
  const auto seen = *desk().find(key());
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->deployment.state, DeploymentState::Canceled);
  EXPECT_EQ(seen->operations.size(), 1u);
  EXPECT_EQ(desk().list({.subscription = "s", .resource_group = "g"})->seen.size(), 1u);
  EXPECT_EQ(desk().cancel(key(), "ana").error().message, "the deployment 'D' is over");
}

TEST_F(DeploymentsDeskTest, ARemovalIsSeenAtOnceAndItsNameCanBeUsedAgain) {
  ASSERT_TRUE(desk().begin(draft("1")));
  end("1");
  store.complete();

  ASSERT_TRUE(desk().remove(key()));
  EXPECT_FALSE(*desk().find(key()));
  EXPECT_TRUE(desk().list({.subscription = "s", .resource_group = "g"})->seen.empty());
  ASSERT_TRUE(desk().begin(draft("2")));
  store.complete();

  EXPECT_EQ(store.all<model::TemplateDeployment>().at(key()).id, "2");
}

TEST_F(DeploymentsDeskTest, OneWhoseEndIsNotOnDiskYetIsRemovedAllTheSame) {
  ASSERT_TRUE(desk().begin(draft("1")));
  settle(1);
  end("1");

  ASSERT_TRUE(desk().remove(key()));
  EXPECT_FALSE(*desk().find(key()));
  store.complete();

  EXPECT_TRUE(store.all<model::TemplateDeployment>().empty());
  EXPECT_TRUE(store.all<model::DeploymentOperation>().empty());
}

TEST_F(DeploymentsDeskTest, TheMakerHearsOfBeginningsAndEndsAndNotOfEveryLine) {
  ASSERT_TRUE(desk().begin(draft("1")));
  settle(1);
  store.complete();
  const int before = maker.changes;

  settle(2);
  store.complete();
  EXPECT_EQ(maker.changes, before);
  end("1");
  store.complete();

  EXPECT_EQ(maker.changes, before + 1);
}

}  // namespace
}  // namespace berth::server

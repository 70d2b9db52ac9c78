// SPDX-License-Identifier: Apache-2.0
#include "server/plane/decider.h"

#include <gtest/gtest.h>

#include "server/plane/plane_fixture.h"

namespace berth::server {
namespace {

using namespace std::chrono_literals;
using DeciderTest = PlaneTest;

TEST_F(DeciderTest, ALaunchIsNotMadeForAnAttemptThatIsNotOnDisk) {
  ASSERT_TRUE(submit("a"));
  store.complete();
  // The node comes back once more and returns what it was to run, while the disk is slow.
  ASSERT_TRUE(plane.nodes.joined({"local"}, {.slots = 2}, {}));
  store.complete();
  ASSERT_EQ(world.launched, Names{"a"});
  ASSERT_TRUE(plane.nodes.joined({"local"}, {.slots = 2}, {}));
  plane.nodes.job_returned({"local"}, {{workspace, "a"}, 1});
  ASSERT_EQ(plane.jobs.find({workspace, "a"})->attempt, 2);

  store.complete_next();
  EXPECT_EQ(world.launched, Names{"a"}) << "attempt 2 is not on disk yet";
  store.complete();
  EXPECT_EQ(world.launched, (Names{"a", "a"}));
}

TEST_F(DeciderTest, AnIdleNodeIsLetGo) {
  const model::JobKey key = running("a");
  plane.nodes.job_ended({"local"}, {key, 1}, {}, {});
  store.complete();
  plane.tick();
  clock.advance(59s);
  plane.tick();
  store.complete();
  EXPECT_EQ(world.dismissed, Names{});

  clock.advance(1s);
  plane.tick();
  store.complete();
  EXPECT_EQ(world.dismissed, Names{}) << "for a moment it can be called back";
  plane.tick();
  clock.advance(1s);
  plane.tick();
  store.complete();

  EXPECT_EQ(world.dismissed, Names{"local"});
}

TEST_F(DeciderTest, AnIdleNodeIsGoneWhenItsTimeIsOver) {
  const model::JobKey key = running("a");
  plane.tick();
  EXPECT_EQ(plane.decider.next_departure(), std::nullopt) << "it works";
  plane.nodes.job_ended({"local"}, {key, 1}, {}, {});
  store.complete();
  const TimePoint idle_since = clock.now().mono;

  for (int looks = 0; looks < 3 && world.dismissed.empty(); ++looks) {
    plane.tick();
    store.complete();
    if (!world.dismissed.empty()) break;
    ASSERT_TRUE(plane.decider.next_departure());
    clock.advance(*plane.decider.next_departure() - clock.now().mono);
  }

  EXPECT_EQ(world.dismissed, Names{"local"});
  EXPECT_EQ(clock.now().mono - idle_since, 60s);
}

TEST_F(DeciderTest, ANewJobCallsALeavingNodeBack) {
  const model::JobKey key = running("a");
  plane.nodes.job_ended({"local"}, {key, 1}, {}, {});
  clock.advance(60s);
  plane.tick();
  store.complete();
  ASSERT_EQ(plane.state().nodes.at({"local"}).status, model::NodeStatus::Leaving);

  ASSERT_TRUE(submit("b"));
  store.complete();

  EXPECT_EQ(world.launched, (Names{"a", "b"}));
  EXPECT_EQ(world.dismissed, Names{});
}

}  // namespace
}  // namespace berth::server

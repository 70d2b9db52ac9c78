// SPDX-License-Identifier: Apache-2.0
#include "server/plane/control_plane.h"

#include <gtest/gtest.h>

#include "server/plane/fake_effects.h"
#include "server/plane/plane_fixture.h"

namespace berth::server {
namespace {

using model::JobStatus;
using ControlPlaneTest = PlaneTest;

TEST_F(ControlPlaneTest, NothingLeavesBeforeTheCommit) {
  ASSERT_TRUE(submit("a"));
  bool answered = false;
  plane.ledger.when_durable([&](const Status& status) { answered = status.has_value(); });

  EXPECT_FALSE(answered);
  EXPECT_EQ(world.started, Names{});

  store.complete();

  EXPECT_TRUE(answered);
  EXPECT_EQ(world.started, Names{"local"});
}

TEST_F(ControlPlaneTest, AFailedCommitNeverHappened) {
  ASSERT_TRUE(submit("a"));
  Code answer = Code::Internal;
  plane.ledger.when_durable([&](const Status& status) { answer = status.error().code; });

  store.fail_all({Code::OutOfSpace, "disk full"});

  EXPECT_EQ(answer, Code::OutOfSpace);
  EXPECT_EQ(plane.jobs.find({workspace, "a"}).error().code, Code::NotFound);
  EXPECT_EQ(world.started, Names{});
  EXPECT_EQ(world.resynchronised, 1);
  core::check_invariants(plane.state());
}

TEST_F(ControlPlaneTest, NothingIsAcknowledgedOnTopOfAFailedCommit) {
  ASSERT_TRUE(submit("a"));
  ASSERT_TRUE(submit("b"));

  store.fail_next({Code::OutOfSpace, "disk full"});
  ASSERT_TRUE(submit("c"));
  Code answer = Code::Internal;
  plane.ledger.when_durable(
      [&](const Status& status) { answer = status ? Code::Conflict : status.error().code; });
  store.fail_all({Code::OutOfSpace, "disk full"});

  EXPECT_EQ(answer, Code::OutOfSpace);
  EXPECT_TRUE(plane.state().jobs.empty());
}

TEST_F(ControlPlaneTest, WorkGoesOnAfterAFailedCommit) {
  ASSERT_TRUE(submit("a"));
  store.fail_all({Code::OutOfSpace, "disk full"});

  ASSERT_TRUE(submit("a"));
  store.complete();
  join();

  EXPECT_EQ(world.launched, Names{"a"});
}

TEST(ControlPlaneStart, WhatAFullDiskKeptFromBeingMadeIsMadeLater) {
  SimClock clock;
  store::FakeStore store;
  NoEffects effects;
  ControlPlane plane(store, effects, clock, {});
  ASSERT_TRUE(plane.start());
  store.fail_all({Code::OutOfSpace, "disk full"});
  ASSERT_TRUE(plane.state().sites.empty());

  plane.tick();
  store.complete();
  EXPECT_TRUE(plane.state().sites.contains("local"));
  EXPECT_EQ(store.all<model::Workspace>().size(), 1u);
}

TEST_F(ControlPlaneTest, ARestartKeepsWhatIsLive) {
  running("a");

  Recorder after;
  ControlPlane restarted(store, after, clock, {.settings = {.local = model::local_compute(2)}});
  ASSERT_TRUE(restarted.start());
  store.complete();
  EXPECT_EQ(restarted.state().nodes.at({"local"}).status, model::NodeStatus::Detached);
  ASSERT_TRUE(restarted.nodes.joined({"local"}, {.slots = 2, .work_root = "/work-root"},
                                     {{{workspace, "a"}, 1}}));
  store.complete();

  EXPECT_EQ(restarted.jobs.find({workspace, "a"})->status, JobStatus::Running);
  EXPECT_EQ(after.launched, Names{"a"});
}

}  // namespace
}  // namespace berth::server

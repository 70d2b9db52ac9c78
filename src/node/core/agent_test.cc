// SPDX-License-Identifier: Apache-2.0
// The agent as a whole: its queue, its connection, its lease, and when it goes.
#include "node/core/agent.h"

#include <gtest/gtest.h>

#include "node/core/agent_fixture.h"

namespace berth::node::core {
namespace {

using namespace std::chrono_literals;
using model::Ending;
using wire::node::Ended;
using wire::node::Hello;
using wire::node::Phase;

class AgentCore : public PlayedAgent {};

class RemoteAgentCore : public PlayedAgent {
 protected:
  RemoteAgentCore() : PlayedAgent(true) {}
};

TEST_F(AgentCore, RunsAsManyAsItHasSlotsAndTheNextWhenOneEnds) {
  start();
  run("a");
  run("b");
  hear(launch_of("c"));
  EXPECT_FALSE(state.attempts.contains(ref("c")));

  exit("a");
  fire(Timer::Kind::StartWaiting);

  EXPECT_EQ(phase("c"), Phase::Running);
}

TEST_F(AgentCore, WhatIsStoppedBeforeItsTurnNeverBegins) {
  start();
  run("a");
  run("b");
  hear(launch_of("c"));

  hear(wire::node::Stop{ref("c")});
  exit("a");
  fire(Timer::Kind::StartWaiting);

  EXPECT_FALSE(state.attempts.contains(ref("c")));
  ASSERT_EQ(said<Ended>().size(), 2u);
  EXPECT_EQ(said<Ended>()[0].outcome.ending, Ending::Stopped);
}

TEST_F(AgentCore, WhatItDoesNotKnowIsLostWhenItIsToBeStopped) {
  start();

  hear(wire::node::Stop{ref("a")});

  ASSERT_EQ(said<Ended>().size(), 1u);
  EXPECT_EQ(said<Ended>()[0].outcome.ending, Ending::Lost);
}

TEST_F(AgentCore, AnotherFenceIsAnotherAttempt) {
  start();
  run("a");

  hear(wire::node::Stop{ref("a", 1, "older")});
  hear(wire::node::Forget{ref("a", 1, "older")});

  EXPECT_TRUE(did<StopSupervisor>().empty());
  EXPECT_EQ(phase("a"), Phase::Running);
  ASSERT_EQ(said<Ended>().size(), 1u);
  EXPECT_EQ(said<Ended>()[0].attempt.fence, "older");
}

TEST_F(AgentCore, SaysWhatItHoldsWithEveryConnection) {
  start();
  EXPECT_TRUE(said<Hello>().at(0).attempts.empty());
  run("a");
  run("b");
  exit("b");
  feed(Disconnected{});
  forget_all();

  feed(Connected{});

  const Hello hello = said<Hello>().at(0);
  ASSERT_EQ(hello.attempts.size(), 2u);
  EXPECT_EQ(hello.attempts[0].phase, Phase::Running);
  EXPECT_EQ(hello.attempts[1].phase, Phase::Ended);
  EXPECT_EQ(said<Ended>().size(), 1u) << "an end is told until it is forgotten";
}

TEST_F(AgentCore, WhatWaitsForItsTurnIsDroppedWithTheConnection) {
  start();
  run("a");
  run("b");
  hear(launch_of("c"));

  feed(Disconnected{});
  exit("a");
  fire(Timer::Kind::StartWaiting);

  EXPECT_FALSE(state.attempts.contains(ref("c")));
}

TEST_F(AgentCore, WantsMoreAtHandAfterARowOfShortOnesAndReturnsThemWhenTheRowEnds) {
  start();
  for (int i = 0; i < 8; ++i) {
    const std::string job = "short" + std::to_string(i);
    run(job);
    pass(5ms);
    exit(job);
  }
  ASSERT_EQ(said<wire::node::WorkAhead>().size(), 1u);
  EXPECT_EQ(said<wire::node::WorkAhead>()[0].attempts, 4);
  run("a");
  run("b");
  hear(launch_of("c"));

  pass(kShortAttempt + 1ms);
  fire(Timer::Kind::Pace);

  EXPECT_EQ(said<wire::node::WorkAhead>().back().attempts, 0);
  ASSERT_EQ(said<wire::node::Returned>().size(), 1u);
  EXPECT_EQ(said<wire::node::Returned>()[0].attempt, ref("c"));
}

// ---- Lease

TEST_F(RemoteAgentCore, ALeaseIsWrittenDownBeforeItIsRenewed) {
  start();
  hear(wire::node::Welcome{.lease = 30s});

  ASSERT_EQ(did<WriteLease>().size(), 1u);
  EXPECT_TRUE(did<WriteLease>()[0].is_first);
  EXPECT_EQ(did<WriteLease>()[0].deadline, moment.since_boot + 30s);
  EXPECT_EQ(said<wire::node::Heartbeat>().size(), 1u);
}

TEST_F(RemoteAgentCore, WithoutAFileForTheLeaseItEndsAndRenewsNothing) {
  lease_trouble = "no such directory";
  start();

  hear(wire::node::Welcome{.lease = 30s});
  hear(launch_of("a"));

  EXPECT_EQ(did<End>().size(), 1u);
  EXPECT_TRUE(said<wire::node::Heartbeat>().empty());
  EXPECT_TRUE(did<LayOut>().empty()) << "after its end it does nothing";
}

TEST_F(RemoteAgentCore, ALeaseThatCameUnaskedIsConfirmedOnceSupervisorsCanReadIt) {
  start();
  hear(wire::node::Welcome{.lease = 30s});
  writes_lease = false;
  hear(wire::node::LeaseRenewed{.lease = 1h});
  EXPECT_TRUE(said<wire::node::LeaseNoted>().empty());

  writes_lease = true;
  hear(wire::node::LeaseRenewed{.lease = 1h});

  EXPECT_EQ(said<wire::node::LeaseNoted>().size(), 1u);
}

TEST_F(RemoteAgentCore, WhenTheLeaseLapsesWhatHasNotBegunIsLostAndTheServerIsAskedAnew) {
  start();
  hear(wire::node::Welcome{.lease = 30s});
  run("a");
  wire::node::Launch fetching = launch_of("b");
  fetching.fetches.push_back({.url = "http://x"});
  hear(fetching);
  ASSERT_EQ(phase("b"), Phase::Preparing);

  pass(31s);
  fire(Timer::Kind::House);
  fire(Timer::Kind::House);

  EXPECT_EQ(did<Redial>().size(), 1u);
  EXPECT_EQ(phase("a"), Phase::Running) << "its supervisor keeps the lease";
  EXPECT_EQ(state.attempts.at(ref("b")).outcome.message, kLeaseLapsed);
}

TEST_F(RemoteAgentCore, AMessageThatWaitedWhileItWasSuspendedComesAfterTheLapse) {
  start();
  hear(wire::node::Welcome{.lease = 30s});
  wire::node::Launch waiting = launch_of("a");
  waiting.waits_for_go = true;
  hear(waiting);

  pass(31s);
  hear(wire::node::Go{.attempt = ref("a")});

  EXPECT_TRUE(did<StartSupervisor>().empty());
  EXPECT_EQ(state.attempts.at(ref("a")).outcome.ending, Ending::Lost);
}

// ---- When it goes

TEST_F(AgentCore, LeavesOnceNothingIsLeft) {
  start();
  run("a");
  hear(wire::node::Leave{});
  EXPECT_TRUE(did<End>().empty());
  exit("a");
  hear(wire::node::Forget{ref("a")});
  EXPECT_TRUE(did<End>().empty());

  feed(Removed{ref("a")});

  ASSERT_EQ(did<End>().size(), 1u);
  EXPECT_EQ(did<End>()[0].reason, "told to leave");
}

TEST_F(AgentCore, EndsWhenItHasHadNoServerAndNoWorkForAMinute) {
  start();
  feed(Disconnected{});
  pass(59s);
  fire(Timer::Kind::House);
  EXPECT_TRUE(did<End>().empty());

  pass(1s);
  fire(Timer::Kind::House);

  EXPECT_EQ(did<End>().size(), 1u);
}

TEST_F(AgentCore, WhileItsWorkRunsItWaitsForItsServerForEver) {
  start();
  run("a");
  feed(Disconnected{});
  pass(1000h);
  fire(Timer::Kind::House);

  EXPECT_TRUE(did<End>().empty());
}

TEST_F(AgentCore, WhatHasEndedIsLeftToTheNextAgentWhenNoServerAsksForIt) {
  start();
  run("a");
  feed(Disconnected{});
  pass(2min);
  exit("a");
  ASSERT_FALSE(state.attempts.empty());
  EXPECT_TRUE(did<End>().empty());

  fire(Timer::Kind::House);

  EXPECT_EQ(did<End>().size(), 1u);
}

TEST_F(AgentCore, WhatWaitsForAServerToBeginIsLeftToTheNextAgent) {
  start();
  answers_runtime = false;
  hear(launch_of("a"));
  ASSERT_EQ(phase("a"), Phase::Preparing);
  feed(Disconnected{});
  pass(2min);
  fire(Timer::Kind::House);
  EXPECT_TRUE(did<End>().empty()) << "its runtime is being made, which needs no server";

  state.attempts.at(ref("a")).is_making_runtime = false;
  fire(Timer::Kind::House);

  EXPECT_EQ(did<End>().size(), 1u);
}

TEST_F(AgentCore, ItsWorkDoesNotOutliveItsDirectory) {
  start();
  run("a");
  has_work_root = false;

  fire(Timer::Kind::House);

  EXPECT_EQ(did<StopSupervisor>().size(), 1u);
  EXPECT_EQ(did<End>().size(), 1u);
}

TEST_F(AgentCore, ASignalOnTheServersOwnMachineEndsTheAgentAndNotItsWork) {
  start();
  run("a");

  feed(ToldToEnd{});

  EXPECT_EQ(did<End>().size(), 1u);
  EXPECT_TRUE(did<StopSupervisor>().empty());
}

TEST_F(RemoteAgentCore, ANodeThatIsTakenBackSaysSoFirstAndStopsItsWork) {
  start();
  run("a");
  run("b");
  hear(launch_of("c"));
  forget_all();

  feed(ToldToEnd{});
  feed(ToldToEnd{});

  const auto* first = std::get_if<Send>(&done.at(0));
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(std::holds_alternative<wire::node::Leaving>(first->message));
  EXPECT_EQ(said<wire::node::Leaving>().size(), 1u);
  EXPECT_EQ(said<wire::node::Returned>().size(), 1u);
  EXPECT_EQ(did<StopSupervisor>().size(), 2u);

  exit("a", {.ending = Ending::Stopped});
  exit("b");
  EXPECT_EQ(state.attempts.at(ref("a")).outcome.ending, Ending::Lost);
  EXPECT_EQ(state.attempts.at(ref("b")).outcome.ending, Ending::Exited) << "it was done";

  hear(launch_of("d"));
  EXPECT_EQ(said<Ended>().back().attempt, ref("d"));
  EXPECT_EQ(said<Ended>().back().outcome.ending, Ending::Lost);
  EXPECT_FALSE(state.attempts.contains(ref("d")));
}

TEST_F(RemoteAgentCore, ANodeThatIsTakenBackSaysSoToTheNextServerToo) {
  start();
  run("a");
  feed(ToldToEnd{});
  feed(Disconnected{});
  forget_all();

  feed(Connected{});

  EXPECT_TRUE(said<Hello>().at(0).is_leaving);
}

TEST_F(RemoteAgentCore, ResultsThatNoServerWillTakeDoNotKeepIt) {
  start();
  hear(wire::node::Welcome{.lease = 30s});
  run("a");
  feed(Disconnected{});
  pass(2min);
  fire(Timer::Kind::House);
  EXPECT_TRUE(did<End>().empty()) << "it runs until its supervisor says otherwise";

  exit("a", {.ending = Ending::Lost});
  fire(Timer::Kind::House);

  EXPECT_EQ(did<End>().size(), 1u);
}

}  // namespace
}  // namespace berth::node::core

// SPDX-License-Identifier: Apache-2.0
// One attempt, from its Launch to its Forget.
#include <gtest/gtest.h>

#include <csignal>

#include "node/core/agent_fixture.h"

namespace berth::node::core {
namespace {

using namespace std::chrono_literals;
using model::Ending;
using wire::node::Advanced;
using wire::node::Ended;
using wire::node::Launch;
using wire::node::Phase;
using wire::node::Prepared;

class AttemptCore : public PlayedAgent {
 protected:
  Launch with_fetches(const std::string& job) {
    Launch launch = launch_of(job);
    launch.fetches.push_back({.url = "http://x/1"});
    return launch;
  }
  Launch of_a_gang(const std::string& job) {
    Launch launch = launch_of(job);
    launch.waits_for_go = true;
    launch.processes.resize(3);
    return launch;
  }
  const AttemptState& attempt(const std::string& job) { return state.attempts.at(ref(job)); }
};

class RemoteAttemptCore : public AttemptCore {
 protected:
  RemoteAttemptCore() { state.settings.is_remote = true; }
};

TEST_F(AttemptCore, IsLaidOutFetchedRunAndSentBackInThisOrder) {
  start();
  hear(with_fetches("a"));
  EXPECT_EQ(did<LayOut>().size(), 1u);
  EXPECT_TRUE(did<StartSupervisor>().empty());
  feed(Fetched{.attempt = ref("a")});
  EXPECT_EQ(phase("a"), Phase::Running);
  exit("a");

  ASSERT_EQ(said<Ended>().size(), 1u);
  EXPECT_EQ(said<Ended>()[0].outcome.ending, Ending::Exited);
  EXPECT_EQ(said<Ended>()[0].since_start, 0ms);
  EXPECT_EQ(phase("a"), Phase::Ended);
}

TEST_F(AttemptCore, ALaunchThatIsRepeatedStartsNothingNew) {
  start();
  run("a");
  hear(launch_of("a"));
  exit("a");
  hear(launch_of("a"));

  EXPECT_EQ(did<LayOut>().size(), 1u);
  EXPECT_EQ(did<StartSupervisor>().size(), 1u);
}

TEST_F(AttemptCore, TheServerHearsOfAPhaseThatLasts) {
  start();
  run("a");
  fire(Timer::Kind::Say, ref("a"));
  ASSERT_EQ(said<Advanced>().size(), 1u);
  EXPECT_EQ(said<Advanced>()[0].phase, Phase::Running);

  exit("a");
  fire(Timer::Kind::Say, ref("a"));

  EXPECT_EQ(said<Advanced>().size(), 1u) << "its end says it all";
}

TEST_F(AttemptCore, WhatCannotBeFetchedIsItsEnd) {
  start();
  hear(with_fetches("a"));

  feed(Fetched{ref("a"), "code: not found"});

  ASSERT_EQ(said<Ended>().size(), 1u);
  EXPECT_EQ(said<Ended>()[0].outcome.ending, Ending::NotStarted);
  EXPECT_EQ(said<Ended>()[0].outcome.message, "code: not found");
}

TEST_F(AttemptCore, StoppedWhileItFetchesItNeverRuns) {
  start();
  hear(with_fetches("a"));

  hear(wire::node::Stop{ref("a")});
  feed(Fetched{.attempt = ref("a")});

  EXPECT_EQ(did<AbortFetch>().size(), 1u);
  EXPECT_TRUE(did<StartSupervisor>().empty());
  ASSERT_EQ(said<Ended>().size(), 1u);
  EXPECT_EQ(said<Ended>()[0].outcome.ending, Ending::Stopped);
}

TEST_F(AttemptCore, ItsRuntimeIsPreparedWhenItsFilesAreThere) {
  start();
  hear(with_fetches("a"));
  EXPECT_TRUE(did<PrepareRuntime>().empty());

  feed(Fetched{.attempt = ref("a")});

  EXPECT_EQ(did<PrepareRuntime>().size(), 1u);
  EXPECT_EQ(did<StartSupervisor>().size(), 1u);
}

TEST_F(AttemptCore, ARuntimeThatCannotBeHadIsItsEnd) {
  answers_runtime = false;
  start();
  hear(launch_of("a"));

  feed(RuntimePrepared{ref("a"), "no such image"});

  ASSERT_EQ(said<Ended>().size(), 1u);
  EXPECT_EQ(said<Ended>()[0].outcome.ending, Ending::NotStarted);
  EXPECT_EQ(said<Ended>()[0].outcome.message, "no such image");
  EXPECT_TRUE(did<CancelRuntime>().empty());
}

TEST_F(AttemptCore, StoppedWhileItsRuntimeIsMadeItNeverRuns) {
  answers_runtime = false;
  start();
  hear(launch_of("a"));

  hear(wire::node::Stop{ref("a")});
  feed(RuntimePrepared{.attempt = ref("a")});

  EXPECT_EQ(did<CancelRuntime>().size(), 1u);
  EXPECT_TRUE(did<StartSupervisor>().empty());
  ASSERT_EQ(said<Ended>().size(), 1u);
  EXPECT_EQ(said<Ended>()[0].outcome.ending, Ending::Stopped);
}

TEST_F(AttemptCore, ItsRuntimeIsMadeOnceThoughTheConnectionIsLostMeanwhile) {
  answers_runtime = false;
  start();
  hear(launch_of("a"));

  feed(Disconnected{});
  feed(Connected{});
  hear(launch_of("a"));
  feed(RuntimePrepared{.attempt = ref("a")});

  EXPECT_EQ(did<PrepareRuntime>().size(), 1u);
  EXPECT_EQ(did<StartSupervisor>().size(), 1u);
}

TEST_F(AttemptCore, StoppedAfterItsEndNothingChanges) {
  start();
  run("a");
  exit("a");
  forget_all();

  hear(wire::node::Stop{ref("a")});

  EXPECT_TRUE(done.empty());
  EXPECT_EQ(attempt("a").outcome.ending, Ending::Exited);
}

TEST_F(AttemptCore, IsForgottenOnce) {
  start();
  run("a");
  exit("a");

  hear(wire::node::Forget{ref("a")});
  hear(wire::node::Forget{ref("a")});
  ASSERT_EQ(did<Remove>().size(), 1u);
  EXPECT_TRUE(did<Remove>()[0].may_be_reused) << "it was short";
  feed(Removed{ref("a")});
  fire(Timer::Kind::Look, ref("a"));

  EXPECT_TRUE(state.attempts.empty());
}

TEST_F(AttemptCore, ForgottenWhileItRunsItIsStoppedAndNeverReported) {
  start();
  run("a");

  hear(wire::node::Forget{ref("a")});
  EXPECT_EQ(did<StopSupervisor>().size(), 1u);
  exit("a", {.ending = Ending::Stopped});

  EXPECT_TRUE(said<Ended>().empty());
  EXPECT_TRUE(did<Deliver>().empty());
  EXPECT_EQ(did<Remove>().size(), 1u);
}

TEST_F(AttemptCore, StoppedByAServerThatDidNotAskForItNothingIsSentBack) {
  start();
  run("a");
  feed(Disconnected{});
  feed(Connected{});

  hear(wire::node::Stop{ref("a")});
  exit("a", {.ending = Ending::Stopped});

  EXPECT_TRUE(did<Deliver>().empty());
  EXPECT_EQ(said<Ended>().size(), 1u);
}

TEST_F(AttemptCore, GoesOnWithFreshAddressesAfterAPause) {
  start();
  hear(with_fetches("a"));
  feed(Disconnected{});
  EXPECT_EQ(did<Hold>().size(), 1u);
  feed(Connected{});
  forget_all();

  Launch again = with_fetches("a");
  again.fetches[0].url = "http://x/2";
  hear(again);

  EXPECT_EQ(attempt("a").launch.fetches[0].url, "http://x/2");
  EXPECT_EQ(did<NoteLaunch>().size(), 1u);
  EXPECT_EQ(did<Resume>().size(), 1u);
  EXPECT_TRUE(did<Fetch>().empty());
}

TEST_F(AttemptCore, RefusedAddressesAreAskedForAndAnOlderServerIsDialledAnew) {
  start();
  hear(with_fetches("a"));
  feed(AddressesRefused{ref("a")});
  EXPECT_EQ(said<wire::node::Renew>().size(), 1u);
  hear(with_fetches("a"));
  fire(Timer::Kind::Renew, ref("a"));
  EXPECT_TRUE(did<Redial>().empty()) << "they came";

  feed(AddressesRefused{ref("a")});
  fire(Timer::Kind::Renew, ref("a"));

  EXPECT_EQ(did<Redial>().size(), 1u);
}

TEST_F(AttemptCore, ASecretThatIsNotKnownAnyMoreKeepsItFromRunning) {
  Launch launch = launch_of("a");
  launch.secrets["TOKEN"] = "";
  start();
  hear(launch);

  EXPECT_TRUE(did<StartSupervisor>().empty());
  EXPECT_EQ(said<Ended>().at(0).outcome.ending, Ending::NotStarted);
}

// ---- Gangs

TEST_F(AttemptCore, OfAGangRunsOnceItsPeersAreReady) {
  start();
  hear(of_a_gang("a"));
  ASSERT_EQ(did<HoldPorts>().size(), 1u);
  EXPECT_EQ(did<HoldPorts>()[0].count, 3);
  ASSERT_EQ(said<Prepared>().size(), 1u);
  EXPECT_EQ(said<Prepared>()[0].port, 4000);
  EXPECT_TRUE(did<StartSupervisor>().empty());

  const wire::node::Go go{ref("a"), {{"MASTER_PORT", "4000"}}, {{{"RANK", "0"}}}};
  hear(go);
  hear(go);

  EXPECT_EQ(did<ReleasePorts>().size(), 1u);
  EXPECT_EQ(did<StartSupervisor>().size(), 1u);
  EXPECT_EQ(attempt("a").launch.environment.at("MASTER_PORT"), "4000");
  EXPECT_EQ(attempt("a").launch.processes[0].environment.at("RANK"), "0");
}

TEST_F(AttemptCore, OfAGangSaysThatItIsPreparedWithEveryConnection) {
  start();
  hear(of_a_gang("a"));
  feed(Disconnected{});
  forget_all();

  feed(Connected{});

  EXPECT_EQ(said<Prepared>().size(), 1u);
}

TEST_F(AttemptCore, AGoThatComesWhileItFetchesAgainIsNotForgotten) {
  Launch launch = of_a_gang("a");
  launch.fetches.push_back({.url = "http://x/1"});
  feed(Found{.launch = launch, .port = 4711});
  start();
  hear(launch);

  hear(wire::node::Go{.attempt = ref("a")});
  EXPECT_TRUE(did<StartSupervisor>().empty());
  feed(Fetched{.attempt = ref("a")});

  EXPECT_EQ(did<StartSupervisor>().size(), 1u);
}

// ---- What an earlier agent left

TEST_F(AttemptCore, OneThatWasFoundAndHadNotBegunWaitsForTheServersWord) {
  feed(Found{.launch = launch_of("a")});
  start();
  EXPECT_TRUE(did<StartSupervisor>().empty());

  hear(launch_of("a"));

  EXPECT_EQ(did<StartSupervisor>().size(), 1u);
  EXPECT_TRUE(did<LayOut>().empty());
}

TEST_F(AttemptCore, OneThatWasFoundAtWorkIsWatched) {
  feed(Found{.launch = launch_of("a"), .has_supervisor = true});
  start();

  EXPECT_EQ(did<WatchSupervisor>().size(), 1u);
  EXPECT_EQ(phase("a"), Phase::Running);
}

TEST_F(AttemptCore, OneFromBeforeTheMachineWasRestartedIsLost) {
  feed(Found{.launch = launch_of("a"), .is_of_this_boot = false, .has_supervisor = true});

  EXPECT_EQ(attempt("a").outcome.ending, Ending::Lost);
  EXPECT_TRUE(did<WatchSupervisor>().empty());
}

TEST_F(AttemptCore, AnEndThatWasSentBackByAnEarlierAgentIsOnlyTold) {
  feed(Found{.launch = launch_of("a"), .has_supervisor = true});
  start();

  feed(SupervisorEnded{.attempt = ref("a"), .exit = Exit{.is_delivered = true}});

  EXPECT_TRUE(did<Deliver>().empty());
  EXPECT_EQ(said<Ended>().size(), 1u);
}

// ---- Supervisors that die

TEST_F(AttemptCore, ASupervisorThatWasKilledAtWorkIsCleanedUpAfterAndItsWorkIsLost) {
  start();
  run("a");

  feed(SupervisorEnded{.attempt = ref("a"), .is_ours = true, .was_begun = true});
  EXPECT_EQ(did<CleanUp>().size(), 1u);
  EXPECT_TRUE(said<Ended>().empty());
  feed(CleanedUp{ref("a")});

  EXPECT_EQ(said<Ended>().at(0).outcome.ending, Ending::Lost);
  EXPECT_EQ(did<WriteExit>().size(), 1u);
}

TEST_F(AttemptCore, ASupervisorThatWasKilledBeforeItBeganIsStartedAgainAFewTimes) {
  start();
  run("a");
  for (int i = 0; i < 3; ++i) feed(SupervisorEnded{.attempt = ref("a"), .is_ours = true});

  EXPECT_EQ(did<StartSupervisor>().size(), 3u);
  EXPECT_EQ(did<CleanUp>().size(), 1u);
}

TEST_F(AttemptCore, WhatHadNotBegunWhenTheServerWasAwayIsPreparedAnewOnItsWord) {
  start();
  hear(with_fetches("a"));
  feed(Fetched{.attempt = ref("a")});
  feed(Disconnected{});
  feed(SupervisorEnded{.attempt = ref("a"), .is_ours = true});
  EXPECT_EQ(did<StartSupervisor>().size(), 1u);
  EXPECT_EQ(phase("a"), Phase::Preparing);

  feed(Connected{});
  hear(with_fetches("a"));
  EXPECT_EQ(did<Fetch>().size(), 2u);
  feed(Fetched{.attempt = ref("a")});

  EXPECT_EQ(did<StartSupervisor>().size(), 2u);
}

TEST_F(AttemptCore, OnAFullDiskWhatHadNotBegunDoesNot) {
  start();
  run("a");

  feed(SupervisorEnded{.attempt = ref("a"), .is_ours = true, .full_disk = "the disk"});

  EXPECT_EQ(said<Ended>().at(0).outcome.ending, Ending::NotStarted);
  EXPECT_EQ(said<Ended>().at(0).outcome.message, "the disk is full");
}

TEST_F(AttemptCore, AnAgentThatCanStartNoSupervisorMakesRoomForAnother) {
  answers_starts = false;
  start();
  hear(launch_of("a"));

  feed(SupervisorFailed{.attempt = ref("a"), .error = "gone", .needs_new_agent = true});

  EXPECT_EQ(did<End>().size(), 1u);
  EXPECT_TRUE(said<Ended>().empty()) << "the next agent starts it";
}

TEST_F(RemoteAttemptCore, WhatDiesOfSigtermMayHaveDiedOfItsSite) {
  start();
  run("a");
  run("b");
  for (const char* job : {"a", "b"}) exit(job, {.ending = Ending::Signaled, .signal = SIGTERM});
  EXPECT_EQ(phase("a"), Phase::Running);
  fire(Timer::Kind::HeldBack, ref("a"));
  EXPECT_EQ(attempt("a").outcome.ending, Ending::Signaled) << "no word came from the site";

  feed(ToldToEnd{});
  fire(Timer::Kind::HeldBack, ref("b"));

  EXPECT_EQ(attempt("b").outcome.ending, Ending::Lost);
}

// ---- What is sent back

TEST_F(AttemptCore, WhatCannotBeDeliveredIsTold) {
  answers_delivery = false;
  start();
  run("a");
  exit("a");
  EXPECT_TRUE(said<Ended>().empty());

  feed(Delivered{ref("a"), {"output 'x': too large"}, {"a note"}});

  EXPECT_EQ(said<Ended>().at(0).delivery_errors.size(), 1u);
  EXPECT_EQ(said<Ended>().at(0).outcome.notes.size(), 1u);
}

TEST_F(AttemptCore, WhatWasStoppedDoesNotWaitLongForOutputsThatDoNotMove) {
  answers_delivery = false;
  start();
  run("a");
  exit("a");
  hear(wire::node::Stop{ref("a")});
  pass(2s);
  fire(Timer::Kind::Look, ref("a"));
  EXPECT_TRUE(did<GiveUpSending>().empty());

  pass(1s);
  fire(Timer::Kind::Look, ref("a"));

  ASSERT_EQ(said<Ended>().size(), 1u);
  EXPECT_EQ(said<Ended>()[0].outcome.ending, Ending::Stopped);
  EXPECT_EQ(said<Ended>()[0].outcome.message, "some of its outputs could not be kept");
  EXPECT_EQ(did<FreeResults>().size(), 1u);
}

TEST_F(AttemptCore, WhatIsNotStoppedWaitsForItsServer) {
  answers_delivery = false;
  start();
  run("a");
  exit("a");

  for (int i = 0; i < 100; ++i) {
    pass(1min);
    fire(Timer::Kind::Look, ref("a"));
  }

  EXPECT_TRUE(did<GiveUpSending>().empty());
  EXPECT_EQ(phase("a"), Phase::Finalizing);
}

TEST_F(AttemptCore, WhatKeepsItsDiskFullGivesWayToTheServer) {
  answers_delivery = false;
  sending.lacks_room = true;
  start();
  run("a");
  exit("a");
  pass(9s);
  fire(Timer::Kind::Look, ref("a"));
  EXPECT_EQ(did<FreeScratch>().size(), 1u);
  EXPECT_TRUE(did<GiveUpSending>().empty());

  pass(1s);
  fire(Timer::Kind::Look, ref("a"));
  EXPECT_EQ(did<MeasureRoom>().size(), 1u);
  feed(RoomMeasured{ref("a"), true});

  EXPECT_EQ(said<Ended>().at(0).outcome.disk_full, "the disk of the server");
}

TEST_F(AttemptCore, AnEndIsSentOnlyWhenBothLogAndOutputsAreWithTheServer) {
  answers_delivery = false;
  start();
  run("a");
  exit("a");
  EXPECT_TRUE(attempt("a").is_log_stored);
  EXPECT_EQ(phase("a"), Phase::Finalizing);

  feed(Delivered{.attempt = ref("a")});

  EXPECT_EQ(phase("a"), Phase::Ended);
}

}  // namespace
}  // namespace berth::node::core

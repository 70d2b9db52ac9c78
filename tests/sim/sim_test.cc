// SPDX-License-Identifier: Apache-2.0
// Whether the simulator can be trusted, and histories that are worth telling one by one.
#include <gtest/gtest.h>

#include "base/log.h"
#include "sim/world.h"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;

class SimTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { log::to_file("/dev/null", log::Level::Error); }

  /// What the first of so many seeds that goes wrong says.
  std::string first_verdict(Bug bug, const Faults& faults) {
    const std::uint64_t seeds = bug == Bug::None ? 100 : 4000;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      World world(seed, outside, bug);
      if (const auto verdict = world.live(faults)) return *verdict;
    }
    return "nothing";
  }

  Outside outside;
};

TEST_F(SimTest, TheSameSeedIsTheSameWorld) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    World first(seed, outside);
    World second(seed, outside);
    EXPECT_EQ(first.live(), second.live());
    EXPECT_EQ(first.events(), second.events());
    EXPECT_EQ(first.journal(), second.journal()) << seed;
  }
}

TEST_F(SimTest, FindsAServerThatActsBeforeTheCommit) {
  const Faults faults{.server_crashes = true, .disk_fails = true};
  EXPECT_NE(first_verdict(Bug::ActsBeforeTheCommit, faults), "nothing");
  EXPECT_EQ(first_verdict(Bug::None, faults), "nothing");
}

TEST_F(SimTest, FindsAServerThatDoesNotWaitForLeases) {
  const Faults faults{.connections_break = true, .partitions = true};
  EXPECT_NE(first_verdict(Bug::IgnoresLeases, faults), "nothing");
  EXPECT_EQ(first_verdict(Bug::None, faults), "nothing");
}

/// A node that has nothing left to remove is gone before it can be given work twice.
TEST_F(SimTest, FindsAServerThatGivesWorkToANodeThatLeaves) {
  const Faults faults{.site_takes_back = true, .removal_is_slow = true};
  EXPECT_NE(first_verdict(Bug::IgnoresLeaving, faults), "nothing");
  EXPECT_EQ(first_verdict(Bug::None, faults), "nothing");
}

TEST_F(SimTest, FindsAServerThatTakesReportsOfOldAttempts) {
  const Faults faults{.connections_break = true, .partitions = true, .supervisors_die = true};
  EXPECT_NE(first_verdict(Bug::TakesOldReports, faults), "nothing");
  EXPECT_EQ(first_verdict(Bug::None, faults), "nothing");
}

TEST_F(SimTest, FindsAServerThatTakesASilentEngineForAnEmptyOne) {
  const Faults faults{.provider_fails = 30};
  EXPECT_NE(first_verdict(Bug::TakesSilenceForLoss, faults), "nothing");
  EXPECT_EQ(first_verdict(Bug::None, faults), "nothing");
}

TEST_F(SimTest, FindsAServerThatTellsOfAResourceBeforeItIsMade) {
  const Faults faults{.server_crashes = true};
  EXPECT_NE(first_verdict(Bug::TellsBeforeItMakes, faults), "nothing");
  EXPECT_EQ(first_verdict(Bug::None, faults), "nothing");
}

/// F24. Calls that fail, that act and then fail, and that lie: not one machine is left over, and
/// every job comes to its end.
TEST_F(SimTest, TenThousandFaultedCallsToProvidersLeaveNoNodeBehind) {
  std::uint64_t faulted = 0;
  for (std::uint64_t seed = 1; faulted < 10'000; ++seed) {
    World world(seed, outside);
    const auto verdict = world.live({.provider_fails = 20,
                                     .provider_fails_late = 40,
                                     .provider_lies = 20,
                                     .provider_is_slow = 10,
                                     .boots_fail = 10});
    ASSERT_FALSE(verdict) << "seed " << seed << ": " << *verdict << "\n" << world.journal();
    faulted += world.stage().faulted_calls;
  }
}

/// F30. Attempts and nodes of a future that is no more are fenced, ended and cleared away.
TEST_F(SimTest, ARestoredBackupIsReconciledWithAWorldThatHasGoneOn) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    World world(seed, outside);
    const auto verdict = world.live({.agents_die = true, .backup_restored = true});
    ASSERT_FALSE(verdict) << "seed " << seed << ": " << *verdict << "\n" << world.journal();
  }
}

/// Away for longer than a lease, in good order: nothing is run anew, though the clock has jumped.
TEST_F(SimTest, AServerThatIsStoppedInGoodOrderFindsTheWorkOfItsNodesUntouched) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    World world(seed, outside);
    world.pass(1s);
    world.users().submit(world.users().draft("a", "ded", 1, {.runs = 3min}));
    ASSERT_TRUE(world.pass_until([&] { return world.stage().judge.anything_runs(); }, 60s));
    world.stop_server();
    ASSERT_TRUE(world.pass_until([&] { return world.server() == nullptr; }, 10s));
    world.stage().wall_offset += 48h;
    world.pass(60s);
    world.start_server();
    world.find_peace();
    ASSERT_FALSE(world.stage().judge.verdict()) << *world.stage().judge.verdict() << "\n"
                                                << world.journal();
    const model::Job& job = world.stage().judge.jobs().at({{"w"}, "a"});
    EXPECT_EQ(job.status, model::JobStatus::Completed);
    EXPECT_EQ(job.attempt, 1) << "seed " << seed << "\n" << world.journal();
  }
}

/// Cut off when its server says good-bye for a while, and a clock that jumps before the next one
/// starts: the node may still be at work, whatever the wall clock says.
TEST_F(SimTest, AGoodByeIsWaitedForThoughTheClockJumps) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    World world(seed, outside);
    world.pass(1s);
    world.users().submit(world.users().draft("a", "ded", 1, {.runs = 2min}));
    ASSERT_TRUE(world.pass_until([&] { return world.stage().judge.anything_runs(); }, 60s));
    world.stop_server();
    ASSERT_TRUE(world.pass_until([&] { return world.server() == nullptr; }, 10s));
    for (Machine* machine : world.cloud().machines()) {
      world.network().cut(machine->spec().id, 100s);
    }
    world.stage().wall_offset += 48h;
    world.start_server();
    world.pass(60s);
    world.find_peace();
    ASSERT_FALSE(world.stage().judge.verdict()) << *world.stage().judge.verdict() << "\n"
                                                << world.journal();
  }
}

/// The first of its servers dies before the first line, the others each behind another one.
TEST_F(SimTest, ADeploymentGoesOnWhereItsServersWereKilled) {
  constexpr int kResources = 6;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    World world(seed, outside);
    world.pass(1s);
    world.users().deploy(world.users().deployment("tpl", kResources));
    const DeploymentJudge& judge = world.stage().judge.deployments();
    ASSERT_TRUE(world.pass_until([&] { return !judge.on_disk().empty(); }, 10s));
    for (std::size_t lines = 1; lines < kResources; ++lines) {
      world.crash_server();
      world.start_server();
      const std::string id = judge.on_disk().begin()->second.id;
      ASSERT_TRUE(world.pass_until([&] { return judge.lines_of(id) >= lines; }, 60s));
    }
    world.find_peace();
    ASSERT_FALSE(world.stage().judge.verdict()) << *world.stage().judge.verdict() << "\n"
                                                << world.journal();
    const model::TemplateDeployment& over = judge.on_disk().begin()->second;
    EXPECT_EQ(over.state, model::DeploymentState::Succeeded) << over.error << world.journal();
    EXPECT_EQ(judge.lines_of(over.id), std::size_t{kResources});
    for (const auto& step : *over.steps) EXPECT_TRUE(judge.has_compute(step.name)) << step.name;
  }
}

/// Runs on node 'far' in attempt 1 under a name that the restored server gives to another job,
/// whose attempt is also the first.
TEST_F(SimTest, AnAttemptOfALostFutureIsNotTakenForANewJobOfThatName) {
  World world(1, outside);
  world.pass(1s);
  world.back_up();
  world.users().submit(world.users().draft("a", "ded", 1, {.runs = 5s}));
  ASSERT_TRUE(world.pass_until([&] { return world.stage().judge.anything_runs(); }, 60s));
  world.restore();
  world.start_server();
  world.users().submit(world.users().draft("a", "ded", 1, {.runs = 20s, .exit_code = 3}));
  world.find_peace();
  ASSERT_FALSE(world.stage().judge.verdict()) << *world.stage().judge.verdict();
  const model::Job& job = world.stage().judge.jobs().at({{"w"}, "a"});
  EXPECT_EQ(job.outcome->exit_code, 3);
}

/// A node that never heard Forget still has the first attempt of a job that was deleted, and
/// reports it when it comes back, while another job of that name is in its own first attempt.
TEST_F(SimTest, AReportForADeletedJobIsNotTakenForItsSuccessors) {
  World world(1, outside);
  world.users().submit(world.users().draft("a", "local", 1, {.runs = 50ms}));
  const model::JobKey key{{"w"}, "a"};
  const auto is_over = [&] {
    const auto job = world.stage().judge.jobs().find(key);
    return job != world.stage().judge.jobs().end() && model::is_terminal(job->second.status);
  };
  ASSERT_TRUE(world.pass_until(is_over, 60s));
  for (Machine* machine : world.cloud().machines()) machine->kill_agent();  // Before the Forget.
  world.stage().judge.delete_asked(key);
  // Refused until the server knows, too, that the end is on disk.
  const auto is_deleted = [&] { return world.server()->plane().jobs.remove(key).has_value(); };
  ASSERT_TRUE(world.pass_until(is_deleted, 10s));
  world.pass(100ms);
  world.users().submit(world.users().draft("a", "local", 1, {.runs = 2s, .exit_code = 4}));
  world.find_peace();
  ASSERT_FALSE(world.stage().judge.verdict()) << *world.stage().judge.verdict() << "\n"
                                              << world.journal();
  EXPECT_EQ(world.stage().judge.jobs().at(key).outcome->exit_code, 4);
}

}  // namespace
}  // namespace berth::sim

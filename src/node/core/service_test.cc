// SPDX-License-Identifier: Apache-2.0
// What an agent decides of a service.
#include "node/core/agent_fixture.h"

namespace berth::node::core {
namespace {

using namespace std::chrono_literals;
using model::EndpointState;
using wire::node::Serving;

class PlayedService : public PlayedAgent {
 protected:
  explicit PlayedService(bool is_remote = false) : PlayedAgent(is_remote) {}

  static wire::node::Launch service_of(const std::string& job, int port = 0) {
    wire::node::Launch launch = launch_of(job);
    launch.service = model::ServiceSpec{
        .port = port,
        .probe = {.path = "/", .period = 10s, .initial_delay = 3s, .failure_threshold = 2}};
    return launch;
  }
  void serve(const std::string& job, int port = 0) {
    hear(service_of(job, port));
    ASSERT_EQ(phase(job), Phase::Running);
  }
  void probed(const std::string& job, bool is_good) {
    fire(Timer::Kind::Probe, ref(job));
    feed(Probed{ref(job), is_good});
  }
  std::vector<EndpointState> states() const {
    std::vector<EndpointState> all;
    for (const Serving& one : said<Serving>()) all.push_back(one.endpoint.state);
    return all;
  }
  /// The pause before the next probe.
  Duration next_probe() const {
    Duration delay(-1);
    for (const SetTimer& timer : did<SetTimer>()) {
      if (timer.timer.kind == Timer::Kind::Probe) delay = timer.delay;
    }
    return delay;
  }
};

class PlayedRemoteService : public PlayedService {
 protected:
  PlayedRemoteService() : PlayedService(true) {}
};

TEST_F(PlayedService, ItsPortIsFoundBeforeItStartsAndIsInItsEnvironment) {
  start();
  serve("web");

  ASSERT_EQ(did<HoldPorts>().size(), 1u);
  EXPECT_TRUE(did<HoldPorts>()[0].is_loopback);
  EXPECT_EQ(did<ReleasePorts>().size(), 1u) << "before the command wants it";
  EXPECT_EQ(state.attempts.at(ref("web")).launch.environment.at("BERTH_SERVICE_PORT"), "4000");
  EXPECT_TRUE(said<wire::node::Prepared>().empty()) << "nobody waits for it";
}

TEST_F(PlayedService, APortThatWasAskedForIsNotHeld) {
  start();
  serve("web", 8080);

  EXPECT_TRUE(did<HoldPorts>().empty());
  EXPECT_EQ(state.attempts.at(ref("web")).launch.environment.at("BERTH_SERVICE_PORT"), "8080");
  probed("web", true);
  EXPECT_EQ(said<Serving>().back().endpoint.port, 8080);
}

TEST_F(PlayedService, ItIsReadyWithTheFirstGoodProbeAndNotAfterSeveralBadOnes) {
  start();
  serve("web");
  EXPECT_EQ(next_probe(), 3s);
  EXPECT_EQ(states(), std::vector{EndpointState::Starting});
  for (int i = 0; i < 5; ++i) probed("web", false);
  EXPECT_EQ(states().size(), 1u) << "it may take its time to start";
  EXPECT_LT(next_probe(), 1s) << "and is looked at often";
  probed("web", true);
  EXPECT_EQ(states().back(), EndpointState::Ready);
  EXPECT_EQ(next_probe(), 10s);

  probed("web", false);
  probed("web", true);
  probed("web", false);
  EXPECT_EQ(states().size(), 2u) << "one bad probe is nothing";
  probed("web", false);
  EXPECT_EQ(states().back(), EndpointState::NotReady);
  probed("web", true);
  EXPECT_EQ(states().back(), EndpointState::Ready);
}

TEST_F(PlayedService, AServerThatComesAnewIsToldAgain) {
  start();
  serve("web");
  probed("web", true);
  feed(Disconnected{});
  forget_all();
  feed(Connected{});

  EXPECT_EQ(states(), std::vector{EndpointState::Ready});
}

TEST_F(PlayedService, WhatAnAgentFindsIsNotSaidToBeStarting) {
  feed(Found{.launch = service_of("web"), .port = 4000, .has_supervisor = true});
  start();
  EXPECT_TRUE(said<Serving>().empty()) << "the server may know that it is ready";
  probed("web", false);
  EXPECT_TRUE(said<Serving>().empty());
  probed("web", false);
  EXPECT_EQ(states(), std::vector{EndpointState::NotReady});
  EXPECT_EQ(did<ProbeService>().back().port, 4000);
}

TEST_F(PlayedService, OneThatHasEndedIsNotProbed) {
  start();
  serve("web");
  probed("web", true);
  fire(Timer::Kind::Probe, ref("web"));
  exit("web");
  forget_all();
  feed(Probed{ref("web"), false});
  fire(Timer::Kind::Probe, ref("web"));

  EXPECT_TRUE(did<ProbeService>().empty());
  EXPECT_TRUE(said<Serving>().empty());
  EXPECT_EQ(next_probe(), Duration(-1));
}

TEST_F(PlayedService, TheServerNeedsNoWayOnItsOwnMachine) {
  start();
  serve("web");
  probed("web", true);

  EXPECT_TRUE(did<OpenWay>().empty());
}

TEST_F(PlayedRemoteService, TheWayIsOpenFromReadyToTheEnd) {
  start();
  serve("web");
  EXPECT_TRUE(did<OpenWay>().empty());
  probed("web", true);
  ASSERT_EQ(did<OpenWay>().size(), 1u);
  EXPECT_EQ(did<OpenWay>()[0].port, 4000);
  probed("web", false);
  probed("web", false);
  probed("web", true);
  EXPECT_EQ(did<OpenWay>().size(), 1u);
  EXPECT_TRUE(did<CloseWay>().empty());
  exit("web");
  EXPECT_EQ(did<CloseWay>().size(), 1u);
}

TEST_F(PlayedService, WorkThatIsMeantToEndIsLeftAlone) {
  start();
  run("job");

  EXPECT_TRUE(did<HoldPorts>().empty());
  EXPECT_EQ(next_probe(), Duration(-1));
}

}  // namespace
}  // namespace berth::node::core

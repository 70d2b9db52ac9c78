// SPDX-License-Identifier: Apache-2.0
#include "core/service.h"

#include "core/cluster_fixture.h"

namespace berth::core {
namespace {

using model::RestartWhen;

/// A service on the server's own machine, which has a slot for it.
class ServiceTest : public ClusterTest {
 protected:
  ServiceTest() { sample::join(state, "n", 2); }

  static model::Work service_work(model::ServiceSpec service) {
    return model::ServiceWork{.service = std::move(service)};
  }
  void serve(const model::RestartPolicy& restart = {}) {
    sample::submit(state, "s", {.work = service_work({.restart = restart})});
    carry_out();
    ASSERT_EQ(job("s").status, JobStatus::Starting);
    run();
  }
  void run() {
    apply_event(state, JobAdvanced{key("s"), job("s").attempt, {"n"}, JobStatus::Running, at(now)});
  }
  Touched say(model::EndpointState endpoint, int attempt = 1) {
    return apply_event(state, EndpointChanged{key("s"), attempt, {"n"}, {endpoint, 4000}});
  }
  void pass(int seconds) {
    now += seconds;
    carry_out();
  }
  void ends(model::Outcome outcome = {}) { end("s", std::move(outcome)); }
};

TEST_F(ServiceTest, OneWhoseProcessEndsIsRunAgainAfterAWhile) {
  serve();
  ends({.exit_code = 3});
  EXPECT_EQ(job("s").status, JobStatus::Queued);
  EXPECT_EQ(job("s").attempt, 1) << "the next one is not begun yet";
  EXPECT_NE(why("s").find("is run again at"), std::string::npos) << why("s");
  EXPECT_NE(why("s").find("exited with code 3"), std::string::npos) << why("s");
  pass(1);

  EXPECT_EQ(job("s").status, JobStatus::Starting);
  EXPECT_EQ(job("s").attempt, 2);
  EXPECT_EQ(job("s").restarts, 1);
  EXPECT_FALSE(job("s").not_before);
}

TEST_F(ServiceTest, EachRestartWaitsTwiceAsLongUpToALimit) {
  serve({.back_off = 2s, .longest_back_off = 6s});
  for (const int pause : {2, 4, 6, 6}) {
    ends();
    pass(pause - 1);
    EXPECT_EQ(job("s").status, JobStatus::Queued) << pause;
    pass(1);
    ASSERT_EQ(job("s").status, JobStatus::Starting) << pause;
    run();
  }
}

TEST_F(ServiceTest, OneThatRanForLongBeginsAnew) {
  serve({.limit = 1});
  ends();
  pass(1);
  run();
  pass(600);
  ends();

  EXPECT_EQ(job("s").status, JobStatus::Queued);
  EXPECT_EQ(job("s").restarts, 1);
}

TEST_F(ServiceTest, TheLimitOfRestartsIsTheEnd) {
  serve({.limit = 1});
  ends({.exit_code = 3});
  pass(1);
  run();
  ends({.exit_code = 3});

  EXPECT_EQ(job("s").status, JobStatus::Failed);
}

TEST_F(ServiceTest, ThePolicySaysAfterWhichEndsItIsRunAgain) {
  const auto goes_on = [](RestartWhen when, const model::Outcome& outcome) {
    model::Job service;
    service.spec.edit().work = service_work({.restart = {.when = when}});
    return restart_of(service, outcome, at(1)).has_value();
  };
  const model::Outcome good{}, bad{.exit_code = 1}, lost{.ending = Ending::Lost},
      stopped{.ending = Ending::Stopped}, late{.ending = Ending::TimedOut};
  EXPECT_TRUE(goes_on(RestartWhen::Always, good));
  EXPECT_TRUE(goes_on(RestartWhen::Always, bad));
  EXPECT_FALSE(goes_on(RestartWhen::OnFailure, good));
  EXPECT_TRUE(goes_on(RestartWhen::OnFailure, bad));
  EXPECT_TRUE(goes_on(RestartWhen::OnFailure, lost));
  EXPECT_FALSE(goes_on(RestartWhen::Never, bad));
  EXPECT_FALSE(goes_on(RestartWhen::Always, stopped));
  EXPECT_FALSE(goes_on(RestartWhen::Always, late));
}

TEST_F(ServiceTest, OneThatIsStoppedStaysSo) {
  serve();
  apply_event(state, JobCancelRequested{key("s"), at(now)});
  ends({.exit_code = 3});

  EXPECT_EQ(job("s").status, JobStatus::Failed) << "it was faster, but it is over";
}

TEST_F(ServiceTest, OneThatIsStoppedWhileItWaitsIsOver) {
  serve();
  ends();
  apply_event(state, JobCancelRequested{key("s"), at(now)});

  EXPECT_EQ(job("s").status, JobStatus::Canceled);
}

TEST_F(ServiceTest, AClockThatIsSetBackDoesNotKeepItWaiting) {
  serve();
  ends();
  now -= 86'400;
  carry_out();

  EXPECT_EQ(job("s").status, JobStatus::Starting);
}

TEST_F(ServiceTest, ItsEndpointIsItsAttempts) {
  serve();
  EXPECT_FALSE(say(model::EndpointState::Ready).of<model::Job>().empty());
  EXPECT_TRUE(say(model::EndpointState::Ready).of<model::Job>().empty()) << "nothing new";
  EXPECT_EQ(members_of(job("s"))[0].endpoint->port, 4000);
  ends();
  pass(1);

  EXPECT_TRUE(say(model::EndpointState::Ready, 1).of<model::Job>().empty());
  EXPECT_FALSE(members_of(job("s"))[0].endpoint) << "the next attempt begins without one";
}

TEST_F(ServiceTest, WorkThatIsMeantToEndHasNone) {
  sample::submit(state, "j");
  carry_out();
  const Touched touched =
      apply_event(state, EndpointChanged{key("j"), 1, {"n"}, {model::EndpointState::Ready, 1}});

  EXPECT_TRUE(touched.of<model::Job>().empty());
}

TEST_F(ServiceTest, ASpecThatMakesNoSenseIsRefused) {
  const auto target = [](model::ServiceSpec service, int count = 1) {
    model::JobSpec spec{.work = service_work(std::move(service))};
    command_of(spec).resources.instance_count = count;
    const Status status = validate_service(spec);
    return status ? std::string() : status.error().target;
  };
  EXPECT_EQ(target({}), "");
  EXPECT_EQ(target({}, 2), "resources.instance_count");
  EXPECT_EQ(target({.port = 70'000}), "port");
  EXPECT_EQ(target({.probe = {.path = "health"}}), "probe.path");
  EXPECT_EQ(target({.probe = {.path = "/a b"}}), "probe.path");
  EXPECT_EQ(target({.probe = {.path = "/\r\nX: y"}}), "probe.path");
  EXPECT_EQ(target({.probe = {.period = 0s}}), "probe.period");
  EXPECT_EQ(target({.probe = {.timeout = 0s}}), "probe.timeout");
  EXPECT_EQ(target({.probe = {.failure_threshold = 0}}), "probe.failure_threshold");
  EXPECT_EQ(target({.restart = {.limit = -1}}), "restart.limit");
  EXPECT_EQ(target({.restart = {.back_off = 0s}}), "restart.back_off");
}

}  // namespace
}  // namespace berth::core

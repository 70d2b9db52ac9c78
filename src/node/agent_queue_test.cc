// SPDX-License-Identifier: Apache-2.0
// An agent that is told to run more than it has slots for.
#include "node/agent_fixture.h"

namespace berth::node {
namespace {

using wire::node::Returned;
using wire::node::WorkAhead;

class AgentQueueTest : public AgentTest {
 protected:
  AgentQueueTest() { options.housekeeping = 1h; }

  AttemptRef send_job(const std::string& name, const std::string& command) {
    Launch next = launch;
    next.attempt.job.name = launch.attempt.job.name + name;
    next.command = command;
    server->say(next);
    return next.attempt;
  }

  /// Both slots are taken until the files are there.
  void fill_slots() {
    connect();
    for (const char* const name : {"a", "b"}) {
      send_job(name, "echo up; until test -e go; do sleep 0.01; done");
      ASSERT_TRUE(until([&] { return server->logs[ref_of(name)] == "up\n"; }));
    }
  }

  AttemptRef ref_of(const std::string& name) const {
    AttemptRef ref = launch.attempt;
    ref.job.name += name;
    return ref;
  }

  void let_go(const std::string& name) {
    const std::string attempt = wire::node::attempt_directory(ref_of(name));
    // It may be on its way still.
    ASSERT_TRUE(until([&] {
      return static_cast<bool>(io::write_file(options.work_root + "/" + attempt + "/wd/go", ""));
    }));
  }

  bool has_ended(const AttemptRef& ref) const {
    return std::ranges::any_of(server->heard<Ended>(),
                               [&](const Ended& ended) { return ended.attempt == ref; });
  }
};

TEST_F(AgentQueueTest, WhatHasNoSlotWaitsForOneAndNotForTheServer) {
  fill_slots();
  const AttemptRef waiting = send_job("c", "echo c");
  server->say(wire::node::Stop{ref_of("unknown")});  // Answered after the launch was read.
  ASSERT_TRUE(until([&] { return has_ended(ref_of("unknown")); }));
  EXPECT_EQ(server->logs[waiting], "");

  let_go("a");

  ASSERT_TRUE(until([&] { return has_ended(waiting); })) << agent_log();
  EXPECT_EQ(server->logs[waiting], "c\n");
  let_go("b");
  ASSERT_TRUE(until([&] { return has_ended(ref_of("b")); }));
}

TEST_F(AgentQueueTest, AStopOfWhatWaitsEndsItUnbegun) {
  fill_slots();
  const AttemptRef waiting = send_job("c", "echo c");

  server->say(wire::node::Stop{waiting});

  ASSERT_TRUE(until([&] { return has_ended(waiting); }));
  EXPECT_EQ(server->heard<Ended>().back().outcome.ending, Ending::Stopped);
  for (const char* const name : {"a", "b"}) let_go(name);
  ASSERT_TRUE(until([&] { return has_ended(ref_of("a")) && has_ended(ref_of("b")); }));
  EXPECT_EQ(server->logs[waiting], "");
}

TEST_F(AgentQueueTest, WhatWaitsIsNotHeldForTheNextServer) {
  fill_slots();
  const AttemptRef waiting = send_job("c", "echo c");
  replace_server();

  connect();

  EXPECT_EQ(server->heard<Hello>().front().attempts.size(), 2u);
  for (const char* const name : {"a", "b"}) {
    send_job(name, "");
    let_go(name);
  }
  ASSERT_TRUE(until([&] { return has_ended(ref_of("a")) && has_ended(ref_of("b")); }));
  EXPECT_FALSE(has_ended(waiting));
}

TEST_F(AgentQueueTest, AsksForWorkAheadAndGivesItBackWhenJobsTakeLonger) {
  connect();
  const auto has_asked_for = [&](int attempts) {
    const auto asked = server->heard<WorkAhead>();
    return !asked.empty() && asked.back().attempts == attempts;
  };
  // On a busy machine even these may take long; the row comes sooner or later.
  for (int i = 0; !has_asked_for(4); ++i) {
    ASSERT_LT(i, 1000);
    const AttemptRef quick = send_job("quick" + std::to_string(i), "true");
    ASSERT_TRUE(until([&] { return has_ended(quick) || has_asked_for(4); }));
    server->say(wire::node::Forget{quick});
  }
  for (const char* const name : {"a", "b"}) {
    send_job(name, "until test -e go; do sleep 0.01; done");
  }
  const AttemptRef waiting = send_job("c", "true");

  ASSERT_TRUE(until([&] { return !server->heard<Returned>().empty() || has_ended(waiting); }));

  EXPECT_TRUE(has_asked_for(0));
  EXPECT_EQ(server->heard<Returned>().front().attempt, waiting);
  for (const char* const name : {"a", "b"}) let_go(name);
  ASSERT_TRUE(until([&] { return has_ended(ref_of("a")) && has_ended(ref_of("b")); }));
}

}  // namespace
}  // namespace berth::node

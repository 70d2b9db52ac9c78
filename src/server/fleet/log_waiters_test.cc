// SPDX-License-Identifier: Apache-2.0
#include "server/fleet/log_waiters.h"

#include <gtest/gtest.h>

namespace berth::server {
namespace {

using namespace std::chrono_literals;

class LogWaitersTest : public testing::Test {
 protected:
  void wait(const std::string& job, TimePoint deadline) {
    waiters.add({{"ws"}, job}, deadline, [this, job](bool is_last_chance) {
      if (!has_news && !is_last_chance) return false;
      answered.push_back(job + (is_last_chance ? " at last" : ""));
      return true;
    });
  }

  LogWaiters waiters;
  bool has_news = true;
  std::vector<std::string> answered;
  const TimePoint start{1s};
};

using Names = std::vector<std::string>;

TEST_F(LogWaitersTest, AreAnsweredOnceWhenTheirJobHasNews) {
  wait("a", start + 10s);
  wait("a", start + 10s);
  wait("b", start + 10s);

  waiters.wake({{"ws"}, "a"});
  waiters.wake({{"ws"}, "a"});

  EXPECT_EQ(answered, (Names{"a", "a"}));
  EXPECT_EQ(waiters.size(), 1u);
}

TEST_F(LogWaitersTest, WaitOnWhenThereIsNothingToSay) {
  has_news = false;
  wait("a", start + 10s);

  waiters.wake({{"ws"}, "a"});
  EXPECT_EQ(answered, Names{});

  has_news = true;
  waiters.wake({{"ws"}, "a"});
  EXPECT_EQ(answered, Names{"a"});
}

TEST_F(LogWaitersTest, AreAnsweredWhenTheirTimeIsOver) {
  has_news = false;
  wait("a", start + 10s);
  wait("b", start + 20s);

  waiters.expire(start + 9s);
  EXPECT_EQ(answered, Names{});
  waiters.expire(start + 10s);
  EXPECT_EQ(answered, Names{"a at last"});
  waiters.release_all();
  EXPECT_EQ(answered, (Names{"a at last", "b at last"}));
  EXPECT_EQ(waiters.size(), 0u);
}

TEST_F(LogWaitersTest, AReaderMayAskAgainFromWithinItsAnswer) {
  int asked = 0;
  const model::JobKey job{{"ws"}, "a"};
  waiters.add(job, start, [&](bool) {
    waiters.add(job, start, [&](bool) { return ++asked > 0; });
    return true;
  });

  waiters.wake(job);
  EXPECT_EQ(asked, 0);
  waiters.wake(job);
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace berth::server

// SPDX-License-Identifier: Apache-2.0
#include "io/loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "io/offload.h"

namespace berth::io {
namespace {

using namespace std::chrono_literals;

TEST(Loop, RunsPostedWorkInOrderUntilStopped) {
  Loop loop;
  std::string order;

  loop.post([&] { order += 'a'; });
  loop.post([&] { order += 'b'; });
  loop.post([&] { loop.stop(); });
  loop.run();

  EXPECT_EQ(order, "ab");
}

TEST(Loop, TimersFireOnceAndInTurn) {
  Loop loop;
  std::string order;

  loop.after(20ms, [&] { loop.stop(); });
  loop.after(10ms, [&] { order += 'b'; });
  loop.after(0ms, [&] { order += 'a'; });
  loop.run();

  EXPECT_EQ(order, "ab");
}

TEST(Loop, ACancelledTimerDoesNotFireEvenWhenItWasDue) {
  Loop loop;
  Loop::TimerId second = 0;

  loop.after(0ms, [&] { loop.cancel(second); });
  second = loop.after(0ms, [] { ADD_FAILURE() << "a cancelled timer fired"; });
  loop.after(5ms, [&] { loop.stop(); });
  loop.run();
  loop.cancel(second);
  loop.cancel(12345);
}

TEST(Loop, HearsSignals) {
  Loop loop;
  int count = 0;
  loop.on_signal({SIGUSR1}, [&](int number) {
    EXPECT_EQ(number, SIGUSR1);
    if (++count == 2) return loop.stop();
    ::raise(SIGUSR1);
  });

  loop.post([] { ::raise(SIGUSR1); });
  loop.run();

  EXPECT_EQ(count, 2);
}

TEST(Loop, WatchesADescriptorWhileItIsReadableAndLeavesItOpen) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(::write(ends[1], "xyz", 3), 3);
  Loop loop;
  std::string seen;

  loop.watch_readable(ends[0], [&] {
    char byte = 0;
    ASSERT_EQ(::read(ends[0], &byte, 1), 1);
    seen += byte;
    if (seen.size() < 2) return;
    loop.unwatch(ends[0]);
    loop.after(5ms, [&] { loop.stop(); });
  });
  loop.run();

  EXPECT_EQ(seen, "xy") << "'z' was left, but nobody was watching any more";
  EXPECT_EQ(::close(ends[0]), 0);
  EXPECT_EQ(::close(ends[1]), 0);
}

TEST(ThreadOffload, RunsElsewhereAndContinuesOnTheLoop) {
  Loop loop;
  ThreadOffload offload(loop, 3);
  const std::thread::id here = std::this_thread::get_id();
  std::atomic<int> elsewhere = 0;
  int continued = 0;

  for (int i = 0; i < 100; ++i) {
    offload.run([&]() -> Offload::Continuation {
      if (std::this_thread::get_id() != here) ++elsewhere;
      return [&] {
        EXPECT_EQ(std::this_thread::get_id(), here);
        if (++continued == 100) loop.stop();
      };
    });
  }
  loop.run();

  EXPECT_EQ(elsewhere, 100);
}

TEST(ThreadOffload, WaitsForWorkThatWasBegunAndDestroysTheRest) {
  Loop loop;
  const auto held = std::make_shared<int>(0);
  std::atomic<bool> begun = false;
  std::atomic<bool> ended = false;
  {
    ThreadOffload offload(loop, 1);
    offload.run([&, held]() -> Offload::Continuation {
      begun = true;
      begun.notify_one();
      ended = true;
      return {};
    });
    for (int i = 0; i < 10; ++i) {
      offload.run([held]() -> Offload::Continuation { return {}; });
    }
    begun.wait(false);
  }

  EXPECT_TRUE(ended);
  EXPECT_EQ(held.use_count(), 1) << "a closure outlived the offload";
}

}  // namespace
}  // namespace berth::io

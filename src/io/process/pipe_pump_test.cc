// SPDX-License-Identifier: Apache-2.0
#include "io/process/pipe_pump.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>

#include "io/files/temporary_directory.h"

namespace berth::io {
namespace {

class PipePumpTest : public testing::Test {
 protected:
  /// What to write to, so that it ends up in the file.
  int connect(const std::string& target, int flags = O_WRONLY | O_CREAT) {
    Pipe pipe = make_pipe().value();
    const int writer = pipe.writer.get();
    EXPECT_TRUE(pump.add(std::move(pipe), Descriptor(::open(target.c_str(), flags, 0600))));
    return writer;
  }

  std::string text() const { return read_file(path).value_or("no file"); }

  /// What the pump's thread does comes about within a limit, or not at all.
  template <typename Condition>
  static bool eventually(Condition is_so) {
    for (int look = 0; look < 4000; ++look) {
      if (is_so()) return true;
      ::usleep(5'000);
    }
    return false;
  }

  TemporaryDirectory directory;
  std::string path = directory / "log";
  std::atomic<int> troubles{0};
  PipePump pump{[this] { ++troubles; }};
};

TEST_F(PipePumpTest, WhatIsWrittenIsInTheFileWithoutAnybodysHelp) {
  const int writer = connect(path);

  ASSERT_TRUE(write_all(writer, "said"));

  EXPECT_TRUE(eventually([&] { return text() == "said"; })) << text();
}

TEST_F(PipePumpTest, MoreThanAPipeHoldsArrivesWholeAndInOrder) {
  const int writer = connect(path);
  std::string all;
  for (int number = 0; all.size() < (3u << 20); ++number) all += std::to_string(number) + "\n";

  ASSERT_TRUE(write_all(writer, all));

  EXPECT_EQ(pump.drain(), 0u);
  EXPECT_EQ(text(), all);
}

TEST_F(PipePumpTest, GoesOnBehindWhatIsThere) {
  ASSERT_TRUE(write_file(path, "before "));
  const int writer = connect(path);

  ASSERT_TRUE(write_all(writer, "after"));

  EXPECT_EQ(pump.drain(), 0u);
  EXPECT_EQ(text(), "before after");
}

TEST_F(PipePumpTest, OpeningThePipeAgainErasesNothing) {
  const int writer = connect(path);
  ASSERT_TRUE(write_all(writer, "first "));
  ASSERT_EQ(pump.drain(), 0u);

  const std::string name = "/proc/self/fd/" + std::to_string(writer);
  const Descriptor again(::open(name.c_str(), O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(again);
  ASSERT_TRUE(write_all(again.get(), "second"));

  EXPECT_EQ(pump.drain(), 0u);
  EXPECT_EQ(text(), "first second");
}

TEST_F(PipePumpTest, NobodyWhoStillHoldsThePipeHoldsUpItsEnd) {
  const Descriptor held(::fcntl(connect(path), F_DUPFD_CLOEXEC, 0));
  ASSERT_TRUE(write_all(held.get(), "said"));

  EXPECT_EQ(pump.drain(), 0u);
  pump.clear();

  EXPECT_EQ(text(), "said");
}

TEST_F(PipePumpTest, WhatFindsNoRoomStaysAndIsTold) {
  const int writer = connect("/dev/full", O_WRONLY);

  ASSERT_TRUE(write_all(writer, "lost?"));

  ASSERT_TRUE(eventually([&] { return pump.trouble().has_value(); }));
  EXPECT_EQ(pump.trouble()->error_number, ENOSPC);
  EXPECT_EQ(troubles, 1);
  EXPECT_EQ(pump.drain(), 5u);
  pump.clear();
  EXPECT_FALSE(pump.trouble());
}

TEST_F(PipePumpTest, OneThatIsStuckHoldsUpNoOther) {
  const int stuck = connect("/dev/full", O_WRONLY);
  const int other = connect(path);
  ASSERT_TRUE(write_all(stuck, "x"));
  ASSERT_TRUE(eventually([&] { return pump.trouble().has_value(); }));

  ASSERT_TRUE(write_all(other, "said"));

  EXPECT_TRUE(eventually([&] { return text() == "said"; })) << text();
}

}  // namespace
}  // namespace berth::io

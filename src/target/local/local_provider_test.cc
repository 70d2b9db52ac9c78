// SPDX-License-Identifier: Apache-2.0
// What is particular to local nodes; tests/contract has what every provider promises.
#include "target/local/local_provider.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "io/files/file.h"
#include "io/files/temporary_directory.h"

namespace berth::target::local {
namespace {

class LocalProviderTest : public testing::Test {
 protected:
  LocalProviderTest() {
    // Says it has begun only when all of it is written.
    EXPECT_TRUE(io::write_file(directory / "berth",
                               "#!/bin/sh\n"
                               "if [ $2 = --sweep ]; then rm -r $3/ws/job || kill $$; exit; fi\n"
                               "{ echo \"$@\"; tr '\\0' '\\n' < /proc/$$/environ; } > $5/seen.tmp\n"
                               "mkfifo $5/never; mv $5/seen.tmp $5/seen\n"
                               "exec cat $5/never\n",
                               0700));
  }
  ~LocalProviderTest() override { (void)provider.stop({"n1"}); }

  /// What the stand-in could see of itself.
  std::string wait_for_start() {
    for (int attempt = 0; attempt < 24'000; ++attempt) {
      if (const auto seen = io::read_file(directory / "home/seen")) return *seen;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ADD_FAILURE() << "the node did not start";
    return {};
  }

  io::TemporaryDirectory directory;
  LocalProvider provider{directory / "berth", directory / "home"};
};

TEST_F(LocalProviderTest, TheTokenIsInAFileOnlyItsOwnerReads) {
  ASSERT_TRUE(provider.start({.id = {"n1"}, .token = "s3cret", .slots = 3}));

  const std::string seen = wait_for_start();

  const NodePaths paths(directory / "home", {"n1"});
  EXPECT_TRUE(seen.starts_with(fmt::format("node --name n1 --home {} --slots 3 --work-root {}\n",
                                           directory / "home", paths.work_root)))
      << seen;
  EXPECT_EQ(seen.find("s3cret"), std::string::npos);
  EXPECT_EQ(*io::read_file(paths.token), "s3cret");
  struct stat found {};
  ASSERT_EQ(::stat(paths.token.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777u, 0600u);
}

TEST_F(LocalProviderTest, ARepeatedStartLeavesTheNewTokenForTheNextDial) {
  ASSERT_TRUE(provider.start({.id = {"n1"}, .token = "old"}));
  ASSERT_TRUE(provider.start({.id = {"n1"}, .token = "new"}));

  EXPECT_EQ(*io::read_file(NodePaths(directory / "home", {"n1"}).token), "new");
}

TEST_F(LocalProviderTest, StoppingHasTheNodeSweptAndRemovesItsDirectory) {
  const NodePaths paths(directory / "home", {"n1"});
  ASSERT_TRUE(provider.start({.id = {"n1"}, .token = "t"}));
  ASSERT_TRUE(io::make_directories(paths.work_root + "/ws/job/1"));
  ASSERT_TRUE(io::write_file(paths.work_root + "/ws/job/1/launch.json", "{}"));

  ASSERT_TRUE(provider.stop({"n1"}));

  EXPECT_TRUE(provider.observe()->empty());
}

TEST_F(LocalProviderTest, WhatCannotBeSweptKeepsTheNode) {
  const NodePaths paths(directory / "home", {"n1"});
  ASSERT_TRUE(provider.start({.id = {"n1"}, .token = "t"}));
  ASSERT_TRUE(io::make_directories(paths.work_root + "/ws/another/1"));
  ASSERT_TRUE(io::write_file(paths.work_root + "/ws/another/1/launch.json", "{}"));

  EXPECT_FALSE(provider.stop({"n1"}));

  EXPECT_TRUE(io::read_file(paths.work_root + "/ws/another/1/launch.json"));
  ASSERT_TRUE(io::Root::open(paths.work_root)->remove_tree("ws"));
}

TEST_F(LocalProviderTest, SaysWhenTheExecutableIsMissing) {
  LocalProvider broken(directory / "no-such-berth", directory / "home");

  EXPECT_EQ(broken.start({.id = {"n2"}, .token = "t"}).error().code, Code::NotFound);
}

}  // namespace
}  // namespace berth::target::local

// SPDX-License-Identifier: Apache-2.0
#include "io/files/private_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/file.h"
#include "io/files/state_directory.h"
#include "io/files/temporary_directory.h"
#include "io/process/systemd.h"

namespace berth::io {
namespace {

class PrivateDirectoryTest : public testing::Test {
 protected:
  void put(const std::string& name, mode_t mode) {
    const std::string path = home() + "/" + name;
    ASSERT_TRUE(make_directories(path.substr(0, path.find_last_of('/'))));
    ASSERT_TRUE(write_file(path, "x"));
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
  }
  mode_t mode(const std::string& name) const {
    struct stat found {};
    EXPECT_EQ(::stat((home() + name).c_str(), &found), 0) << name;
    return found.st_mode & 07777;
  }
  void open_up(const std::string& name = "") { ::chmod((home() + name).c_str(), 0755); }
  std::string home() const { return directory_.path(); }
  PrivateDirectory directory() const { return state_directory(home()); }

 private:
  TemporaryDirectory directory_;
};

TEST_F(PrivateDirectoryTest, WhatIsClosedIsLeftAlone) {
  put("installation.id", 0600);
  put("secrets/ca.key", 0600);
  EXPECT_EQ(make_private(directory()).value(), std::vector<std::string>());
}

TEST_F(PrivateDirectoryTest, WhatIsOpenIsClosedAtEveryDepth) {
  put("installation.id", 0644);
  put("objects/ab/cd/ef", 0666);
  put("ca.pem", 0644);
  open_up("/objects/ab");
  open_up();
  const auto notices = make_private(directory());
  ASSERT_TRUE(notices) << notices.error().message;
  ASSERT_EQ(notices->size(), 1u);
  EXPECT_NE(notices->front().find("(0755)"), std::string::npos) << notices->front();
  EXPECT_EQ(mode(""), 0700u);
  EXPECT_EQ(mode("/installation.id"), 0600u);
  EXPECT_EQ(mode("/objects/ab"), 0700u);
  EXPECT_EQ(mode("/objects/ab/cd/ef"), 0600u);
  EXPECT_EQ(mode("/ca.pem"), 0644u);
}

TEST_F(PrivateDirectoryTest, FilesOfJobsStayAsTheyAre) {
  put("installation.id", 0600);
  put("nodes/n/token", 0600);
  put("nodes/n/attempts/j/wd/x.sh", 0755);
  open_up();
  ASSERT_TRUE(make_private(directory()));
  EXPECT_EQ(mode("/nodes/n/attempts/j/wd/x.sh"), 0755u);
}

TEST_F(PrivateDirectoryTest, AnOpenFolderOfOtherThingsIsRefusedAndNotTouched) {
  put("thesis.tex", 0644);
  EXPECT_TRUE(check_private(directory()));  // Nobody else can come in.
  open_up();
  EXPECT_FALSE(check_private(directory()));
  EXPECT_FALSE(make_private(directory()));
  EXPECT_EQ(mode(""), 0755u);
}

TEST_F(PrivateDirectoryTest, ANewOneMayHoldWhatComesFirst) {
  put("server.yml", 0644);
  put("lost+found", 0644);
  open_up();
  ASSERT_TRUE(make_private(directory()));
  EXPECT_EQ(mode("/server.yml"), 0600u);
  EXPECT_TRUE(check_private(state_directory(home() + "/not/there")));
}

TEST_F(PrivateDirectoryTest, LinksOfAnOperatorAreFollowedAtTheTopOnly) {
  const TemporaryDirectory disk;
  put("installation.id", 0600);
  ASSERT_TRUE(write_file(disk.path() + "/far", "x"));
  ASSERT_EQ(::chmod((disk.path() + "/far").c_str(), 0644), 0);
  ASSERT_EQ(::symlink(disk.path().c_str(), (home() + "/objects").c_str()), 0);
  ASSERT_EQ(::symlink("/etc/passwd", (disk.path() + "/link").c_str()), 0);
  open_up();
  ASSERT_TRUE(make_private(directory()));
  EXPECT_EQ(mode("/objects/far"), 0600u);
}

TEST_F(PrivateDirectoryTest, ADirectoryOfSomebodyElseIsRefused) {
  const bool is_root = ::geteuid() == 0;
  const std::string theirs = is_root ? home() : "/";
  if (is_root) {
    ASSERT_EQ(::chown(home().c_str(), 65534, 65534), 0);
  }
  const Status checked = check_private(state_directory(theirs));
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find("belongs to"), std::string::npos);
  if (is_root) {
    ASSERT_EQ(::chown(home().c_str(), 0, 0), 0);
  }
}

TEST(Systemd, TheCommandNamesTheUnit) {
  EXPECT_EQ(start_command_of_cgroup("0::/system.slice/berth.service\n"),
            "systemctl start berth.service");
  EXPECT_EQ(start_command_of_cgroup("12:pids:/x\n1:name=systemd:/system.slice/b.service\n0::/\n"),
            "systemctl start b.service");
  EXPECT_EQ(start_command_of_cgroup(
                "0::/user.slice/user-1000.slice/user@1000.service/app.slice/berth.service\n"),
            "systemctl --user start berth.service");
  EXPECT_EQ(start_command_of_cgroup("0::/\n"), "systemctl start");
}

TEST(Systemd, AProcessKnowsWhetherItIsTheService) {
  EXPECT_FALSE(service_start_command({}));
  EXPECT_FALSE(service_start_command({{"SYSTEMD_EXEC_PID", "1"}, {"INVOCATION_ID", "x"}}));
  EXPECT_TRUE(service_start_command({{"SYSTEMD_EXEC_PID", std::to_string(::getpid())}}));
}

}  // namespace
}  // namespace berth::io
